#!/usr/bin/env python3
"""Lasting: what the boxes hold after a million connections, an outage, and hours of a changing link.

    lasting.py churn        1,000,000 short connections, 64 at once, through both boxes
    lasting.py idle         idle connections, as many as descriptors allow, over an outage of 5 minutes
    lasting.py changes      transfers while rate and delay change 1440 times, 6 hours of handovers
    lasting.py --short      all of them, smaller

Each 10 s a line of target/bench-gateway/lasting-NAME.csv has what each box holds. Needs what lost.py
needs. Exit status: 0 as it must be, 1 not, 2 could not run.
"""

import argparse
import csv
import json
import os
import resource
import sys
import threading
import time
from dataclasses import dataclass

import boxes as b
from topology import ROOT, Link, Topology

# Descriptors of a box beyond those of its connections, with room.
SPARE = 300
# What may be added to a box's memory from the first quarter to the end.
GROWTH = 1.10
SLACK_MB = 8
# The link of `changes`: rates as they follow each other in a fade, and delays of handovers.
RATES_MBPS = (20, 18, 12, 6, 3, 6, 12, 18)
DELAYS_MS = (275, 270, 280, 272)
CHANGE_S = 0.25


class Samples:
    """What the boxes hold, from time to time."""

    def __init__(self, name, made, every):
        self.made = made
        self.every = every
        self.rows = []
        self.start = time.monotonic()
        folder = ROOT / "target" / "bench-gateway"
        folder.mkdir(parents=True, exist_ok=True)
        self.file = open(folder / f"lasting-{name}.csv", "w", newline="")
        self.csv = csv.writer(self.file)
        self.csv.writerow(["s", "box", "resident_mb", "descriptors", "cpu_s"])
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.ended.wait(self.every):
            self.take()

    def take(self):
        at = time.monotonic() - self.start
        for role, box in self.made.items():
            row = (round(at, 1), role, *(round(value, 2) for value in box.use()))
            self.rows.append(row)
            self.csv.writerow(row)
        self.file.flush()

    def close(self):
        self.ended.set()
        self.thread.join()
        self.take()
        self.file.close()

    def of(self, role):
        return [row for row in self.rows if row[1] == role]


# Rows of the table, which is printed at the end.
ROWS = []


