"""What answers to a question have in common."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from ._options import texts, words
from ._table import Tabular

#: Options of a command line, each a name and a value.
Given = list[tuple[str, str]]


class Asked(Tabular):
    """Something that a question of options was answered with."""

    _widest = 100

    #: The words of the command that answers the same.
    _command: ClassVar[tuple[str, ...]]

    def __init__(self, given: Given) -> None:
        self._given = given

    @cached_property
    def command(self) -> str:
        """The command line that gives the same answer."""
        options = [f"--{name}={value}" for name, value in self._given]
        return shlex.join([*self._command, *options])


class Question:
    """The options of a question, and the congestion controls that come with it."""

    def __init__(
        self,
        options: Mapping[str, Any],
        cc: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None,
        threads: int | None,
    ) -> None:
        self.options = words(options)
        self.controls = texts("cc", cc)
        self._threads = [] if threads is None else [("threads", str(threads))]

    @property
    def given(self) -> Given:
        """All of it as options of a command line."""
        controls = [("cc", file) for file in self.controls]
        return [*self.options, *controls, *self._threads]
