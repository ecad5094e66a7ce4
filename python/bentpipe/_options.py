"""Keyword arguments as options of a question."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._errors import OptionError
from ._keywords import FLAGS, QUESTION, SEVERAL


def words(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Options and values of a question, of arguments that are not ``None``.

    A name has underscores for hyphens, and one behind it where Python has the
    word for itself (``from_``). A list stands for several values.
    """
    found: list[tuple[str, str]] = []
    for name, value in given.items():
        if name == "on":
            raise OptionError(
                "Python compares in the simulator; `bentpipe compare --on linux` measures this "
                "machine's TCP, as root"
            )
        if name not in QUESTION:
            raise OptionError(unknown("option", name, QUESTION))
        option = name.rstrip("_").replace("_", "-")
        found.extend((option, each) for each in texts(name, value, name in SEVERAL))
    return found


def texts(name: str, value: Any, is_several: bool = True) -> list[str]:
    """The values of an argument as they are typed."""
    if value is None:
        return []
    is_list = is_several and isinstance(value, (list, tuple, set, frozenset))
    return [text(name, each) for each in (value if is_list else [value])]


def text(name: str, value: object) -> str:
    """A value as it is typed."""
    if isinstance(value, bool) and name in FLAGS:
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, (list, tuple)):
        return ",".join(str(each) for each in value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise OptionError(
            f"`{name}` must be a text, such as a quantity with its unit, or a number, "
            f"not {type(value).__name__}"
        )
    return str(value)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """There is no such name; the nearest, or all that there are."""
    import difflib

    known = list(known)
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean `{near[0]}`?" if near else f": expected {', '.join(known)}"
    return f"there is no {what} `{name}`{hint}"


def signature(function: Callable[..., object], options: Iterable[str]) -> inspect.Signature:
    """A function's signature with its options, which are all `None` by default."""
    found = inspect.signature(function)
    named = [p for p in found.parameters.values() if p.kind is not p.VAR_KEYWORD]
    keyword = inspect.Parameter.KEYWORD_ONLY
    given = [inspect.Parameter(name, keyword, default=None) for name in options]
    first = [p for p in named if p.kind is p.POSITIONAL_OR_KEYWORD]
    rest = [p for p in named if p.kind is keyword]
    return found.replace(parameters=[*first, *given, *rest])
