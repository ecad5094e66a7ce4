#!/usr/bin/env python3
"""Prints the tables of docs/startup.md: runs the four studies of this folder and writes what they
found as Markdown.

    docs/startup/tables.py [--bentpipe PROGRAM] [--out DIR] [--fresh]

Results are kept in DIR (target/startup): a second time nothing is run, unless with `--fresh`.
"""

import argparse
import csv
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STUDIES = ["alone", "leo-alone", "beside", "leo-beside"]
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bentpipe", default=ROOT / "target/release/bentpipe", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "target/startup", type=pathlib.Path)
    parser.add_argument("--fresh", action="store_true")
    args = parser.parse_args()
    status = 0
    for study in STUDIES:
        command = [args.bentpipe, "study", HERE / f"{study}.toml", "--out", args.out]
        command += ["--fresh"] if args.fresh else []
        done = subprocess.run(command, stdout=subprocess.DEVNULL)
        if done.returncode > 1:
            return done.returncode
        status |= done.returncode

    def of(path: str, kind: str, table: str) -> tuple[dict, str]:
        leo = path == "LEO"
        study = f"startup-{'leo-' if leo else ''}{kind}"
        return cells(args.out, study, table), "" if leo else f"{path} / "

    for path in PATHS:
        times, prefix = of(path, "alone", "times")
        dropped, _ = of(path, "alone", "dropped")
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
        print(f"{markdown(head, rows)}\n")

    rows = []
    for name, *senders in STARTS:
        row = [name]
        for path in PATHS:
            lost, prefix = of(path, "beside", "lost")
            for protocol, sender in zip(("TCP", "QUIC"), senders):
                row.append(text(lost.get((f"{prefix}{QUEUE} / {protocol}, {sender}", "10 MB")), 0))
        rows.append(row)
    head = ["lost by the other, %"] + [
        f"{path.split(' Mbit')[0]}, {protocol}" for path in PATHS for protocol in ("TCP", "QUIC")
    ]
    print(markdown(head, rows))

    saved = cells(args.out, "startup-alone", "saved")
    print()
    rows = [
        [path]
        + [
            text(saved.get((path, f"{size} | {protocol}")), 1)
            for protocol in ("TCP", "QUIC")
            for size in SIZES
        ]
        for path in PATHS[:2]
    ]
    head = ["round trips saved"] + [f"{p}: {s}" for p in ("TCP", "QUIC") for s in SIZES]
    print(markdown(head, rows))
    return status


if __name__ == "__main__":
    sys.exit(main())
