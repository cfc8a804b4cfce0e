"""A bar for long work: tqdm's where it is installed, else one line on standard error; in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional

Callback = Callable[[str, float, float, float], Any]


def _wanted() -> bool:
    if "ipykernel" in sys.modules:
        return True
    return bool(sys.stderr is not None and hasattr(sys.stderr, "isatty") and sys.stderr.isatty())


class Bar:
    """Appears after a second."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.bar: Any = None
        self.what = ""
        self.shown = False
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self.tqdm = tqdm

    def __call__(self, what: str, done: float, total: float, epsilon: float) -> None:
        if time.monotonic() - self.begun < 1.0:
            return
        said = f"epsilon {epsilon:.3g}" if epsilon >= 0 else ""
        if self.tqdm is None:
            share = done / total if total > 0 else 0.0
            print(f"\r{what} {100 * share:3.0f} % {said}   ", end="", file=sys.stderr, flush=True)
            self.shown = True
            return
        if self.bar is None or what != self.what:
            self.close()
            self.bar, self.what = self.tqdm(total=total, desc=what, leave=False), what
        self.bar.set_postfix_str(said, refresh=False)
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
        if self.shown:
            print("\r" + " " * 50 + "\r", end="", file=sys.stderr, flush=True)
            self.shown = False


def chosen(said: Any) -> tuple[Optional[Callback], Optional[Bar]]:
    """The callback for `progress`: True, False, "auto" or a function of (what, done, total, epsilon)."""
    if callable(said):
        return said, None
    if said is True or (said == "auto" and _wanted()):
        bar = Bar()
        return bar, bar
    return None, None
