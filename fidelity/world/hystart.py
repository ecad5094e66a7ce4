"""How slow start ends on real paths (cs7org/ESA-QUICOPTSAT, MIT), beside the simulator.

Single iperf3 flows over two geostationary operators, Starlink, LTE and DSL, forth (to the terminal) and
back; Ubuntu 20.04.5 with its defaults, CUBIC with HyStart. Linux counts whether HyStart left slow start
by delay or by a train of ACKs, and at which window: 40 or 50 runs of each, and those in which it did
neither, so that a loss or nothing ended it. `hystart_exits.csv` has the counts and the median window of
the exits by delay. The runs through VPNs are left out here.

The simulator's qlog says when slow start ended and whether a loss was the reason. By delay or by train:
with the same seed and no trains (`ack_delta`), an exit by delay stays where it was.
"""

import csv
import json
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from testbed import toml

HERE = Path(__file__).resolve().parent
SCENARIO = HERE / "hystart.toml"
FILE = "hystart_exits.csv"
MSS = 1448

# Rates and round trips are in the file. What else a path has, by name, in keys of the scenario: queues,
# losses and jitter were not published, so what stands here is what is known of such paths. Starlink has the
# jitter and the interruptions that pings of 2023 showed (docs/slots.md).
PATHS = {
    "Astra": {},
    "Konnect": {},
    "Starlink": {"link.path.slots": {"preset": "starlink-2023-near"}},
    "LTE": {},
    "DSL": {},
}
RUNS = 100
NO_TRAINS = {"transport.cubic.ack_delta": "0 s"}


@dataclass(frozen=True)
class Counts:
    """How slow start ended in some runs, and the median window of exits by delay in packets, or None."""

    runs: int
    delay: int
    train: int
    neither: int
    window: float | None


@dataclass(frozen=True)
class Row:
    """A path in a direction: its rate and that of the way back in Mbit/s, its BDP in packets, the real counts."""

    path: str
    direction: str
    rate: float
    back: float
    rtt_ms: float
    bdp: int
    theirs: Counts


def read(path):
    """The rows without a VPN; raises ValueError where the file is not of that form."""
    with open(path, newline="") as file:
        lines = list(csv.reader(file))
    try:
        names = next(line for line in lines if len(line) > 1 and line[1].startswith("FL (Mbit/s)"))
        begin = lines.index(names) + 1
        rows = []
        for line in lines[begin:]:
            if not line[0]:
                break
            of = dict(zip(names, line, strict=False))
            fl, rl, rtt = (float(of[k]) for k in ("FL (Mbit/s)", "RL (Mbit/s)", "RTT (ms)"))
            for way, rate, back in (("FL", fl, rl), ("RL", rl, fl)):
                key = f"{way}_noVpn_"
                window = of[key + "delayCwndMedian"]
                counts = [
                    int(of[key + k])
                    for k in ("eventCount", "eventCountDelay", "eventCountTrain", "eventCountNone")
                ]
                theirs = Counts(*counts, float(window) if window else None)
                rows.append(
                    Row(line[0], way, rate, back, rtt, int(of[f"BDP_{way} (packets)"]), theirs)
                )
    except (StopIteration, KeyError, ValueError, IndexError) as error:
        raise ValueError(f"{path}: not the published form: {error}") from error
    return rows


def exit_of(qlog):
    """When slow start ended first in a qlog, in ms, the window in packets, and whether a loss ended it; or None."""
    ended = None
    for line in qlog.split("\n"):
        if ended is None and '"old":"slow_start"' in line:
            event = json.loads(line.lstrip("\x1e"))
            ended = (event["time"], event["data"]["new"] != "congestion_avoidance")
        elif ended is not None:
            data = json.loads(line.lstrip("\x1e"))["data"]
            return ended[0], data.get("ssthresh", 0) / MSS, ended[1]
    return None


def kind_of(first, without_trains):
    """By which rule an exit came: `first`, given the exit of the same run without trains."""
    if first is None or first[2]:
        return "neither"
    return "delay" if without_trains is not None and first[0] == without_trains[0] else "train"


def settings(row):
    return {
        # Slow start has ended after some fifteen round trips.
        "duration": f"{max(2.0, 25 * row.rtt_ms / 1e3):g} s",
        "link.path.rate": f"{row.rate:g} Mbit/s",
        "link.path.reverse.rate": f"{row.back:g} Mbit/s",
        "link.path.one_way_delay": f"{row.rtt_ms / 2:g} ms",
        **PATHS[row.path],
    }


def run(program, values, seed, qlog):
    command = [program, "run", SCENARIO, "--json", "--seed", seed, "--qlog", qlog]
    for key, value in values.items():
        command += ["--set", f"{key}={toml(value)}"]
    subprocess.run(
        list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return exit_of(Path(qlog).read_text())


def simulated(program, row, runs=RUNS):
    """How slow start ended in as many runs of the simulator."""
    kinds, windows = [], []
    with tempfile.TemporaryDirectory() as folder:
        qlog = Path(folder) / "run.sqlog"
        for seed in range(1, runs + 1):
            # The ticks of the kernel, and what changes with time on the path, are met at another phase.
            values = settings(row) | {"flow.download.start": f"{seed * 7 % 100} ms"}
            first = run(program, values, seed, qlog)
            kinds.append(kind_of(first, run(program, values | NO_TRAINS, seed, qlog)))
            if kinds[-1] == "delay":
                windows.append(first[1])
    window = statistics.median(windows) if windows else None
    return Counts(runs, kinds.count("delay"), kinds.count("train"), kinds.count("neither"), window)


def shown(counts):
    window = "" if counts.window is None else f"{counts.window:.0f}"
    parts = (f"{n / counts.runs:.0%}" for n in (counts.delay, counts.train, counts.neither))
    return " | ".join((*parts, window))


def table(rows, found):
    """The lines of the table: shares of the runs, and the median window of exits by delay in packets."""
    lines = [
        "| path | to | Mbit/s | RTT, ms | BDP, packets | by delay: theirs | by train | neither | window |"
        " by delay: ours | by train | neither | window |",
        "|" + "---|" * 13,
    ]
    for row in rows:
        to = "terminal" if row.direction == "FL" else "server"
        lines.append(
            f"| {row.path} | {to} | {row.rate:g} | {row.rtt_ms:g} | {row.bdp} |"
            f" {shown(row.theirs)} | {shown(found[row])} |"
        )
    return lines
