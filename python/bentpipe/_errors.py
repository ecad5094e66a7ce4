"""The exceptions of the package."""

from __future__ import annotations


class Error(Exception):
    """An error, with the message that the command prints.

    Attributes
    ----------
    file : str or None
        The file with the error, if there is one.
    line, column : int or None
        The place in it, from 1.
    help : str or None
        A suggestion for a correction.
    """

    def __init__(
        self,
        message: str = "",
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        help: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column
        self.help = help


class OptionError(Error, ValueError):
    """An argument of a call is invalid."""


class InputError(Error, OSError):
    """A file cannot be read or written."""


class ScenarioError(Error, ValueError):
    """A scenario is wrong; the message points at the line."""


class StudyError(Error, ValueError):
    """A study or a paper is wrong, or cannot be run."""


class RunError(Error, RuntimeError):
    """A run stopped before its end."""
