"""Models trained under differential privacy, with a certificate that anyone can recompute.

>>> import numpy as np, privet
>>> X = np.random.default_rng(0).random((1000, 2)); y = (X[:, 0] > 0.5).astype(int)
>>> clf = privet.Classifier(bounds=(0, 1), classes=[0, 1], epsilon=1.0).fit(X, y)
>>> clf.certificate_.verify()["verified"]
True
"""

from ._account import Event, Spent, account, calibrate, compose, curve, opacus_accountant, spent
from ._core import version as _version
from ._errors import (
    BudgetExceeded,
    Cancelled,
    FileError,
    InternalError,
    InvalidInput,
    InvalidSetting,
    NotFitted,
    OutOfMemory,
    PrivacyWarning,
    PrivetError,
    Undeclared,
    Unsupported,
    VerificationError,
)
from ._estimators import (
    AdditiveClassifier,
    AdditiveRegressor,
    Classifier,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    NetworkClassifier,
    Regressor,
    Ridge,
    SoftmaxRegression,
    load,
)
from ._model import Certificate, Evaluation, Noise, verify
from ._plots import plot_coefficients, plot_curves, plot_learning, plot_privacy
from ._schema import Column, Schema, category, date, ignore, label, number, person, target
from ._torch import from_torch, to_torch

__version__ = _version()
for _e in list(globals().values()):  # messages and pickles say privet.X
    if isinstance(_e, type) and issubclass(_e, (PrivetError, Warning)):
        _e.__module__ = "privet"
del _e
__all__ = sorted(n for n in globals() if not n.startswith("_"))
