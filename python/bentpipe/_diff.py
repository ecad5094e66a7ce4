"""`diff`: what differs between two results or scenarios?"""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any, Union

from . import _bentpipe
from ._compare import Answer
from ._errors import OptionError
from ._scenario import Outcome, Scenario
from ._table import Table, Tabular

#: What can be compared: of a path, the file, or the folder of ``bentpipe run --out``.
Comparable = Union[Answer, Outcome, Scenario, str, "os.PathLike[str]"]


def diff(before: Comparable, after: Comparable) -> Difference:
    """Finds what differs between two answers, two outcomes or two scenarios.

    Parameters
    ----------
    before, after : Answer, Outcome, Scenario, str or path
        The two. A path is that of a scenario, of what ``bentpipe compare --json`` or
        ``bentpipe run --json`` printed, or of a folder of ``bentpipe run --out``.

    Returns
    -------
    Difference
        First what was asked or set, with defaults resolved, then the results.

    Raises
    ------
    OptionError
        If they are of two kinds.
    InputError
        If a file cannot be read or is none of these.

    Examples
    --------
    >>> import bentpipe
    >>> geo = bentpipe.Scenario.template()
    >>> found = bentpipe.diff(geo, geo.set("link.satellite.rate", "10 Mbit/s"))
    >>> found.is_same
    False
    >>> found.settings["path"]
    ['link.satellite.rate', 'link.satellite.reverse.rate']
    """
    names = [_name(one, at) for one, at in ((before, "the first"), (after, "the second"))]
    return Difference(_bentpipe.diff(_core(before), _core(after), names))


def _core(one: Comparable) -> Any:
    if isinstance(one, (Answer, Outcome, Scenario)):
        return one._core
    if isinstance(one, (str, os.PathLike)):
        return os.fspath(one)
    raise OptionError(
        f"an Answer, an Outcome, a Scenario or a path can be compared, not {type(one).__name__}"
    )


def _name(one: Comparable, otherwise: str) -> str:
    return os.fspath(one) if isinstance(one, (str, os.PathLike)) else otherwise


class Difference(Tabular):
    """What differs between two things of a kind.

    Printed, it is what ``bentpipe diff`` prints. It has the Arrow PyCapsule interface
    of its :attr:`results`.
    """

    def __init__(self, core: _bentpipe.Difference) -> None:
        self._core = core

    @property
    def kind(self) -> str:
        """What was compared: ``answer``, ``outcome`` or ``scenario``."""
        return self._core.kind()

    @property
    def is_same(self) -> bool:
        """True if nothing differs."""
        return self._core.is_same()

    @cached_property
    def settings(self) -> Table:
        """What was asked or set otherwise: ``path``, ``before`` and ``after``."""
        return Table(self._core.settings())

    @cached_property
    def results(self) -> Table:
        """What came out otherwise, the largest difference first; none of scenarios."""
        return Table(self._core.results())

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``bentpipe diff --json`` prints it.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = json.loads(self._core.json())
        return found

    def _main(self) -> Table:
        return self.results

    def _text(self, width: int) -> str:
        return self._core.text(width)
