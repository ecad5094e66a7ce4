#!/usr/bin/env python3
"""Prints the tables of docs/startup.md: runs the four studies of this folder and writes what they
found as Markdown.

    docs/startup/tables.py [--table NAME] [--bentpipe PROGRAM] [--out DIR] [--fresh]

Results are kept in DIR (target/startup): a second time nothing is run, unless with `--fresh`.
"""

import argparse
import csv
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
QUEUE = "1 BDP"
SIZES = ["100 kB", "1 MB", "10 MB"]
PATHS = ["GEO 20/2 Mbit/s", "GEO 250/3 Mbit/s", "Starlink 100/10 Mbit/s", "LEO"]
# What a row is called, and the sender of it over TCP and over QUIC.
STARTS = [
    ("slow start", "slow start", "slow start"),
    ("HyStart (Linux)", "HyStart (Linux)", "HyStart (Linux)"),
    ("HyStart++", "HyStart++", "HyStart++"),
    ("HyStart++, paced over TCP, not over QUIC", "HyStart++, paced", "HyStart++, not paced"),
    ("HyStart++, 32 segments", "HyStart++, 32 segments", "HyStart++, 32 segments"),
    ("SEARCH", "SEARCH", "SEARCH"),
    ("picoquic's", "picoquic's", "picoquic's"),
    ("careful resume", "careful resume", "careful resume"),
    (
        "careful resume, a tenth saved",
        "careful resume, saved a tenth",
        "careful resume, saved a tenth",
    ),
    (
        "careful resume, ten times saved",
        "careful resume, saved ten times",
        "careful resume, saved ten times",
    ),
]


def cells(out: pathlib.Path, study: str, table: str) -> dict:
    """The cells of a table by row and column."""
    with open(out / study / "tables" / f"{table}.csv", newline="") as file:
        return {(row["row"], row["column"]): row for row in csv.DictReader(file)}


def text(cell: dict | None, decimals: int) -> str:
    """A mean and half the width of its interval, or `-` without a result."""
    if cell is None or not cell["ours"]:
        return "-"
    mean = float(cell["ours"])
    half = f"{float(cell['ci95'] or 0):.{decimals}f}"
    return f"{mean:.{decimals}f}" + (f" ± {half}" if float(half) > 0 else "")


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def of(out: pathlib.Path, path: str, kind: str, table: str) -> tuple[dict, str]:
    """The cells of a path's study, and how their rows begin."""
    leo = path == "LEO"
    study = f"startup-{'leo-' if leo else ''}{kind}"
    return cells(out, study, table), "" if leo else f"{path} / "


def alone(out: pathlib.Path, path: str) -> str:
    """Times and drops of every start over one path."""
    times, prefix = of(out, path, "alone", "times")
    dropped, _ = of(out, path, "alone", "dropped")
    rows = []
    for name, *senders in STARTS:
        row = [name]
        for protocol, sender in zip(("TCP", "QUIC"), senders):
            label = f"{prefix}{QUEUE} / {protocol}, {sender}"
            row += [text(times.get((label, size)), 2) for size in SIZES]
            row.append(text(dropped.get((label, "10 MB")), 0))
        rows.append(row)
    head = [path] + [
        f"{protocol}: {what}"
        for protocol in ("TCP", "QUIC")
        for what in (*SIZES, "dropped of 10 MB")
    ]
    return markdown(head, rows)


def saved(out: pathlib.Path) -> str:
    """What careful resume saves over the geostationary paths."""
    found = cells(out, "startup-alone", "saved")
    rows = [
        [path]
        + [
            text(found.get((path, f"{size} | {protocol}")), 1)
            for protocol in ("TCP", "QUIC")
            for size in SIZES
        ]
        for path in PATHS[:2]
    ]
    head = ["round trips saved"] + [f"{p}: {s}" for p in ("TCP", "QUIC") for s in SIZES]
    return markdown(head, rows)


def lost(out: pathlib.Path) -> str:
    """What a running download loses to each start over every path."""
    rows = []
    for name, *senders in STARTS:
        row = [name]
        for path in PATHS:
            found, prefix = of(out, path, "beside", "lost")
            for protocol, sender in zip(("TCP", "QUIC"), senders):
                label = f"{prefix}{QUEUE} / {protocol}, {sender}"
                row.append(text(found.get((label, "10 MB")), 0))
        rows.append(row)
    head = ["lost by the other, %"] + [
        f"{path.split(' Mbit')[0]}, {protocol}" for path in PATHS for protocol in ("TCP", "QUIC")
    ]
    return markdown(head, rows)


# In the order of the page: each table with the studies that it is made of.
TABLES = {
    "geo-20": (["alone"], lambda out: alone(out, PATHS[0])),
    "geo-250": (["alone"], lambda out: alone(out, PATHS[1])),
    "starlink": (["alone"], lambda out: alone(out, PATHS[2])),
    "leo": (["leo-alone"], lambda out: alone(out, PATHS[3])),
    "saved": (["alone"], saved),
    "lost": (["beside", "leo-beside"], lost),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bentpipe", default=ROOT / "target/release/bentpipe", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "target/startup", type=pathlib.Path)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--table", choices=TABLES, help="one of the tables instead of all")
    args = parser.parse_args()
    chosen = [TABLES[args.table]] if args.table else list(TABLES.values())
    needed = {study for studies, _ in chosen for study in studies}
    status = 0
    for study in sorted(needed):
        command = [args.bentpipe, "study", HERE / f"{study}.toml", "--out", args.out]
        command += ["--fresh"] if args.fresh else []
        done = subprocess.run(command, stdout=subprocess.DEVNULL)
        if done.returncode > 1:
            return done.returncode
        status |= done.returncode
    print("\n\n".join(table(args.out) for _, table in chosen))
    return status


if __name__ == "__main__":
    sys.exit(main())
