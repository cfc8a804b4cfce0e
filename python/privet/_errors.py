"""Exceptions: a small tree under PrivetError, each also one of Python's own kinds, with the library's one-line messages."""

from __future__ import annotations

import os
import sys
from typing import Any


class PrivetError(Exception):
    """Whatever the library refuses; the message is one line that says what would work."""


class InvalidInput(PrivetError, ValueError):
    """Rows, labels or a file that cannot be used as they are."""


class InvalidSetting(PrivetError, ValueError):
    """An unknown setting, or a value out of its range."""


class Unsupported(PrivetError, ValueError):
    """A combination that no proof covers."""


class Undeclared(PrivetError, ValueError):
    """Bounds or values are needed and were not declared; the message shows how to declare them."""


class FileError(PrivetError, OSError):
    """A file that cannot be read or written."""


class FileNotFound(FileError, FileNotFoundError):
    """There is no such file."""


class FileForbidden(FileError, PermissionError):
    """A file that may not be read."""


class FileIsDirectory(FileError, IsADirectoryError):
    """A directory in place of a file."""


class BudgetExceeded(PrivetError, ValueError):
    """The run would cost more than its budget."""


class VerificationError(PrivetError):
    """A certificate or model that does not hold."""


class Cancelled(PrivetError):
    """A progress callback said stop; the message says what counts as spent."""


class OutOfMemory(PrivetError, MemoryError):
    """No memory."""


class InternalError(PrivetError, RuntimeError):
    """No secure randomness, or a bug in the library."""


class NotFitted(PrivetError, ValueError, AttributeError):
    """predict before fit."""


class PrivacyWarning(UserWarning):
    """Something that costs more privacy than one certificate says, or is not private at all."""


_BY_STATUS = {
    10: InvalidInput,
    11: InvalidSetting,
    12: Unsupported,
    20: OutOfMemory,
    21: FileError,
    22: InvalidInput,
    24: Cancelled,
    30: BudgetExceeded,
    32: VerificationError,
    40: InvalidInput,
}


_BY_OS: dict[type, type[FileError]] = {
    FileNotFoundError: FileNotFound,
    PermissionError: FileForbidden,
    IsADirectoryError: FileIsDirectory,
}


def of_status(status: int, message: str) -> PrivetError:
    """The exception for a status of the library; called by the binding."""
    from ._settings import spoken  # which needs the exceptions

    return _BY_STATUS.get(status, InternalError)(spoken(message))


def read_file(path: Any) -> bytes:
    """All of a file; what Python raises is also a FileError."""
    try:
        with open(os.fspath(path), "rb") as f:
            return f.read()
    except OSError as e:
        raise _BY_OS.get(type(e), FileError)(e.errno, e.strerror, e.filename) from None


def not_fitted(name: str) -> Exception:
    """NotFitted, which is also scikit-learn's NotFittedError where scikit-learn is loaded."""
    message = f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    if "sklearn.exceptions" in sys.modules:
        theirs = sys.modules["sklearn.exceptions"].NotFittedError
        return type("NotFitted", (NotFitted, theirs), {"__module__": "privet"})(message)  # type: ignore[no-any-return]
    return NotFitted(message)
