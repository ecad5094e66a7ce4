#!/usr/bin/env python3
"""Holds slots (Starlink's of 15 s) against measurements that nobody here made.

    python3 fidelity/world/starlink.py DIR [--bentpipe PATH]

DIR has `starlink_ping_60min.tsv.gz` and the two tables of iperf3,
`starlink_{down_2min,up_5min}_0.1s.csv`, of clarkzjw/mmsys24-starlink-livestreaming-data (CC BY-SA
4.0). None of them is part of bentpipe.

1. `bentpipe trace fit` on the first half of the pings predicts the second: round trips within
   slots, as differences from the median of the slot, and steps from median to median. The figure is
   the distance of Kolmogorov and Smirnov; the bar is 0.1.
2. LeoCC over the preset, with slots at any phase: how many of the changes it finds (a probe of the
   RTT that ends in startup) within the slot, and within a second.
3. Goodput of CUBIC over what was fitted to all pings, with the capacity of iperf3's seconds.

How slow start ends over the preset is hystart.py's subject. Python's standard library only.
"""

import argparse
import csv
import gzip
import json
import math
import random
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EVERY = 15.0

LINE = """
duration = "20 s"
[node.server]
[node.client]
[link.satellite]
between = ["server", "client"]
rate = "{down}"
one_way_delay = "{one_way}"
queue = "1 BDP"
{more}
[link.satellite.reverse]
rate = "{up}"
[transport.mine]
base = "cubic"
profile = "linux"
[flow.download]
from = "server"
to = "client"
transport = "mine"
application = "persistent"
"""


def pings(text):
    rows = (line.split() for line in text.splitlines())
    return [(float(at), float(ms)) for at, _, ms in rows]


def by_slot(series, offset):
    slots = {}
    for at, ms in series:
        if ms >= 0:
            slots.setdefault(math.floor((at - offset) / EVERY), []).append(ms)
    return {number: ms for number, ms in slots.items() if len(ms) >= 5}


def deviations(slots):
    return [x - statistics.median(ms) for ms in slots.values() for x in ms]


def steps(slots):
    median = {number: statistics.median(ms) for number, ms in slots.items()}
    return [median[n + 1] - median[n] for n in median if n + 1 in median]


def distance(a, b):
    """Largest difference of the two distribution functions."""
    a, b = sorted(a), sorted(b)
    i = j = 0
    largest = 0.0
    while i < len(a) and j < len(b):
        x = min(a[i], b[j])
        while i < len(a) and a[i] <= x:
            i += 1
        while j < len(b) and b[j] <= x:
            j += 1
        largest = max(largest, abs(i / len(a) - j / len(b)))
    return largest


