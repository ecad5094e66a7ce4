#!/usr/bin/env python3
"""One box beside HAProxy: throughput, its cost, new connections, idle connections.

Client, gateway and server are network namespaces joined by veth, without delay. Both programs
intercept by nftables TPROXY, keep the client's address, and move data by splice.
They are measured in turn, several rounds, in the same run; what counts is the median. CPU is
that of the process (user and system, /proc/PID/stat). A Markdown table goes to standard output.

    cargo build --release -p bentpipe-cli --features kernel,gateway -p gateway-bench
    sudo benches/gateway/throughput.py

Needs root, nft, iproute2, iperf3 and haproxy. Python's standard library only.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CLIENT, SERVER = "10.79.1.2", "10.79.2.2"
PORT = 9079
STORM = [f"{SERVER}:{port}" for port in range(7000, 7016)]
TICK = os.sysconf("SC_CLK_TCK")

RULES = f"""
table ip bpthroughput {{
  chain prerouting {{
    type filter hook prerouting priority mangle; policy accept;
    meta l4proto tcp socket transparent 1 meta mark set 1 accept
    iifname "left" meta l4proto tcp tproxy to 127.0.0.1:{PORT} meta mark set 1 accept
  }}
}}
"""

HAPROXY = f"""
global
  maxconn 9000
  maxpipes 500
defaults
  mode tcp
  timeout connect 10s
  timeout client 1h
  timeout server 1h
  option splice-auto
frontend in
  bind 127.0.0.1:{PORT} transparent
  default_backend out
backend out
  option transparent
  source 0.0.0.0 usesrc clientip
