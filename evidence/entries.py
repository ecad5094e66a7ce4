"""Entries of the ledger: what was measured, when, on what code, and by which command."""

import difflib
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import sources

ROOT = sources.ROOT
HERE = ROOT / "evidence"
#: Files beside the groups that hold no entries.
OTHERS = ("parts", "plain")
KEYS = {
    "about", "command", "needs", "minutes", "parts", "fingerprint", "commit", "date", "kernel",
    "raw", "output", "inputs", "table", "status", "values",
}  # fmt: skip


class Fault(Exception):
    """Something wrong with the ledger itself."""


@dataclass
class Value:
    """A value of an entry, or several of one kind, with its interval if it has one."""

    name: str
    values: list[float]
    low: list[float]
    high: list[float]
    unit: str
    spec: dict

    def candidates(self) -> list[float]:
        return [*self.values, *self.low, *self.high]


@dataclass
class Entry:
    """One measurement: a command, its values, and the code that it depends on."""

    name: str
    group: str
    about: str
    command: str
    needs: list[str]
    minutes: float
    parts: list[str]
    commit: str
    date: str
    fingerprint: dict[str, str] = field(default_factory=dict)
    kernel: str = ""
    # Raw results that are stored, and where the ledger stores what the command prints.
    raw: str = ""
    output: str = ""
    inputs: list[str] = field(default_factory=list)
    table: dict = field(default_factory=dict)
    status: list[int] = field(default_factory=lambda: [0])
    values: list[Value] = field(default_factory=list)

    @property
    def changed(self) -> list[str]:
        """The parts that are not what they were."""
        return [p for p in self.parts if self.fingerprint.get(p) != sources.fingerprint(p)]

    @property
    def stored(self) -> bool:
        """Whether the history tells on which commit it was measured."""
        return self.commit != "unknown"

    @property
    def stale(self) -> bool:
        return not self.stored or bool(self.changed)

    @property
    def renewal(self) -> str:
        """What to type to measure it again."""
        return f"make evidence GROUP={self.group}/{self.name}"


def several(value) -> list[float]:
    return [float(v) for v in (value if isinstance(value, list) else [value])]


def parse(name: str, group: str, table: dict) -> Entry:
    where = f"evidence/{group}.toml, [{name}]"
    if unknown := set(table) - KEYS:
        raise Fault(f"{where}: unknown key {', '.join(sorted(unknown))}")
    try:
        values = [
            Value(
                key,
                several(spec["value"]),
                several(spec.get("low", [])),
                several(spec.get("high", [])),
                spec.get("unit", ""),
                spec,
            )
            for key, spec in table.get("values", {}).items()
        ]
        plain = {k: v for k, v in table.items() if k != "values"}
        plain["date"] = str(plain["date"])
        return Entry(name=name, group=group, values=values, **plain)
    except (KeyError, TypeError) as error:
        raise Fault(f"{where}: {error}") from error


def load(folder: Path = HERE) -> dict[str, Entry]:
    """All entries by name."""
    found: dict[str, Entry] = {}
    for file in sorted(folder.glob("*.toml")):
        if file.stem in OTHERS:
            continue
        for name, table in tomllib.loads(file.read_text()).items():
            if name in found:
                raise Fault(f"evidence/{file.name}: `{name}` is in {found[name].group}.toml, too")
            found[name] = parse(name, file.stem, table)
            for part in found[name].parts:
                if part not in sources.declared() and not (ROOT / part).exists():
                    raise Fault(f"evidence/{file.name}, [{name}]: no part or path `{part}`")
    return found


def nearest(name: str, entries: dict[str, Entry]) -> str:
    near = difflib.get_close_matches(name, entries, 1, 0.5)
    return f"; did you mean `{near[0]}`?" if near else ""


def toml(value) -> str:
    """A value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{quoted(k)} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, int | float):
        return f"{value:g}" if value != int(value) or abs(value) >= 1e6 else str(int(value))
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def quoted(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key) else toml(key)


def renew(text: str, name: str, fields: dict[str, str], values: dict[str, dict]) -> str:
    """A group's file with new fields and values of one entry; all else stays as written."""
    heads = list(re.finditer(r"^\[([^\]\n]+)\]$", text, re.M))
    pieces = [text[: heads[0].start()]] if heads else [text]
    for head, after in zip(heads, [*heads[1:], None]):
        piece = text[head.start() : after.start() if after else len(text)]
        if head[1] == name:
            for key, value in fields.items():
                line = f"{key} = {value}"
                piece, count = re.subn(rf"^{key} = .*$", lambda _: line, piece, flags=re.M)
                if not count:
                    piece = re.sub(r"^commit = .*$", rf"\g<0>\n{line}", piece, flags=re.M)
        if head[1] == f"{name}.values":
            for key, numbers in values.items():
                for part, number in numbers.items():
                    piece = re.sub(
                        rf"^({re.escape(key)} = .*?\b{part} = )(\[[^\]]*\]|-?[\d.e+]+)",
                        lambda m: m[1] + toml(number),
                        piece,
                        flags=re.M,
                    )
        pieces.append(piece)
    return "".join(pieces)
