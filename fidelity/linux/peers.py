#!/usr/bin/env python3
"""curl and iperf3 over `bentpipe emulate` with a kernel congestion control, beside the prediction.

As root, with the command built (`make`), curl, iperf3 and iproute2 installed:

    fidelity/linux/peers.py [--control bp_hybla] [--runs 8]

Downloads with curl are compared by the time from the first to the last byte, iperf3 by what its
receiver got in 30 s; both with what `bentpipe run` says of the same link and control. Exit status:
0 all means within 10%, 1 not, 2 could not run.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BENTPIPE = HERE.parents[1] / "target/release/bentpipe"
BAR = 0.10
SIZE = 5_000_000
SECONDS = 30
SERVER, CLIENT = "bp-peers-server", "bp-peers-client"
# A copy of the control of our own.
COPY = "bp_peers"


def run(command, **more):
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, check=False, **more
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def with_set(*values):
    return [word for value in values for word in ("--set", value)]


def settings(loss, control):
    return with_set(
        f"flow.download.transport={control}",
        "link.satellite.rate=10 Mbit/s",
        "link.satellite.queue=400 packets",
        f'link.satellite.channel={{ kind = "uniform", packet_error_rate = "{loss}" }}',
    )


def predicted(tool, loss, control, runs):
    """The simulator's means: seconds of a download, Mbit/s of iperf3."""
    application = {
        "curl": f'{{ kind = "transfer", size = "{SIZE} B" }}',
        "iperf3": '{ kind = "persistent" }',
    }[tool]
    duration = {"curl": "900 s", "iperf3": f"{SECONDS} s"}[tool]
    values = []
    for seed in range(1, runs + 1):
        more = with_set(f"flow.download.application={application}", f"duration={duration}")
        network = [HERE / "network.toml", *settings(loss, control), *more]
        out = run([BENTPIPE, "run", *network, "--json", "--seed", seed])
        flow = json.loads(out)["flows"][0]
        if tool == "curl":
            values.append((flow["last_delivery_at_ns"] - flow["first_delivery_at_ns"]) / 1e9)
        else:
            values.append(flow["delivered_bytes"] * 8 / SECONDS / 1e6)
    return values


def inside(namespace, *command):
    return ["ip", "netns", "exec", namespace, *command]


def measured(tool, loss, control, runs, folder):
    """The same from real sockets, one run after the other over one emulator."""
    network = [HERE / "network.toml", *settings(loss, control)]
    hosts = ["--namespace", f"server={SERVER}", "--namespace", f"client={CLIENT}"]
    emulator = subprocess.Popen(
        [str(c) for c in [BENTPIPE, "emulate", *network, "--json", *hosts]],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    server = None
    values = []
    try:
        routes = ["-n", CLIENT, "route", "show"]
        for _ in range(100):
            if subprocess.run(["ip", *routes], capture_output=True, check=False).stdout:
                break
            time.sleep(0.1)
        route = run(["ip", "-n", SERVER, "route", "show"]).split("\n")[0].split()
        own, peer, device = route[route.index("src") + 1], route[0], route[route.index("dev") + 1]
        route = f"route change {peer} dev {device} src {own} congctl {COPY}"
        run(["ip", "-n", SERVER, *route.split()])
        # What one connection leaves in the route's metrics would help the next.
        run(inside(SERVER, "sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1"))
        if tool == "curl":
            server = subprocess.Popen(
                inside(SERVER, sys.executable, "-m", "http.server", "8000", "--directory", folder),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        else:
            server = subprocess.Popen(
                inside(SERVER, "iperf3", "-s", "-p", "8000"), stdout=subprocess.DEVNULL
            )
        time.sleep(1)
        for _ in range(runs):
            if tool == "curl":
                quiet = ["-s", "-o", "/dev/null", "--max-time", "800"]
                shown = ["-w", "%{time_starttransfer} %{time_total}"]
                out = run(inside(CLIENT, "curl", *quiet, *shown, f"http://{own}:8000/file"))
                first, last = map(float, out.split())
                values.append(last - first)
            else:
                out = run(
                    inside(
                        CLIENT, "iperf3", "-c", own, "-p", "8000", "-R", "-t", str(SECONDS), "-J"
                    ),
                    timeout=SECONDS + 60,
                )
                values.append(json.loads(out)["end"]["sum_received"]["bits_per_second"] / 1e6)
    finally:
        if server:
            server.terminate()
            server.wait()
        emulator.terminate()
        report = emulator.communicate()[0]
    verdict = json.loads(report)
    return values, verdict


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--control", default="bp_hybla")
    parser.add_argument("--runs", type=int, default=8, help="runs where packets are lost at random")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("this needs root: namespaces, TUN devices and eBPF")
    run([BENTPIPE, "kernel", "load", arguments.control, "--as", COPY])
    missed = False
    try:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "file").write_bytes(os.urandom(SIZE))
            for tool, unit in [("curl", "s"), ("iperf3", "Mbit/s")]:
                for loss in ["0%", "0.5%"]:
                    runs = 1 if loss == "0%" else arguments.runs
                    ours = statistics.mean(
                        predicted(tool, loss, arguments.control, 1 if loss == "0%" else 4 * runs)
                    )
                    theirs, _ = measured(tool, loss, arguments.control, runs, folder)
                    ratio = ours / statistics.mean(theirs)
                    missed |= abs(ratio - 1) > BAR
                    each = ", ".join(f"{value:.2f}" for value in theirs)
                    print(
                        f"{tool:6} loss {loss:4}  predicted {ours:7.3f} {unit}, measured "
                        f"{statistics.mean(theirs):7.3f} ({each}), ratio {ratio:.3f}",
                        flush=True,
                    )
    finally:
        run([BENTPIPE, "kernel", "unload", COPY])
    sys.exit(int(missed))


if __name__ == "__main__":
    main()
