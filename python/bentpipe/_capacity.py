"""`capacity`: how many users does a link carry?"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _bentpipe
from ._asked import Asked, Given, Question
from ._keywords import QUESTION
from ._options import signature
from ._progress import Progress, Reporter
from ._table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CompareOptions


def capacity(
    until: str,
    *,
    threads: int | None = None,
    cc: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    progress: Progress = None,
    **options: Unpack[CompareOptions],
) -> Capacity:
    """Finds how many users a link carries with each transport, and which to switch on.

    Parameters
    ----------
    until : str
        What the users must be given, such as ``p95 page < 5 s``, ``mean download <
        20 s`` or ``p5 rate > 1 Mbit/s``; ``bentpipe compare capacity --help`` has the
        grammar.
    threads : int, optional
        Runs at the same time; does not change results. One per core by default.
    cc : str or path, or several, optional
        Congestion controls of your own, as for :func:`compare`.
    progress : bool, class, bar or function, optional
        What shows how far it is, as for :func:`compare`.
    **options
        The link, its traffic and what is compared: see
        :class:`bentpipe.CompareOptions`. ``users`` is what is sought.

    Returns
    -------
    Capacity
        How many users, and what they rest on.

    Raises
    ------
    OptionError
        If the target cannot be read, or an option is unknown or makes no sense.

    Examples
    --------
    >>> import bentpipe
    >>> found = bentpipe.capacity("mean download < 6 s", rate="5 Mbit/s", loss="0",
    ...                           size="500 kB", transport=["cubic", "cubic + IW 32"],
    ...                           time="1 s")
    >>> len(found.rows)
    2
    """
    question = Question(options, cc, threads)
    asked = (question.options, question.controls, threads)
    with Reporter(progress, "capacity") as report:
        core = _bentpipe.capacity(until, *asked, report.function)
    return Capacity(core, [("until", until), *question.given])


# What `help` and completion show.
capacity.__signature__ = signature(capacity, QUESTION)  # type: ignore[attr-defined]


class Capacity(Asked):
    """How many users a link carries with each transport.

    Printed, it is what ``bentpipe compare capacity`` prints. It has the Arrow
    PyCapsule interface of its :attr:`rows`: ``polars.DataFrame(found)``.
    """

    _command = ("bentpipe", "compare", "capacity")

    def __init__(self, core: _bentpipe.Capacity, given: Given) -> None:
        super().__init__(given)
        self._core = core

    @property
    def verdict(self) -> str:
        """The advice in words."""
        return " ".join(self._core.sentences())

    @property
    def transport(self) -> str:
        """The recommended transport."""
        return self._core.recommended()[0]

    @property
    def pep(self) -> str:
        """The proxy to run it with: ``none``, ``split``, ``snoop`` or ``gateway``."""
        return self._core.recommended()[1]

    @property
    def users(self) -> int | None:
        """How many users the link carries with it; ``None`` if that was not found."""
        return self._core.recommended()[2]

    @cached_property
    def rows(self) -> Table:
        """A row for each transport and proxy, the most users first."""
        return Table(self._core.rows())

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``bentpipe compare capacity --json`` prints it.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = json.loads(self._core.json())
        return found

    def _main(self) -> Table:
        return self.rows

    def _text(self, width: int) -> str:
        return self._core.text(width)
