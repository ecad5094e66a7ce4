#!/usr/bin/env python3
"""What segmentation offload does to measurements over netem: Linux with and without, and the simulator.

    fidelity/linux/offload.py [--runs 9] [--jobs 2] [--kernel 6.12] [--out FILE.csv]

Linux hands segments to an interface in twos or more, as one packet that a network card would cut
(TSO, GSO). A veth device never cuts them, and netem drops them whole, so that losses come in pairs
and loss events are half as many as the loss rate says. A link of a satellite loses packets of the
wire. Published test beds of containers and netem have the first, the simulator and `bentpipe
emulate` the second.

Four namespaces of a guest in virtual time (vm.py): server, two routers, client. The first hop has
10 Mbit/s and a delay each way, the second loses 1% both ways, both by netem with its limit of 1000
packets. iperf3 sends for 60 s with cubic, with segmentation offload as it is and switched off
(`ethtool -K DEV tso off gso off gro off`). The simulator runs offload.toml with as many seeds.
Exit status: 0 the simulator is within 10% of single segments on average, 1 not, 2 could not run."""

import argparse
import concurrent.futures
import csv
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import vm

HERE = Path(__file__).resolve().parent
SCENARIO = HERE / "offload.toml"
DELAYS_MS = (10, 50, 100, 300)
SECONDS = 60
BAR = 0.10
# Two-sided 95% quantiles of Student's t for 1, 2, ... degrees of freedom.
STUDENT = (12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14)

# The shell of the guest has a small `ip` of its own.
NETWORK = """
IP=/usr/bin/ip
for node in server first second client; do $IP netns add $node; $IP -n $node link set lo up; done
join() { $IP link add $2 netns $1 type veth peer name $4 netns $3; $IP -n $1 link set $2 up; $IP -n $3 link set $4 up; }
join server s0 first f0; join first f1 second r0; join second r1 client c0
$IP -n server addr add 10.0.1.1/24 dev s0; $IP -n first addr add 10.0.1.2/24 dev f0
$IP -n first addr add 10.0.2.1/24 dev f1; $IP -n second addr add 10.0.2.2/24 dev r0
$IP -n second addr add 10.0.3.1/24 dev r1; $IP -n client addr add 10.0.3.2/24 dev c0
for node in first second; do $IP netns exec $node /usr/bin/sysctl -qw net.ipv4.ip_forward=1; done
$IP -n server route add default via 10.0.1.2; $IP -n client route add default via 10.0.3.1
$IP -n first route add 10.0.3.0/24 via 10.0.2.2; $IP -n second route add 10.0.1.0/24 via 10.0.2.1
netem() { $IP netns exec $1 tc qdisc replace dev $2 root netem limit 1000 $3; }
"""
SINGLE = """
for end in server:s0 first:f0 first:f1 second:r0 second:r1 client:c0; do
$IP netns exec ${end%:*} ethtool -K ${end#*:} tso off gso off gro off; done
"""
DOWNLOAD = """
netem first f1 'rate 10mbit delay DELAYms'; netem second r0 'rate 10mbit delay DELAYms'
netem second r1 'loss 1%'; netem client c0 'loss 1%'
$IP netns exec server $IP tcp_metrics flush all 2>/dev/null
$IP netns exec client iperf3 -s -1 >/dev/null 2>&1 & listener=$!
sleep 1; $IP netns exec server iperf3 -c 10.0.3.2 -t SECONDS -C cubic -J > /root/results/RUN.json
wait $listener
"""


def measured(kernel, whole, delay_ms, runs):
    """Mbit/s of each run on Linux."""
    downloads = [
        DOWNLOAD.replace("DELAY", str(delay_ms))
        .replace("SECONDS", str(SECONDS))
        .replace("RUN", str(run))
        for run in range(runs)
    ]
    script = NETWORK + ("" if whole else SINGLE) + "".join(downloads)
    with tempfile.TemporaryDirectory() as out:
        vm.run(
            kernel,
            script,
            out=out,
            timeout=7200,
            modules=["sch_netem"],
            programs=["tc", "iperf3", "ethtool"],
        )
        found = [json.loads((Path(out) / f"{run}.json").read_text()) for run in range(runs)]
    return [result["end"]["sum_received"]["bits_per_second"] / 1e6 for result in found]


def simulated(delay_ms, runs):
    """Mbit/s of each seed in the simulator."""
    delay = f"link.satellite.one_way_delay='{delay_ms} ms'"
    command = [vm.BENTPIPE, "run", SCENARIO, "--json", "--set", delay]
    found = []
    for seed in range(1, runs + 1):
        done = subprocess.run(
            [*command, "--seed", str(seed)], capture_output=True, text=True, check=True
        )
        found.append(json.loads(done.stdout)["flows"][0]["goodput_bps"] / 1e6)
    return found


def mean_and_half(values):
    """The mean and half of its 95% interval."""
    degrees = len(values) - 1
    quantile = STUDENT[min(degrees, len(STUDENT)) - 1]
    return statistics.mean(values), quantile * statistics.stdev(values) / len(values) ** 0.5


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=9, help="of each cell, from 2 on")
    parser.add_argument("--jobs", type=int, default=2, help="guests at the same time")
    parser.add_argument("--kernel", choices=vm.PACKAGES, default="6.12")
    parser.add_argument("--out", type=Path, help="the rate of each run as CSV")
    given = parser.parse_args()
    cells = [(whole, delay) for delay in DELAYS_MS for whole in (True, False)]
    try:
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            rates = pool.map(lambda cell: measured(given.kernel, *cell, given.runs), cells)
            found = dict(zip(cells, rates, strict=True))
        ours = {delay: simulated(delay, given.runs) for delay in DELAYS_MS}
    except (vm.CannotRun, OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if given.out:
        rows = [("whole" if w else "single", d, *found[w, d]) for w, d in cells]
        rows += [("simulated", delay, *ours[delay]) for delay in DELAYS_MS]
        with given.out.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["segments", "delay_ms", *(f"run_{n}" for n in range(given.runs))])
            writer.writerows([*r[:2], *(f"{x:.4f}" for x in r[2:])] for r in rows)
    print(
        "| round trip | segments whole (Linux' default) | single | whole / single | simulated | to single |"
    )
    print("|---|---|---|---|---|---|")
    ratios, off = [], []
    for delay in DELAYS_MS:
        sides = [mean_and_half(x) for x in (found[True, delay], found[False, delay], ours[delay])]
        (whole, _), (single, _), (model, _) = sides
        ratios.append(whole / single)
        off.append(model / single - 1)
        whole_text, single_text, model_text = (f"{m:.2f} ±{half:.2f}" for m, half in sides)
        print(
            f"| {2 * delay} ms | {whole_text} | {single_text} | {ratios[-1]:.2f} | {model_text} | {off[-1]:+.0%} |"
        )
    print(
        f"\n{given.runs} runs of each: whole segments carry {statistics.mean(ratios):.2f} times as much on "
        f"average; the simulator is off by {statistics.mean(off):+.0%} on average."
    )
    return 0 if abs(statistics.mean(off)) <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
