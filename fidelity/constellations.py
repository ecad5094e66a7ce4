#!/usr/bin/env python3
"""Measures the delay from Berkeley to Boston over ns-2's own Iridium and Teledesic for a day.

    ./constellations.py NS-2.35/tcl/ex

The argument is the directory of ns-2.35's example scripts (in its source package). Each script is run
as it stands but for two lines: the randomisation of handovers is off, and a packet is sent every 10.01 s
instead of every minute, so that packets meet every phase of the handovers' 10 s. What comes out stands in
crates/orbit/tests/ns-2-NAME.csv, which the tests of `orbit` are held against: a row for each packet with
its number (sent at 1 + 10.01 n seconds), its delay in milliseconds (ns-2 prints 0.1 ms) and, where it is
not that of the row before, its path: satellites in the order of the node script, counted from 0. A packet
without a path has an empty delay and the path `-`.

Needs `ns` (Debian's ns2). Iridium takes 10 s, Teledesic 3 to 6 minutes.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SATELLITES = {"iridium": 66, "teledesic": 288}
TESTS = Path(__file__).resolve().parent.parent / "crates" / "orbit" / "tests"


def script(text):
    text, off = re.subn(r"(handoff_randomization_) true", r"\1 false", text)
    text, every = re.subn(r"(cbr0 set interval_) [\d.]+", r"\1 10.01", text)
    assert (off, every) == (1, 1), "not the example script of ns-2.35"
    return text


def measure(name, examples):
    with tempfile.TemporaryDirectory() as directory:
        for part in ("nodes", "links"):
            file = f"sat-{name}-{part}.tcl"
            Path(directory, file).write_text((examples / file).read_text())
        Path(directory, "run.tcl").write_text(script((examples / f"sat-{name}.tcl").read_text()))
        subprocess.run(["ns", "run.tcl"], cwd=directory, check=True, stdout=sys.stderr)
        with open(Path(directory, "out.tr")) as trace:
            return packets(trace, SATELLITES[name])


def packets(trace, berkeley):
    """Of each packet when it was sent and received, and the nodes it was at."""
    sent, received, paths = {}, {}, {}
    for line in trace:
        event, time, at, to, *rest = line.split()
        packet = int(rest[7])
        if event == "+" and int(at) == berkeley:
            sent[packet], paths[packet] = float(time), []
        elif event == "r" and int(to) == berkeley + 1:
            received[packet] = float(time)
        elif event == "r":
            paths[packet].append(to)
        elif event == "d":
            sent[packet] = float(time)
    return [
        (packet, received[packet] - sent[packet], paths[packet])
        if packet in received
        else (packet, None, ["-"])
        for packet in sorted(sent)
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("examples", type=Path, help="ns-2.35's tcl/ex")
    parser.add_argument("--only", choices=SATELLITES, help="only this constellation")
    arguments = parser.parse_args()
    for name in [arguments.only] if arguments.only else SATELLITES:
        rows, before = ["packet,delay_ms,path"], None
        for packet, delay, path in measure(name, arguments.examples):
            shown = "" if path == before else " ".join(path)
            rows.append(f"{packet},{'' if delay is None else format(delay * 1e3, '.1f')},{shown}")
            before = path
        (TESTS / f"ns-2-{name}.csv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
