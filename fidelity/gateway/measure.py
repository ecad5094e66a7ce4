#!/usr/bin/env python3
"""The simulator's model of the gateway beside `bentpipe gateway`, in 36 cells.

    fidelity/gateway/measure.py                    # holds the simulator against the stored table
    fidelity/gateway/measure.py --live [--jobs 2]  # measures the gateway again; as root, after `make`
    fidelity/gateway/measure.py --live --cells lossy '20 Mbit/s 100 kB 0%'

27 cells are a rate, a size and a share of lost packets, over 550 ms: a client asks for a file of that size,
each time over a new connection, and has it after so many seconds. Live, the downloads of a run follow one
another, through two processes of the gateway over the emulated link. In 9 cells several things happen at
once ([live.py](live.py)): a user's download beside eight of another user, UDP beside downloads of the same
user, a fade of the link that nobody reports. The mean over all values of a cell is compared.

Losses are random on each side, so that a cell with losses has as many downloads as its size needs for a
95% interval of its mean below 7%, at every rate. These numbers are fixed here, before anything is measured:
a cell that misses is not measured more often than the others. Bar: every cell within 10%, and after --live
every interval below 7%. What is measured with --cells takes the place of the same cells in the table. Exit
status: 0 met, 1 not, 2 could not run.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import live

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLE = HERE / "measured.csv"
BAR = 0.10
# Of the mean: half of the 95% interval must be smaller.
INTERVAL_BAR = 0.07
RATES = (2, 5, 20, 50)
SIZES = (100_000, 1_000_000, 10_000_000)
LOSSES = (0, 1)
# Downloads of a run, and live runs, of a cell with losses, by size. A file of 10 MB loses a hundred
# times as many packets as one of 100 kB, so that its times differ less. The standard deviation was up
# to 38, 26 and 3% of the mean, which needs (1.96 * 0.38 / 0.07)^2 = 113, 53 and 1 downloads; the rest is
# room for a larger one. Of 10 kB few lose anything, and those half of their time: 50%, 196 downloads.
LOSSY = {10_000: (40, 6), 100_000: (30, 5), 1_000_000: (30, 3), 10_000_000: (12, 1)}
# Simulated runs of a cell with losses, each with the downloads of a live run.
RUNS = 20
GROUPS = ("lossy", "lossless", "beside")


@dataclass(frozen=True)
class Download:
    """A file of `size` bytes asked for by `request` bytes, at a rate, with a share of lost packets."""

    rate: int
    size: int
    loss: int
    request: int = 200

    @property
    def name(self):
        both = " both ways" if self.request == self.size else ""
        return f"{self.rate} Mbit/s {self.size // 1000} kB{both} {self.loss}%"

    @property
    def group(self):
        return "lossy" if self.loss else "lossless"

    @property
    def count(self):
        """Of downloads of a run. Without losses they are all alike."""
        if self.loss:
            return LOSSY[self.size][0]
        return 3 if self.size < 10_000_000 else 2

    @property
    def runs(self):
        """Live runs."""
        return LOSSY[self.size][1] if self.loss else 1

    @property
    def spacing(self):
        """Seconds from one start to the next, so that each has the link to itself."""
        return round(2.5 + 1.4 * self.size * 8 / (self.rate * 1e6), 1)

    @property
    def seconds(self):
        """How long it takes live, without the start of its processes."""
        return self.runs * self.count * self.spacing

    def run(self, binary, on, seed):
        """The times of the downloads of a run, in seconds."""
        settings = {
            "link.satellite.rate": f"{self.rate} Mbit/s",
            "link.satellite.channel.packet_error_rate": f"{self.loss}%",
            "flow.download.application.request": f"{self.request} B",
            "flow.download.application.response": f"{self.size} B",
            "flow.download.count": str(self.count),
            "flow.download.spacing": f"{self.spacing} s",
        }
        words = [item for path, value in settings.items() for item in ("--set", f"{path}={value}")]
        flows = outcome(binary, HERE / "cell.toml", "--on", on, "--seed", str(seed), *words)
        return [flow["transfer_time_s"] for flow in flows]

    def measured(self, binary):
        seeds = range(1, self.runs + 1)
        return [time for seed in seeds for time in self.run(binary, "linux", seed)]

    def simulated(self, binary):
        runs = RUNS if self.loss else 1
        return [time for seed in range(1, runs + 1) for time in self.run(binary, "sim", seed)]


@dataclass(frozen=True)
class Beside:
    """Several things at once."""

    cell: live.Cell
    group: str = "beside"

    @property
    def name(self):
        return self.cell.name

    @property
    def count(self):
        return self.cell.count or live.PARTS

    @property
    def runs(self):
        return self.cell.runs

    @property
    def seconds(self):
        return self.cell.runs * (self.cell.seconds + live.SETTLES)

    def measured(self, binary):
        command = [sys.executable, str(HERE / "live.py"), self.name]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "BENTPIPE": str(binary)},
        )
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr}")
        return json.loads(done.stdout)

    def simulated(self, binary):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(live.scenario(self.cell, (HERE / "beside.toml").read_text()))
            file.flush()
            flows = outcome(binary, file.name)
        if self.cell.value == "time":
            downloads = [flow for flow in flows if flow["flow"].startswith("download")]
            return [flow["transfer_time_s"] for flow in downloads]
        (datagrams,) = (flow for flow in flows if flow["flow"] == "datagrams")
        if self.cell.value == "delay":
            return [datagrams["mean_packet_delay_ns"] / 1e9]
        return [1 - datagrams["packets_missed"] / datagrams["packets_due"]]


def cells():
    files = [Download(*cell) for cell in ((r, s, p) for r in RATES for s in SIZES for p in LOSSES)]
    files += [Download(20, 10_000, 1), Download(20, 10_000, 3), Download(5, 10_000, 3, 10_000)]
    return files + [Beside(cell) for cell in live.CELLS]


def outcome(binary, scenario, *options):
    """What the flows of a run have yielded."""
    command = [str(binary), "run", str(scenario), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2 or not done.stdout:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    found = json.loads(done.stdout)
    return found.get("measured", found)["flows"]


def measure(binary, jobs, chosen):
    """Measures these cells and stores them; false where one could not be measured."""
    stored = {row["cell"]: row for row in rows()} if TABLE.exists() else {}
    failed = False
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        going = {pool.submit(cell.measured, binary): cell for cell in chosen}
        for future in concurrent.futures.as_completed(going):
            cell = going[future]
            try:
                values = future.result()
            except RuntimeError as error:
                print(error, file=sys.stderr)
                failed = True
                continue
            stored[cell.name] = {
                "cell": cell.name,
                "values": len(values),
                "mean": f"{statistics.mean(values):.4f}",
                "min": f"{min(values):.4f}",
                "max": f"{max(values):.4f}",
                "stdev": f"{statistics.stdev(values):.4f}",
            }
            print(stored[cell.name], file=sys.stderr)
            with open(TABLE, "w", newline="") as file:
                writer = csv.DictWriter(file, list(stored[cell.name]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(stored[c.name] for c in cells() if c.name in stored)
    return not failed


def rows():
    with open(TABLE, newline="") as file:
        return list(csv.DictReader(file))


def chosen(words):
    """The cells of these names and groups."""
    all_cells = cells()
    known = {cell.name for cell in all_cells} | set(GROUPS)
    if unknown := [word for word in words if word not in known]:
        print(f"no cell {unknown[0]!r}: {', '.join(sorted(known))}", file=sys.stderr)
        sys.exit(2)
    return [cell for cell in all_cells if not words or {cell.name, cell.group} & set(words)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--live", action="store_true", help="measure the gateway again")
    parser.add_argument("--jobs", type=int, default=1, help="live runs at a time")
    parser.add_argument(
        "--cells",
        nargs="*",
        default=[],
        help="only these: lossy, lossless, beside, or names such as '20 Mbit/s 100 kB 0%%'",
    )
    parser.add_argument("--plan", action="store_true", help="say what --live would measure")
    parser.add_argument("--bentpipe", type=pathlib.Path, default=ROOT / "target/release/bentpipe")
    arguments = parser.parse_args()
    some = chosen(arguments.cells)
    if arguments.plan:
        for cell in some:
            count = cell.runs * cell.count
            print(f"{cell.name:32}  {count:4} values, {cell.seconds / 60:5.1f} min")
        print(f"{sum(cell.seconds for cell in some) / 60:.0f} min with --jobs 1")
        sys.exit(0)
    if arguments.live:
        if os.geteuid() != 0:
            print("this needs root: namespaces and TUN devices", file=sys.stderr)
            sys.exit(2)
        if not measure(arguments.bentpipe.resolve(), arguments.jobs, some):
            sys.exit(2)
    stored = {row["cell"]: row for row in rows()}
    missed = wide = shown = 0
    print(f"{'cell':32}  {'simulated':>9}  {'gateway':>8}  {'+-':>6}  {'runs':>4}  difference")
    for cell in some:
        row = stored.get(cell.name)
        if row is None:
            print(f"{cell.name:32}  not measured")
            missed += 1
            continue
        ours = statistics.mean(cell.simulated(arguments.bentpipe))
        theirs, count = float(row["mean"]), int(row["values"])
        interval = 1.96 * float(row["stdev"]) / count**0.5
        error = ours / theirs - 1
        shown += 1
        missed += abs(error) > BAR
        wide += interval > INTERVAL_BAR * theirs
        print(
            f"{cell.name:32}  {ours:9.3f}  {theirs:8.3f}  {interval:6.3f}"
            + ("*" if interval > INTERVAL_BAR * theirs else " ")
            + f" {count:4}  {error:+.1%}"
            + ("  MISSED" if abs(error) > BAR else "")
        )
    print(f"{shown} of {len(some)} cells, {missed} beyond {BAR:.0%} or not measured")
    print(f"* {wide} of their 95% intervals are wider than {INTERVAL_BAR:.0%} to each side")
    # The table may be older than the numbers of downloads above.
    sys.exit(1 if missed or (arguments.live and wide) else 0)


if __name__ == "__main__":
    main()
