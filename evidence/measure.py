"""Measures entries again: runs their commands and reads the values in the declared way."""

import csv
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from functools import cache

import entries
import sources
from entries import Entry, Fault

STATISTICS = {
    "mean": statistics.mean,
    "median": statistics.median,
    "worst": lambda all: max(map(abs, all)),
    "least": min,
    "most": max,
    "count": len,
    "sum": sum,
}


@cache
def quiet() -> bool:
    """Whether at most a quarter of a core is busy, or the user says so; a build may just have ended."""
    if os.environ.get("EVIDENCE_QUIET"):
        return os.environ["EVIDENCE_QUIET"] == "1"
    for _ in range(30):
        if os.getloadavg()[0] < 0.25:
            return True
        time.sleep(10)
    return False


def by_hand(entry: Entry) -> bool:
    """Whether something of the entry has no declared way to be read."""
    ways = all({"find", "json", "column"} & value.spec.keys() for value in entry.values)
    return not ways or bool(entry.table) and not entry.table.get("find")


# Needs that are no programs, for people.
NAMES = {
    "quiet": "a quiet machine",
    "published": "BENTPIPE_WORLD, the folder of what others published (docs/world.md)",
}


def lacking(entry: Entry) -> list[str]:
    """What the machine has not."""
    missing = []
    for need in entry.needs:
        if need == "root":
            here = os.geteuid() == 0
        elif need == "quiet":
            here = quiet()
        elif need == "published":
            here = os.path.isdir(os.environ.get("BENTPIPE_WORLD", ""))
        else:
            here = shutil.which(need) is not None
        if not here:
            missing.append(NAMES.get(need, need))
    return missing


def number(text: str) -> float:
    return float(text.replace(",", ""))


def left(groups: tuple[str, ...]) -> float:
    """The first number less the others."""
    first, *others = map(number, groups)
    return first - sum(others)


def scaled(spec: dict, found: float) -> float:
    """In the unit of the value, as percent of a ratio: `scale = 100, offset = -100`."""
    return round(float(found) * spec.get("scale", 1.0) + spec.get("offset", 0.0), 9)


def read(spec: dict, output: str) -> dict[str, float | list[float]]:
    """The numbers of one value, from the output of the command or a file that it wrote."""
    text = (sources.ROOT / spec["from"]).read_text() if "from" in spec else output
    if "inside" in spec:
        found = re.search(spec["inside"], text, re.M)
        text = found[1] if found else ""
    if "find" in spec:
        found = list(re.finditer(spec["find"], text, re.M))
        if not found:
            raise Fault(f"nothing in the output is like {spec['find']!r}")
        if "of" in spec:
            if spec["of"] == "count":
                return {"value": scaled(spec, len(found))}
            of = STATISTICS[spec["of"]]
            return {"value": scaled(spec, of([left(match.groups()) for match in found]))}
        if isinstance(spec["value"], list):
            return {"value": [number(group) for match in found for group in match.groups()]}
        named = found[-1].groupdict() or {"value": found[-1][1]}
        return {key: scaled(spec, number(group)) for key, group in named.items()}
    if "json" in spec:
        at = json.loads(text)
        for key in spec["json"].split("."):
            at = at[int(key)] if isinstance(at, list) else at[key]
        return {"value": float(at)}
    if "column" in spec:
        where = spec.get("where", {})
        rows = [r for r in csv.DictReader(text.splitlines()) if where.items() <= r.items()]
        numbers = [number(row[spec["column"]]) for row in rows if row[spec["column"]]]
        return {"value": scaled(spec, STATISTICS[spec.get("of", "mean")](numbers))}
    raise Fault("there is no declared way to read it")


def renewed(entry: Entry, output: str) -> dict[str, dict]:
    """The new values of an entry."""
    values = {}
    for value in entry.values:
        try:
            values[value.name] = read(value.spec, output)
        except (Fault, KeyError, IndexError, ValueError, OSError) as error:
            raise Fault(f"{entry.name}: {value.name}: {error}") from error
    return values


def store(entry: Entry, output: str) -> None:
    """Writes values, raw results, table, commit, fingerprints and date of an entry."""
    values = renewed(entry, output)
    for value in entry.values:
        new = values[value.name]["value"]
        if entries.several(new) != value.values:
            print(f"  {value.name}: {entries.toml(value.spec['value'])} -> {entries.toml(new)}")
    if entry.table:
        rows = re.findall(entry.table["find"], output, re.M)
        if not rows:
            raise Fault(f"{entry.name}: the output has no table like {entry.table['find']!r}")
        (sources.ROOT / entry.table["file"]).write_text(
            "\n".join(" ".join(row.split()) for row in rows) + "\n"
        )
    if entry.output:
        (sources.ROOT / entry.output).write_text(output)
    commit = sources.git("rev-parse", "--short=8", "HEAD", text=True).stdout.strip()
    fields = {
        "fingerprint": entries.toml({p: sources.fingerprint(p) for p in entry.parts}),
        "commit": entries.toml(commit),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
    }
    if "root" in entry.needs:
        fields["kernel"] = entries.toml(".".join(platform.release().split(".")[:2]))
    file = entries.HERE / f"{entry.group}.toml"
    file.write_text(entries.renew(file.read_text(), entry.name, fields, values))


def unchanged(entry: Entry) -> bool:
    """Whether the parts are those of the last commit, which the entry will name."""
    return all(sources.fingerprint(p) == sources.fingerprint(p, "HEAD") for p in entry.parts)


def run(entry: Entry) -> bool:
    """Measures one entry and stores it; false if the machine cannot or the command failed."""
    say = lambda text: print(f"{entry.group}/{entry.name}: {text}", file=sys.stderr, flush=True)
    if not entry.command:
        say("skipped: no command measures it")
        return True
    if by_hand(entry):
        say(f"skipped: what it prints is read by hand: {entry.command}")
        return True
    if missing := lacking(entry):
        say(f"skipped: it needs {', '.join(missing)}")
        return True
    if not unchanged(entry):
        say("not measured: its parts have changes that are not committed")
        return False
    say(f"{entry.command} (about {entry.minutes:g} min)")
    # Where the commands leave files.
    (sources.ROOT / "target/evidence").mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["bash", "-c", entry.command], cwd=sources.ROOT, stdout=subprocess.PIPE, text=True
    )
    if done.returncode not in entry.status:
        say(f"exit status {done.returncode}: nothing was stored")
        sys.stderr.write(done.stdout)
        return False
    try:
        store(entry, done.stdout)
    except Fault as fault:
        say(f"nothing was stored: {fault}")
        return False
    return True
