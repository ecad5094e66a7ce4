"""Dictionaries as TOML, for scenarios and studies."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(tables: Mapping[str, Any]) -> str:
    """A dictionary as a TOML document."""
    lines: list[str] = []
    _table(lines, (), tables)
    return "\n".join(lines) + "\n"


def _table(lines: list[str], path: tuple[str, ...], table: Mapping[str, Any]) -> None:
    inner: list[tuple[str, Any]] = []
    for key, item in table.items():
        if item is None:
            continue
        if isinstance(item, Mapping) or _is_tables(item):
            inner.append((key, item))
        else:
            lines.append(f"{_key(key)} = {value(item)}")
    for key, item in inner:
        name = (*path, key)
        heading = ".".join(map(_key, name))
        if isinstance(item, Mapping):
            lines.append(f"\n[{heading}]")
            _table(lines, name, item)
            continue
        for each in item:
            lines.append(f"\n[[{heading}]]")
            _table(lines, name, each)


def _is_tables(item: object) -> bool:
    return (
        isinstance(item, (list, tuple))
        and len(item) > 0
        and all(isinstance(each, Mapping) for each in item)
    )


def _key(key: object) -> str:
    text = str(key)
    return text if _BARE.fullmatch(text) else json.dumps(text)


def value(item: object) -> str:
    """A value as TOML."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, (int, float)):
        return repr(item)
    if isinstance(item, str):
        return json.dumps(item, ensure_ascii=False)
    if isinstance(item, os.PathLike):
        return json.dumps(os.fspath(item), ensure_ascii=False)
    if isinstance(item, Mapping):
        inner = ", ".join(f"{_key(key)} = {value(each)}" for key, each in item.items())
        return f"{{ {inner} }}"
    if isinstance(item, (list, tuple)):
        return f"[{', '.join(map(value, item))}]"
    # Numbers of numpy and their like.
    as_python = getattr(item, "item", None)
    if callable(as_python):
        return value(as_python())
    raise TypeError(f"TOML has no value for {type(item).__name__}")
