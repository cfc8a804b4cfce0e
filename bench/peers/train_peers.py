"""Times one epoch of a linear classifier in PyTorch and in Opacus; prints `name wall cpu` lines, seconds, best of a few rounds.

    python -m venv v && v/bin/pip install torch opacus
    PRIVET_PYTHON=v/bin/python bench_train

    train_peers.py rows columns classes batch threads

torch is PyTorch's own training loop without privacy: batches by index from a random permutation, one matrix product
each way.  opacus-* is DP-SGD with clipping and noise through PrivacyEngine in each of its modes, on the same tensors in memory.
"""
import sys
import time
import warnings

try:
    import torch
    from torch import nn
    from opacus import PrivacyEngine
except ImportError:
    sys.exit(3)

warnings.filterwarnings("ignore")
n, p, classes, batch, threads = (int(a) for a in sys.argv[1:6])
torch.set_num_threads(threads)
ROUNDS = 2
torch.manual_seed(1)
x = torch.rand(n, p) / p ** 0.5
y = torch.randint(0, classes, (n,)) if classes > 2 else torch.randint(0, 2, (n, 1)).float()
outputs = classes if classes > 2 else 1
steps = (n + batch - 1) // batch


def criterion():
    return nn.CrossEntropyLoss() if classes > 2 else nn.BCEWithLogitsLoss()


def best(f, rounds=ROUNDS):
    wall, cpu = [], []
    for _ in range(rounds):
        t, c = time.perf_counter(), time.process_time()
        f()
        wall.append(time.perf_counter() - t)
        cpu.append(time.process_time() - c)
    return min(wall), min(cpu)


def plain():
    model, loss = nn.Linear(p, outputs), criterion()
    opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)

    def epoch():
        order = torch.randperm(n)
        for i in range(steps):
            pick = order[i * batch:(i + 1) * batch]
            opt.zero_grad(set_to_none=True)
            loss(model(x[pick]), y[pick]).backward()
            opt.step()
    return best(epoch)


class Batches:
    """A loader without a collate function: the batch by one index operation, Poisson drawn as Opacus draws it."""

    def __init__(self):
        self.dataset, self.batch_size = torch.utils.data.TensorDataset(x, y), batch

    def __len__(self):
        return steps

    def __iter__(self):
        for _ in range(steps):
            pick = (torch.rand(n) < batch / n).nonzero(as_tuple=True)[0]
            yield x[pick], y[pick]


def opacus(mode):
    model, loss = nn.Linear(p, outputs), criterion()
    opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=batch)
    made = PrivacyEngine().make_private(
        module=model, optimizer=opt, data_loader=loader, noise_multiplier=1.0, max_grad_norm=0.5,
        grad_sample_mode=mode, poisson_sampling=True, **({"criterion": loss} if mode == "ghost" else {}))
    model, opt = made[0], made[1]
    if mode == "ghost":
        loss = made[2]

    def epoch():
        for a, b in Batches():
            opt.zero_grad(set_to_none=True)
            loss(model(a), b).backward()
            opt.step()
    return best(epoch)


print("torch %.6f %.6f" % plain(), flush=True)
for kind in ("hooks", "functorch", "ew") + (("ghost",) if batch < 10000 else ()):  # ghost: minutes a step there
    try:
        print("opacus-%s %.6f %.6f" % ((kind,) + opacus(kind)), flush=True)
    except Exception as e:  # a mode this version or loss does not support
        print("train_peers.py: opacus %s: %s" % (kind, e), file=sys.stderr)
