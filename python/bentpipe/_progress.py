"""Progress of long work, for anything that is called like tqdm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Union, cast


class Bar(Protocol):
    """A bar of tqdm's, or anything with the same attributes."""

    total: Any
    n: Any

    def refresh(self) -> object: ...


#: ``True`` for a bar of tqdm where it is installed, a class like ``tqdm.tqdm``, a
#: bar that exists, or a function of what is done and all there is.
Progress = Union[bool, Bar, Callable[..., Any], None]


class Reporter:
    """The callback of the work, with the completed amount and the total."""

    def __init__(self, progress: Progress, what: str) -> None:
        self._call: Callable[[int, int], Any] | None = None
        self._bar: Any = None
        self._own = False
        if progress is None or progress is False:
            return
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._call = _Lines(what)
                return
            progress = cast("Callable[..., Any]", tqdm)
        if isinstance(progress, type):
            self._bar, self._own = progress(total=0, desc=what), True
        elif hasattr(progress, "refresh"):
            self._bar = progress
        elif callable(progress):
            self._call = progress
        else:
            raise TypeError("progress must be True, a class like tqdm, a bar or a function")

    @property
    def function(self) -> Callable[[int, int], Any] | None:
        """The function to call, if any."""
        return None if self._bar is None and self._call is None else self._report

    def _report(self, done: int, total: int) -> None:
        if self._call is not None:
            self._call(done, total)
            return
        bar = self._bar
        if bar.total == total and bar.n == done:
            return
        bar.total, bar.n = total, done
        bar.refresh()

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *error: object) -> None:
        if self._own:
            self._bar.close()


class _Lines:
    """A line of stderr at every tenth, where tqdm is not installed."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._next = 1

    def __call__(self, done: int, total: int) -> None:
        import sys

        if total > 0 and 10 * done >= self._next * total:
            self._next = 10 * done // total + 1
            print(f"{self._what}: {done} of {total}", file=sys.stderr)