def ms(text):
    number, unit = text.split()
    return float(number) * {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def quantile(values, share):
    place = share * (len(values) - 1)
    below = min(int(place), len(values) - 2)
    return values[below] + (place - below) * (values[below + 1] - values[below])


def drawn(link, seed=1, slots=20_000):
    """Deviations within slots and steps between them, by the rules of docs/scenario.md."""
    rng = random.Random(seed)
    within = [ms(x) for x in link["jitter"]["delays"]]
    levels = [ms(x) for x in link["slots"]["delay"]]
    stays, wander = float(link["slots"]["stays"]), ms(link["slots"]["wander"])
    draws = [quantile(within, rng.random()) for _ in range(slots)]
    median = statistics.median(draws)
    level, trips = None, []
    for _ in range(slots):
        if level is None or rng.random() >= stays:
            level = quantile(levels, rng.random())
        trips.append(max(0.0, level + rng.gauss(0, wander)))
    return [x - median for x in draws], [b - a for a, b in zip(trips, trips[1:])]


def fit(binary, files):
    done = subprocess.run([binary, "trace", "fit", *files], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    print(done.stderr.strip(), file=sys.stderr)
    return done.stdout


def run(binary, scenario, seed, scratch, *more):
    path = Path(scratch) / "scenario.toml"
    path.write_text(scenario)
    command = [binary, "run", str(path), "--seed", str(seed), "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def reconfigurations(outcome, phase):
    """Changes of slot after the first second, those found, those within a second, false ones."""
    probing, found = None, []
    for sample in outcome["series"][0]["sender"]:
        at = sample["at_ns"] / 1e9
        if sample["phase"] == "probe_rtt":
            probing = at if probing is None else probing
        elif sample["phase"] == "startup" and probing is not None:
            found.append(probing)
            probing = None
        elif sample["phase"] == "cruise":
            probing = None
    changes = [at for at in range(phase, 120, 15) if at >= 1]
    hits = soon = 0
    for change in changes:
        within = [at for at in found if change <= at < change + 15]
        hits += bool(within)
        soon += bool(within) and within[0] < change + 1
    return len(changes), hits, soon, len(found) - hits


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bentpipe", default=str(ROOT / "target" / "release" / "bentpipe"))
    options = parser.parse_args()
    text = gzip.open(options.folder / "starlink_ping_60min.tsv.gz", "rt").read()
    series = pings(text)
    middle = (series[0][0] + series[-1][0]) / 2
    with tempfile.TemporaryDirectory() as scratch:
        half = Path(scratch) / "half.tsv"
        lines = [line for line, (at, _) in zip(text.splitlines(), series) if at < middle]
        half.write_text("\n".join(lines) + "\n")
        link = tomllib.loads(fit(options.bentpipe, [str(half)]))["link"]["satellite"]
        offset = ms(link["slots"]["offset"]) / 1e3
        within, between = drawn(link)
        print(f"slots begin {offset:g} s after the minute; {link['slots']['stays']} stay")
        print("| half | within slots | between slots |\n|---|---|---|")
        for name, part in (
            ("first, fitted", [p for p in series if p[0] < middle]),
            ("second, predicted", [p for p in series if p[0] >= middle]),
        ):
            slots = by_slot(part, offset)
            figures = distance(within, deviations(slots)), distance(between, steps(slots))
            print(f"| {name} | {figures[0]:.3f} | {figures[1]:.3f} |")

        print(
            "\n| LeoCC over | changes | found | of these within 1 s | found falsely |\n|---|---|---|---|---|"
        )
        for name in ("starlink-2023", "starlink-2023-near"):
            counts = [0, 0, 0, 0]
            for seed in range(1, 13):
                phase = (seed * 5 + 2) % 15
                more = f'slots = {{ preset = "{name}", offset = "{phase} s" }}'
                scenario = LINE.format(down="50 Mbit/s", up="10 Mbit/s", one_way="20 ms", more=more)
                scenario = scenario.replace('"20 s"', '"120 s"').replace('"cubic"', '"leocc"')
                outcome = run(options.bentpipe, scenario, seed, scratch, "--series")
                for i, more_of in enumerate(reconfigurations(outcome, phase)):
                    counts[i] += more_of
            print(f"| {name} | {counts[0]} | {counts[1]} | {counts[2]} | {counts[3]} |")

        tables = {
            way: options.folder / f"starlink_{way}_0.1s.csv" for way in ("down_2min", "up_5min")
        }
        whole = Path(scratch) / "whole.tsv"
        whole.write_text(text)
        files = [str(whole), "--down", str(tables["down_2min"]), "--up", str(tables["up_5min"])]
        scenario = fit(options.bentpipe, files)
        still = re.sub(r"\brate = \[[^]]*\]", "rate = []", scenario)
        print(
            "\n| way | iperf3, Mbit/s | CUBIC here | | capacity that does not vary |\n|---|---|---|---|---|"
        )
        for way, (here, there) in {
            "down_2min": ("gateway", "terminal"),
            "up_5min": ("terminal", "gateway"),
        }.items():
            rows = list(csv.DictReader(open(tables[way])))
            measured = sum(float(row["bytes"]) for row in rows) * 8e-6 / float(rows[-1]["end_s"])
            means = []
            for text in (scenario, still):
                turned = text.replace('from = "gateway"', f'from = "{here}"')
                turned = turned.replace('to = "terminal"', f'to = "{there}"')
                outcomes = [run(options.bentpipe, turned, s, scratch) for s in range(1, 10)]
                means.append(statistics.mean(o["flows"][0]["goodput_bps"] / 1e6 for o in outcomes))
            off = means[0] / measured - 1
            print(f"| {way} | {measured:.1f} | {means[0]:.1f} | {off:+.0%} | {means[1]:.1f} |")


if __name__ == "__main__":
    main()
