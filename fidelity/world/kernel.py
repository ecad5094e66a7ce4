#!/usr/bin/env python3
"""The test bed of others on a real kernel, in virtual time: a download over a satellite hop and a
lossy hop, both of netem, as lanman2023 (cs7org, MIT) built it with containers.

    fidelity/world/kernel.py [--kernel 6.12] [--cell cubic,10,100,1]... [--runs 3] [--offload on|off]
                             [--seconds 60] [--out FILE.csv]

Four namespaces in a guest of fidelity/linux/vm.py: server - satellite router - access router -
client. The satellite hop has rate, delay each way and netem's limit of 1000 packets in both
directions; the access hop loses the given per cent of what passes, in both directions. iperf3 sends
from the server; goodput is what arrived over the time to its last byte. `--offload off` switches
segmentation offload and its reassembly off on every interface, so that netem meets single packets."""

import argparse
import concurrent.futures
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "linux"))
import vm  # noqa: E402

vm.MODULES += ["sch_netem", "sch_fq"]
vm.PROGRAMS += ["tc", "iperf3", "ss", "nstat", "ethtool"]

SETUP = """
set -e
for n in a s w b; do ip netns add $n; ip -n $n link set lo up; done
join() { # namespace, its end, namespace, its end
  ip link add $2 netns $1 type veth peer name $4 netns $3; ip -n $1 link set $2 up; ip -n $3 link set $4 up; }
join a a0 s s0; join s s1 w w0; join w w1 b b0
ip -n a addr add 10.0.1.1/24 dev a0; ip -n s addr add 10.0.1.2/24 dev s0
ip -n s addr add 10.0.2.1/24 dev s1; ip -n w addr add 10.0.2.2/24 dev w0
ip -n w addr add 10.0.3.1/24 dev w1; ip -n b addr add 10.0.3.2/24 dev b0
for n in s w; do ip netns exec $n sysctl -qw net.ipv4.ip_forward=1; done
ip -n a route add default via 10.0.1.2; ip -n b route add default via 10.0.3.1
ip -n s route add 10.0.3.0/24 via 10.0.2.2; ip -n w route add 10.0.1.0/24 via 10.0.2.1
modprobe() { :; }
"""


def script(cells, runs, seconds, offload):
    lines = [SETUP]
    if offload == "off":
        lines.append(
            "for x in a:a0 s:s0 s:s1 w:w0 w:w1 b:b0; do ip netns exec ${x%:*} ethtool -K ${x#*:} tso off gso off gro off; done"
        )
    number = 0
    for cc, rate, delay, loss in cells:
        for run in range(runs):
            number += 1
            lines.append(f"""
for x in s:s1 w:w0; do ip netns exec ${{x%:*}} tc qdisc replace dev ${{x#*:}} root netem limit 1000 rate {rate}mbit delay {delay}ms; done
for x in w:w1 b:b0; do ip netns exec ${{x%:*}} tc qdisc replace dev ${{x#*:}} root netem limit 1000 loss {loss}% seed {1000 * run + 7}; done
ip netns exec b iperf3 -s -1 -J > /root/results/{number}.client.json 2>/dev/null & S=$!
sleep 1
ip netns exec a ip tcp_metrics flush all 2>/dev/null || true
ip netns exec a iperf3 -c 10.0.3.2 -t {seconds} -C {cc} -J --get-server-output > /root/results/{number}.json 2>/root/results/{number}.err || true
wait $S || true
""")
    return "\n".join(lines)


def measure(part):
    index, cells, given = part
    out = pathlib.Path(given.work) / f"part{index}"
    vm.run(given.kernel, script(cells, given.runs, given.seconds, given.offload), out=out, timeout=3000)
    rows, number = [], 0
    for cell in cells:
        for run in range(given.runs):
            number += 1
            try:
                end = json.loads((out / f"{number}.json").read_text())["end"]
                got = end["sum_received"]
                rows.append((*cell, run, got["bits_per_second"] / 1e6, end["sum_sent"]["retransmits"]))
            except (OSError, ValueError, KeyError) as error:
                print(f"{cell} run {run}: {error}", file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", choices=vm.PACKAGES, default="6.12")
    parser.add_argument("--cell", action="append", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--offload", choices=["on", "off"], default="on")
    parser.add_argument("--work", default="/tmp/world")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    cells = [tuple(cell.split(",")) for cell in given.cell]
    pathlib.Path(given.work).mkdir(parents=True, exist_ok=True)
    parts = [(i, cells[i :: given.jobs], given) for i in range(given.jobs) if cells[i :: given.jobs]]
    print("cc,rate_mbit,delay_ms,loss_percent,run,goodput_mbit,retransmits")
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for rows in pool.map(measure, parts):
            for row in rows:
                print(*row, sep=",", flush=True)


if __name__ == "__main__":
    main()
