"""Our side: writes each cell as a study over network.toml and runs it with `bentpipe study`."""

import csv
import json
import subprocess
import zlib
from pathlib import Path

from statistic import estimate

HERE = Path(__file__).resolve().parent
SCENARIO = HERE / "network.toml"

# Runs of a cell: as many as ns-2 had, or this many with --quick.
QUICK = 4
# Of a short cell at least so many: ours are cheap.
SHORT = 32
BOTTLENECK_MS = 10

RED = {"preset": "ns-2001", "mean_packet": "1540 B"}  # 5 and 15 packets, weight 0.002


def queue(cell):
    """The queue at R1. ns-2's limit_ 50 lets 49 packets wait in a drop-tail queue, 50 in RED."""
    if cell.queue == "droptail":
        return f"{cell.limit - 1} packets"
    red = {"kind": cell.queue, **RED, "limit": f"{cell.limit} packets"}
    if cell.ecn:
        red["ecn"] = True
    if cell.queue == "adaptive-red":
        # bottom_ 0 of ns-2.35: 80 kbit/s over the link's rate.
        red["bottom"] = f"{8 / cell.rate:g}%"
    return red


def runs(cell, of_ns2):
    return max(of_ns2, SHORT) if cell.duration and not cell.deterministic else of_ns2


class Failed(Exception):
    """bentpipe could not run a study."""


def settings(cell, transport):
    """The values of the scenario that make it this cell."""
    channel = "perfect"
    if cell.per:
        channel = {"kind": "uniform", "packet_error_rate": f"{cell.per * 100:g}%"}
        if cell.burst > 1:
            channel = {"kind": "gilbert-elliott", "packet_error_rate": f"{cell.per * 100:g}%",
                       "mean_burst": cell.burst}  # fmt: skip
    values = {
        "duration": f"{cell.duration_s()} s",
        "flow.test.transport": transport,
        "node.sender.count": 1 + cell.peers,
        "node.receiver.count": 1 + cell.peers,
        "link.satellite.one_way_delay": f"{cell.rtt / 2 - BOTTLENECK_MS:g} ms",
        "link.satellite.rate": f"{cell.access_mbps()} Mbit/s",
        "link.satellite.queue": f"{cell.access_limit() - 1} packets",
        "link.satellite.channel": channel,
        "link.satellite.reverse.channel": (
            {"kind": "uniform", "packet_error_rate": f"{cell.ack_per * 100:g}%"} if cell.ack_per else "perfect"),
        "link.bottleneck.rate": f"{cell.rate:g} Mbit/s",
        "link.bottleneck.queue": queue(cell),
        "link.bottleneck.reverse.queue": f"{cell.limit - 1 if cell.reverse else 100000} packets",
        f"transport.{transport}.initial_ssthresh": cell.window(),
        f"transport.{transport}.delayed_ack.count": 2 if cell.delack else 1,
        f"transport.{transport}.ecn": cell.ecn,
        "transport.ns-ground.ecn": cell.ecn,
        # The reverse flows share the hosts of the ground flows.
        "flow.reverse.count": max(1, cell.reverse),
    }  # fmt: skip
    values["node.ground-sender.count"] = values["node.ground-receiver.count"] = max(1, cell.ground)
    # The scenario always has these flows: here their SYN is still under way when the run ends.
    for name, present in (("ground", cell.ground), ("reverse", cell.reverse)):
        if not present:
            values[f"flow.{name}.start"] = f"{cell.duration_s() - 0.001:.3f} s"
    return values


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(v)}" for key, v in value.items()) + " }"
    return json.dumps(value)


def study(cell, transport, replications):
    """A study of one cell. Each has seeds of its own, so that what is by chance in one is not in another."""
    seed = zlib.crc32(f"ours: {cell}".encode())
    lines = [
        f"{json.dumps(path)} = {toml(value)}\n" for path, value in settings(cell, transport).items()
    ]
    return (f'name = "{cell.slug}"\ntitle = {json.dumps(str(cell))}\nscenario = {json.dumps(str(SCENARIO))}\n'
            f'replications = {replications}\nseed = {seed}\nstart_jitter = "100 ms"\n\n[set]\n{"".join(lines)}')  # fmt: skip


def measure(program, folder, table, cells, runs, say):
    """What our flows under test did, by the name of the cell."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {}
    for number, cell in enumerate(cells, 1):
        file = folder / f"{cell.slug}.toml"
        file.write_text(study(cell, table.mechanisms[cell.mechanism]["transport"], runs[str(cell)]))
        command = [program, "study", str(file), "--out", str(folder), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode > 1 and "the journal is of" in done.stderr:
            # Of another build or another form of the scenario: its runs do not count any more.
            done = subprocess.run([*command, "--fresh"], capture_output=True, text=True)
        if done.returncode > 1:
            raise Failed(f"{cell}: {done.stderr.strip()[-2000:]}")
        rows[str(cell)] = row = read(folder / cell.slug / "runs.csv", cell)
        say(
            f"[{number}/{len(cells)}] {cell}: {row['goodput'].mean / 1e6:.4f} Mbit/s, {runs[str(cell)]} runs"
        )
    return rows


def read(path, cell):
    """Means over the replications of a study, of flows under test and of ground flows."""
    runs = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            runs.setdefault(row["seed"], []).append(row)
    return summary(cell, runs)


COUNTERS = {"sent": "packets_sent", "retransmitted": "retransmissions", "timeouts": "timeouts",
            "queue_drops": "queue_drops", "channel_losses": "channel_losses"}  # fmt: skip


def summary(cell, by_seed):
    tested = [
        [flow for flow in flows if flow["flow"].startswith("test")] for flows in by_seed.values()
    ]
    ground = [
        [flow for flow in flows if flow["flow"].startswith("ground")] for flows in by_seed.values()
    ]
    result = {"goodput": estimate([mean(flows, "goodput_bps") for flows in tested])}
    for ours, theirs in COUNTERS.items():
        result[ours] = sum(mean(flows, theirs) for flows in tested) / len(tested)
    if cell.ground:
        result["ground"] = estimate([mean(flows, "goodput_bps") for flows in ground])
    return result


def mean(flows, key):
    return sum(float(flow[key]) for flow in flows) / len(flows)
