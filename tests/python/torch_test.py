"""Networks from and to PyTorch: the start is the module's, and the module computes what the model computes."""

import importlib.util
import logging
import unittest
import warnings

import numpy as np

import privet

rng = np.random.default_rng(0)


@unittest.skipIf(importlib.util.find_spec("torch") is None, "torch is not installed")
class Torch(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", privet.PrivacyWarning)
        logging.getLogger("privet").setLevel(logging.ERROR)

    def same(self, module, X, shape, **more):
        import torch

        y = np.arange(len(X)) % 3
        still = privet.from_torch(module, bounds=(0, 1), classes=[0, 1, 2], optimizer_steps=1, optimizer_step=1e-9, **more)
        still.fit(X, y)
        with torch.no_grad():
            start = module(torch.from_numpy(X).float().reshape(shape)).numpy()
        np.testing.assert_allclose(still.decision_function(X), start, atol=1e-4)
        self.assertTrue(any("started from are public" in a for a in still.certificate_.assumptions))
        trained = privet.from_torch(module, bounds=(0, 1), classes=[0, 1, 2], optimizer_steps=5, **more).fit(X, y)
        self.assertTrue(trained.certificate_.verify()["verified"])
        self.assertGreater(np.abs(trained.decision_function(X) - start).max(), 1e-3)
        with torch.no_grad():
            back = privet.to_torch(trained, module)(torch.from_numpy(X).float().reshape(shape)).numpy()
        np.testing.assert_allclose(trained.decision_function(X), back, atol=1e-4)
        return trained

    def test_dense(self):
        from torch import nn

        module = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 5), nn.GELU(approximate="tanh"), nn.Linear(5, 3))
        trained = self.same(module, rng.random((400, 4)), (-1, 4))
        self.assertEqual(len(privet.to_torch(trained)), 5)

    def test_two_classes(self):
        import torch
        from torch import nn

        X, y = rng.random((300, 3)), np.arange(300) % 2
        module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        net = privet.from_torch(module, bounds=(0, 1), classes=[0, 1], optimizer_steps=5).fit(X, y)
        with torch.no_grad():
            two = privet.to_torch(net)(torch.from_numpy(X).float()).numpy()
        np.testing.assert_allclose(two[:, 1] - two[:, 0], net.decision_function(X), atol=1e-4)

    def test_images(self):
        from torch import nn

        module = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.GroupNorm(2, 4), nn.Conv2d(4, 6, 3), nn.Tanh(),
            nn.Flatten(), nn.Linear(24, 3),
        )  # fmt: skip
        self.same(module, rng.random((300, 64)), (-1, 1, 8, 8), image="8x8")

    def test_unsupported_layers_are_named(self):
        from torch import nn

        for module, word in (
            (nn.Sequential(nn.Linear(4, 8), nn.LSTM(8, 8)), "LSTM"),
            (nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)), "GELU"),
            (nn.Sequential(nn.Linear(4, 8), nn.ReLU()), "last layer"),
            (nn.Linear(4, 2), "Sequential"),
        ):
            with self.assertRaisesRegex(privet.Unsupported, word):
                privet.from_torch(module)


if __name__ == "__main__":
    unittest.main()
