"""Our side: writes the cells as a study over network.toml and runs it with `bentpipe study`."""

import csv
import json
import subprocess
from pathlib import Path

from statistic import estimate

HERE = Path(__file__).resolve().parent
SCENARIO = HERE / "network.toml"

# Runs of a cell: as many as ns-2 had, rounded up to one of these, so that few studies serve all.
REPLICATIONS = (4, 8, 16, 32, 64, 128, 256, 512)
QUICK = 4
BOTTLENECK_MS = 10

RED = {"preset": "ns-2001", "limit": "50 packets", "mean_packet": "1540 B"}  # 5 and 15 packets, weight 0.002
QUEUES = {
    # ns-2's limit_ 50 lets 49 packets wait in a drop-tail queue, 50 in RED.
    "droptail": "49 packets",
    "red": {"kind": "red", **RED},
    # bottom_ 0 of ns-2.35: 80 kbit/s over the link's rate.
    "adaptive-red": {"kind": "adaptive-red", **RED, "bottom": "0.8%"},
}


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
        "link.satellite.queue": f"{cell.access_limit()} packets",
        "link.satellite.channel": channel,
        "link.bottleneck.queue": QUEUES[cell.queue],
        f"transport.{transport}.initial_ssthresh": cell.window(),
        f"transport.{transport}.delayed_ack.count": 2 if cell.delack else 1,
    }
    values["node.ground-sender.count"] = values["node.ground-receiver.count"] = max(1, cell.ground)
    if not cell.ground:
        # The scenario always has a ground flow: here its SYN is still under way when the run ends.
        values["flow.ground.start"] = f"{cell.duration_s() - 0.001:.3f} s"
    return values


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(v)}" for key, v in value.items()) + " }"
    return json.dumps(value)


def study(name, cells, mechanisms, replications):
    points = [f"  {{ label = {json.dumps(str(cell))}, set = "
              f"{toml(settings(cell, mechanisms[cell.mechanism]['transport']))} }},\n" for cell in cells]  # fmt: skip
    return (f'name = "{name}"\ntitle = "Cells of the fidelity study"\n'
            f"scenario = {json.dumps(str(SCENARIO))}\n"
            f'replications = {replications}\nseed = 1\nstart_jitter = "100 ms"\n\n'
            f'[[axis]]\nname = "cell"\npoints = [\n{"".join(points)}]\n')  # fmt: skip


def grouped(cells, runs):
    """Cells by (mechanism, replications): each group is a study."""
    groups = {}
    for cell in cells:
        wanted = next((n for n in REPLICATIONS if n >= runs[str(cell)]), REPLICATIONS[-1])
        groups.setdefault((cell.mechanism, wanted), []).append(cell)
    return groups


def measure(program, folder, table, cells, runs, say):
    """What our flows under test did, by the name of the cell."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {}
    groups = grouped(cells, runs)
    for number, ((mechanism, replications), members) in enumerate(groups.items(), 1):
        name = f"{mechanism}-{replications}"
        say(f"[{number}/{len(groups)}] {name}: {len(members)} cells, {replications} runs each")
        file = folder / f"{name}.toml"
        file.write_text(study(name, members, table.mechanisms, replications))
        done = subprocess.run([program, "study", str(file), "--out", str(folder), "--json"],
                              capture_output=True, text=True)  # fmt: skip
        if done.returncode > 1:
            raise Failed(f"{name}: {done.stderr.strip()[-2000:]}")
        rows.update(read(folder / name / "runs.csv", members))
    return rows


def read(path, cells):
    """Means over the replications of a study, of flows under test and of ground flows."""
    runs = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            runs.setdefault(row["cell"], {}).setdefault(row["seed"], []).append(row)
    return {str(cell): summary(cell, runs[str(cell)]) for cell in cells if str(cell) in runs}


COUNTERS = {"sent": "packets_sent", "retransmitted": "retransmissions", "timeouts": "timeouts",
            "queue_drops": "queue_drops", "channel_losses": "channel_losses"}  # fmt: skip


def summary(cell, by_seed):
    tested = [[flow for flow in flows if flow["flow"].startswith("test")] for flows in by_seed.values()]
    ground = [[flow for flow in flows if flow["flow"].startswith("ground")] for flows in by_seed.values()]
    result = {"goodput": estimate([mean(flows, "goodput_bps") for flows in tested])}
    for ours, theirs in COUNTERS.items():
        result[ours] = sum(mean(flows, theirs) for flows in tested) / len(tested)
    if cell.ground:
        result["ground"] = estimate([mean(flows, "goodput_bps") for flows in ground])
    return result


def mean(flows, key):
    return sum(float(flow[key]) for flow in flows) / len(flows)