def grown(title, samples, connections):
    """A row for each box: what it held at the first quarter and at the end, and whether it grew."""
    bad = False
    for role in samples.made:
        rows = samples.of(role)
        early, last = rows[len(rows) // 4], rows[-1]
        grew = last[2] > early[2] * GROWTH + SLACK_MB or last[3] > early[3] + SPARE
        bad |= grew
        ROWS.append(
            f"| {title} | {role} | {early[2]:.1f} | {max(row[2] for row in rows):.1f} | {last[2]:.1f} "
            f"| {early[3]} | {max(row[3] for row in rows)} | {last[3]} "
            f"| {last[4] / connections * 1e6:.0f} | {'**grew**' if grew else 'flat'} |"
        )
        title = ""
    return bad


HEAD = (
    "| run | box | MB at a quarter | most | at the end | descriptors at a quarter | most | at the end "
    "| CPU, us a connection | |\n" + "|---" * 10 + "|"
)


def told(what, faults, summary):
    """What came of the connections, in words."""
    for fault in faults[:5]:
        print("   ", json.dumps(fault), file=sys.stderr)
    return (
        f"{what}: {summary['transfers']:,} connections in {summary['seconds']:.0f} s, "
        f"{summary['as_planned']:,} as planned, {summary['violations']} violations"
    )


def judged(what, client, patience, samples, made):
    """Waits for the client, notes what came of it, and stops the boxes; true if it was bad."""
    faults, summary = b.result(client, patience)
    time.sleep(3)
    samples.close()
    bad = grown(told(what, faults, summary), samples, summary["transfers"])
    b.stop(made)
    return bad or summary["violations"] > 0


def churn(args):
    transfers = 20_000 if args.short else args.transfers
    more = 8
    with Topology("bpchurn") as net:
        control = b.serve(net, more)
        way = b.WAYS[args.way]
        made = b.boxes(net, way)
        samples = Samples(f"churn-{args.way}", made, 1 if args.short else 10)
        kinds = "server-closes=4,client-closes=4,half-close-up=1,one-byte=1"
        most = b.flags(at_once=64, more=more, largest=4096, patience=60)
        load = b.flags(transfers=transfers, kinds=kinds, seed=7)
        client = b.drive(net, way, control, *load, *most)
        return judged(f"short connections, {way.name}", client, 7200, samples, made)


def idle(args):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    count = 1000 if args.short else min(20_000, most - SPARE)
    outage = 10 if args.short else args.outage
    with Topology("bpidle", Link(rate="100 Mbit/s", rtt="550 ms")) as net:
        control = b.serve(net)
        way = b.WAYS[args.way]
        made = b.boxes(net, way)
        samples = Samples("idle", made, 1 if args.short else 10)
        samples.take()
        pace, before = 500, 10
        opening = count / pace + before
        load = b.flags(transfers=count, at_once=count, pace=pace, kinds="idle=1", largest=1000)
        times = b.flags(hold=opening + outage + 20, patience=2 * opening + outage + 120)
        client = b.drive(net, way, control, *load, *times)
        time.sleep(opening)
        samples.take()
        each = []
        for role in made:
            first, now = samples.of(role)[0], samples.of(role)[-1]
            each.append(f"{(now[2] - first[2]) * 1024 / count:.1f} kB at the {role}")
        with net.outage():
            time.sleep(outage)
        faults, summary = b.result(client, 3600)
        time.sleep(3)
        samples.close()
        what = f"idle over an outage of {outage:.0f} s, {' and '.join(each)} for each"
        grown(told(what, faults, summary), samples, count)
        b.stop(made)
        return summary["violations"] > 0


@dataclass(frozen=True)
class Changing(Link):
    """A link whose rate and delay change each CHANGE_S."""

    pieces: int = 1440

    def scenario(self):
        keys = [
            f'{{ at = "{1000 * CHANGE_S * i:.0f} ms", rate = "{rate_at(i)} Mbit/s", '
            f'one_way_delay = "{DELAYS_MS[i % len(DELAYS_MS)]} ms" }}'
            for i in range(self.pieces)
        ]
        text = super().scenario()
        timeline = "timeline = [\n" + ",\n".join(keys) + "\n]\n"
        return text.replace('queue = "', timeline + 'queue = "', 1)


def rate_at(change):
    return RATES_MBPS[change % len(RATES_MBPS)]


def changes(args):
    pieces = 120 if args.short else 1440
    with Topology(
        "bpchanges", Changing(rate="20 Mbit/s", rtt="550 ms", queue="200 packets", pieces=pieces)
    ) as net:
        control = b.serve(net)
        way = b.WAYS[args.way]
        made = b.boxes(net, way)
        samples = Samples("changes", made, 1 if args.short else 10)
        seconds = pieces * CHANGE_S
        client = b.drive(
            net,
            way,
            control,
            "--transfers",
            int(seconds * 8),
            "--at-once",
            32,
            "--pace",
            8,
            "--largest",
            1 << 18,
            "--without",
            "big-up,big-down,silent",
            "--patience",
            120,
        )
        for change in range(pieces):
            for box in made.values():
                box.set_rate(f"{rate_at(change)} Mbit/s")
            time.sleep(CHANGE_S)
        return judged(f"{pieces} changes of rate and delay", client, 900, samples, made)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", choices=["churn", "idle", "changes", []], default=[])
    parser.add_argument("--transfers", type=int, default=1_000_000)
    parser.add_argument("--outage", type=float, default=300.0)
    parser.add_argument("--way", default="two", choices=list(b.WAYS))
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args()
    if os.geteuid():
        print("lasting.py needs root", file=sys.stderr)
        return 2
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    runs = {"churn": churn, "idle": idle, "changes": changes}
    results = [runs[what](args) for what in args.what or runs]
    print("\n".join([HEAD, *ROWS]))
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