"""

GATEWAY = """
role = "single"
[link]
transport = "{control}"
interfaces = ["right"]
[intercept]
interfaces = ["left"]
[status]
control = "{files}/control"
"""


def sh(line):
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{line}: {done.stderr.strip()}")
    return done.stdout


class Net:
    """Three namespaces: client - gateway - server."""

    def __init__(self, name):
        self.name = name
        self.files = Path(tempfile.mkdtemp(prefix=f"{name}-"))
        self.running = []

    def ns(self, node):
        return f"{self.name}-{node}"

    def __enter__(self):
        for node in ("c", "g", "s"):
            subprocess.run(["ip", "netns", "del", self.ns(node)], capture_output=True)
            sh(f"ip netns add {self.ns(node)}")
            self.run(node, "ip link set lo up")
            for key, value in {
                "net.ipv4.ip_forward": 1,
                "net.ipv4.conf.all.rp_filter": 0,
                "net.ipv4.conf.default.rp_filter": 0,
                "net.ipv4.ip_local_port_range": "10000 65000",
                "net.ipv4.tcp_tw_reuse": 1,
                "net.core.somaxconn": 8192,
                "net.ipv4.tcp_max_syn_backlog": 8192,
            }.items():
                self.run(node, f"sysctl -qw {key}='{value}'")
        g = self.ns("g")
        for node, inside, net in (("c", "left", 1), ("s", "right", 2)):
            sh(f"ip link add {inside} netns {g} type veth peer name eth netns {self.ns(node)}")
            self.run("g", f"ip addr add 10.79.{net}.1/24 dev {inside}")
            self.run("g", f"ip link set {inside} up")
            self.run(node, f"ip addr add 10.79.{net}.2/24 dev eth")
            self.run(node, "ip link set eth up")
            self.run(node, f"ip route add default via 10.79.{net}.1")
        return self

    def intercept(self):
        """The rules for HAProxy; the gateway makes its own."""
        self.run("g", "ip rule add fwmark 1 lookup 100")
        self.run("g", "ip route add local 0.0.0.0/0 dev lo table 100")
        rules = self.files / "rules"
        rules.write_text(RULES)
        self.run("g", f"nft -f {rules}")

    def forward(self):
        self.run("g", "nft delete table ip bpthroughput")
        self.run("g", "ip route flush table 100")
        self.run("g", "ip rule del fwmark 1")

    def __exit__(self, *_):
        for process in self.running:
            process.kill()
            process.wait()
        for node in ("c", "g", "s"):
            subprocess.run(["ip", "netns", "del", self.ns(node)], capture_output=True)
        shutil.rmtree(self.files)

    def run(self, node, line):
        return sh(f"ip netns exec {self.ns(node)} {line}")

    def start(self, node, argv, **options):
        # `ip netns exec` becomes the program, so that its pid is the program's.
        argv = ["ip", "netns", "exec", self.ns(node), *map(str, argv)]
        options.setdefault("stdout", subprocess.DEVNULL)
        process = subprocess.Popen(argv, **options)
        self.running.append(process)
        return process

    def end(self, process):
        process.kill()
        process.wait()
        self.running.remove(process)


def cpu(pid):
    """Seconds of CPU that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Relay:
    """HAProxy or the gateway, running in the middle."""

    def __init__(self, net, what, options):
        self.net, self.what = net, what
        if what == "haproxy":
            file = net.files / "haproxy.cfg"
            file.write_text(HAPROXY)
            argv = ["haproxy", "-db", "-q", "-f", file]
            net.intercept()
        else:
            file = net.files / "gateway.toml"
            file.write_text(GATEWAY.format(control=options.control, files=net.files))
            argv = [*options.gateway.split(), file]
        self.process = net.start("g", argv, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(1.5)
        if self.process.poll() is not None:
            raise RuntimeError(f"{what} has ended")
        self.pid = self.process.pid

    def end(self):
        # Not SIGKILL: the gateway removes its rules.
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.net.running.remove(self.process)
        if self.what == "haproxy":
            self.net.forward()


def bulk(net, relay, direction, connections, seconds):
    """Gbit/s, and CPU seconds of the relay for each GB."""
    line = f"iperf3 -J -c {SERVER} -t {seconds} -O 1 -P {connections}"
    if direction == "down":
        line += " -R"
    before = cpu(relay.pid)
    report = json.loads(net.run("c", line))
    used = cpu(relay.pid) - before
    rate = report["end"]["sum_received"]["bits_per_second"]
    # The second that iperf3 leaves out costs as much as each other one.
    moved = rate / 8 * (seconds + 1)
    return rate / 1e9, used / (moved / 1e9)


def short(net, relay, storm, seconds):
    """Short connections, 64 at once."""
    before = cpu(relay.pid)
    line = f"{storm} rate 64 {seconds} {' '.join(STORM)}"
    report = json.loads(net.run("c", line))
    report["cpu_us"] = (cpu(relay.pid) - before) / max(report["connections"], 1) * 1e6
    return report


def idle(net, relay, storm, count):
    """Bytes of resident memory and descriptors for each idle connection."""
    before, files = resident(relay.pid), descriptors(relay.pid)
    holder = net.start(
        "c", [storm, "idle", count, *STORM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    opened = json.loads(holder.stdout.readline())["open"]
    time.sleep(1)
    grown = resident(relay.pid) - before
    more = descriptors(relay.pid) - files
    net.end(holder)
    time.sleep(1)
    return opened, grown / max(opened, 1), more / max(opened, 1)


def measure(options):
    table = {}

    def note(row, what, value):
        table.setdefault(row, {}).setdefault(what, []).append(value)

    with Net(options.name) as net:
        net.start("s", ["iperf3", "-s"])
        net.start("s", [options.storm, "serve", *STORM])
        time.sleep(0.3)
        for round_ in range(options.rounds):
            for what in ("haproxy", "gateway"):
                relay = Relay(net, what, options)
                if round_ == 0 and "idle" in options.parts:
                    # Pages that the first connections touch once are not counted.
                    short(net, relay, options.storm, 1)
                    opened, size, files = idle(net, relay, options.storm, options.idle)
                    note("idle connections open", what, opened)
                    note("RSS, bytes per idle connection", what, size)
                    note("descriptors per idle connection", what, files)
                if "bulk" in options.parts:
                    for direction in ("up", "down"):
                        for connections in (1, 16):
                            rate, cost = bulk(net, relay, direction, connections, options.seconds)
                            case = f"{direction}, {connections} connection{'s'[: connections > 1]}"
                            note(f"{case}: Gbit/s", what, rate)
                            note(f"{case}: CPU s/GB", what, cost)
                if "short" in options.parts:
                    report = short(net, relay, options.storm, options.seconds)
                    note("new connections per s, 64 at once", what, report["per_second"])
                    note("  p50, ms", what, report["p50_ms"])
                    note("  p99, ms", what, report["p99_ms"])
                    note("  failed", what, report["failed"])
                    note("  CPU us per connection", what, report["cpu_us"])
                relay.end()
                print(f"round {round_ + 1}: {what} measured", file=sys.stderr)
    return table


def said(value):
    """A number with three digits that count."""
    return f"{round(value, -1):,.0f}" if value >= 1000 else f"{value:.3g}"


def show(table):
    print("| case | HAProxy | bentpipe gateway |\n|---|---|---|")
    for row, found in table.items():
        cells = []
        for what in ("haproxy", "gateway"):
            values = found[what]
            middle = statistics.median(values)
            spread = f" ({said(min(values))} to {said(max(values))})" if len(values) > 1 else ""
            cells.append(said(middle) + spread)
        print(f"| {row} | {cells[0]} | {cells[1]} |")


def main():
    built = ROOT / "target" / "release"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--idle", type=int, default=5000, help="idle connections")
    parser.add_argument("--control", default="cubic", help="congestion control towards the server")
    parser.add_argument("--parts", default="bulk,short,idle")
    parser.add_argument(
        "--gateway",
        default=f"{os.environ.get('BENTPIPE', built / 'bentpipe')} gateway run",
        help="the command before the file; `target/release/examples/gateway` is quicker to build",
    )
    parser.add_argument("--storm", default=built / "storm", help="the load")
    parser.add_argument("--name", default="bpthru", help="prefix of the namespaces")
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("needs root")
    for program in (options.gateway.split()[0], options.storm):
        if not shutil.which(program):
            sys.exit(f"no {program}: build it as the head of this file says")
    show(measure(options))


if __name__ == "__main__":
    main()
