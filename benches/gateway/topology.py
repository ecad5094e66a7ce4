#!/usr/bin/env python3
"""Namespaces for trying a gateway: client - terminal - satellite - hub - server.

The satellite is `bentpipe emulate --between` in a namespace of its own, or a plain pair of
interfaces. Everything is removed at the end, also after an error or Ctrl-C. Needs root and
iproute2; outages need nft. Python's standard library only.

    with Topology("try", Link(rate="20 Mbit/s", rtt="550 ms", loss="3%")) as net:
        net.start("server", ["iperf3", "-s"])
        with net.outage():
            time.sleep(10)

By hand, until it is interrupted:

    topology.py --rate '20 Mbit/s' --rtt '550 ms' --loss 1%
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Nodes, and the networks between neighbours: number of the network, left and right node.
NODES = ("client", "terminal", "hub", "server")
WIRES = ((1, "client", "terminal"), (2, "terminal", "hub"), (3, "hub", "server"))
# A further WAN, where there is one: what its interfaces are called, and its namespace.
WAN = (4, "terminal", "hub")
SATELLITES = {2: ("sat", "satellite"), 4: ("wwan", "wan")}

CLIENT = "10.77.1.2"
TERMINAL = "10.77.1.1"
TERMINAL_SATELLITE = "10.77.2.1"
HUB_SATELLITE = "10.77.2.2"
TERMINAL_WAN = "10.77.4.1"
HUB_WAN = "10.77.4.2"
HUB = "10.77.3.1"
SERVER = "10.77.3.2"
SERVER_V6 = "fd77:3::2"

# So that a million connections find ports, and each run begins without a memory.
SYSCTLS = {
    "net.ipv4.ip_forward": 1,
    "net.ipv4.conf.all.rp_filter": 0,
    "net.ipv4.conf.default.rp_filter": 0,
    "net.ipv4.ip_local_port_range": "10000 65000",
    "net.ipv4.tcp_tw_reuse": 1,
    "net.ipv4.tcp_no_metrics_save": 1,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.tcp_max_syn_backlog": 16384,
    "net.core.somaxconn": 16384,
    "net.ipv6.conf.all.forwarding": 1,
    "net.ipv6.conf.all.accept_dad": 0,
    "net.ipv6.conf.default.accept_dad": 0,
}


@dataclass(frozen=True)
class Link:
    """The satellite link, the same both ways."""

    rate: str = "20 Mbit/s"
    rtt: str = "550 ms"
    loss: str = "0%"
    queue: str = "1 BDP"
    seed: int = 1

    def scenario(self):
        lossy = self.loss not in ("0", "0%")
        channel = (
            f'channel = {{ kind = "uniform", packet_error_rate = "{self.loss}" }}' if lossy else ""
        )
        return f"""
duration = "1 h"
seed = {self.seed}
[node.hub]
[node.terminal]
[link.satellite]
between = ["hub", "terminal"]
rate = "{self.rate}"
round_trip_delay = "{self.rtt}"
queue = "{self.queue}"
{channel}
[flow.any]
from = "hub"
to = "terminal"
transport = "cubic"
application = "persistent"
"""


def built(variable, program, how):
    """A program: what an environment variable names, or the newest that cargo has built here."""
    if os.environ.get(variable):
        return os.environ[variable]
    paths = [ROOT / "target" / profile / program for profile in ("release", "debug")]
    paths = [path for path in paths if path.exists()]
    if not paths:
        sys.exit(f"no {program}: cargo build --release {how}")
    return str(max(paths, key=lambda path: path.stat().st_mtime))


def bentpipe():
    """The command with the emulator."""
    return built("BENTPIPE", "bentpipe", "--features bentpipe-cli/kernel,bentpipe-cli/gateway")


def command(*argv, check=True, quiet=False):
    done = subprocess.run(argv, capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Topology:
    """The namespaces; `link` is None for a plain pair of interfaces without delay. `wan` is a second
    link between terminal and hub; the hub is reached at the same address over both."""

    def __init__(self, name="bpbench", link=None, wan=None):
        self.name = name
        self.link = link
        self.wan = wan
        self.processes = []
        # When the emulator began, by time.monotonic().
        self.emulated = None
        self.files = Path(tempfile.mkdtemp(prefix=f"{name}-"))

    def ns(self, node):
        return f"{self.name}-{node}"

    def __enter__(self):
        try:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
            self._remove()
            self._make()
            if self.link:
                self._emulate(2, self.link, HUB_SATELLITE)
            if self.wan:
                self._emulate(4, self.wan, HUB_WAN)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def run(self, node, *argv, check=True):
        """Runs a command to its end; its output."""
        return command("ip", "netns", "exec", self.ns(node), *argv, check=check)

    def start(self, node, argv, log=None, **options):
        """Starts a program on a node; it ends with the topology. `log` is the name of a file
        in `files`, and takes its standard error, and its output unless that is asked for."""
        if log:
            file = open(self.files / log, "ab")
            options.setdefault("stdout", file)
            options.setdefault("stderr", file)
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.ns(node), *map(str, argv)], **options
        )
        self.processes.append(process)
        return process

    @contextlib.contextmanager
    def outage(self, number=2, nodes=("terminal", "hub")):
        """Nothing passes the satellite, or the further WAN, towards `nodes`."""
        interface = SATELLITES[number][0]
        table = f"outage_{interface}"
        for node in nodes:
            self.run(
                node,
                "nft",
                f"add table inet {table}; add chain inet {table} in "
                "{ type filter hook prerouting priority -400; }; "
                f"add rule inet {table} in iifname {interface} drop",
            )
        try:
            yield
        finally:
            for node in nodes:
                self.run(node, "nft", f"delete table inet {table}")

    @contextlib.contextmanager
    def without_udp(self, nodes=("hub",)):
        """UDP does not pass the satellite towards `nodes`."""
        for node in nodes:
            self.run(
                node,
                "nft",
                "add table inet noudp; add chain inet noudp in "
                "{ type filter hook prerouting priority -400; }; "
                "add rule inet noudp in iifname sat meta l4proto udp drop",
            )
        try:
            yield
        finally:
            for node in nodes:
                self.run(node, "nft", "delete table inet noudp")

    def close(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        end = time.monotonic() + 5
        for process in self.processes:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._remove()
        shutil.rmtree(self.files, ignore_errors=True)

    def _remove(self):
        there = command("ip", "netns", "list").split()
        for node in (*NODES, *(space for _, space in SATELLITES.values())):
            if self.ns(node) in there:
                for pid in command("ip", "netns", "pids", self.ns(node), check=False).split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                command("ip", "netns", "del", self.ns(node), check=False)

    def _make(self):
        for node in NODES:
            command("ip", "netns", "add", self.ns(node))
            for key, value in SYSCTLS.items():
                self.run(node, "sysctl", "-qw", f"{key}={value}", check=False)
            self.run(node, "ip", "link", "set", "lo", "up")
        for number, left, right in (*WIRES, *((WAN,) if self.wan else ())):
            self._wire(number, left, right)
        self._routes()

    def _pair(self, left, name, right, peer):
        """Two interfaces at the ends of one wire."""
        left, right = self.ns(left), self.ns(right)
        words = f"ip link add {name} netns {left} type veth peer name {peer} netns {right}"
        command(*words.split())

    def _wire(self, number, left, right):
        """A pair of interfaces, each named by what it leads to."""
        ends = [(left, right), (right, left)]
        interface, space = SATELLITES.get(number, (None, None))
        names = [interface or to for _, to in ends]
        if interface and (self.link or number != 2):
            command("ip", "netns", "add", self.ns(space))
            for (node, _), name, port in zip(ends, names, ("terminal", "hub")):
                self._pair(node, name, space, port)
                self.run(space, "sysctl", "-qw", f"net.ipv6.conf.{port}.disable_ipv6=1")
                self.run(space, "ip", "link", "set", port, "up")
        else:
            self._pair(left, names[0], right, names[1])
        for (node, _), name, last in zip(ends, names, (2, 1) if number == 1 else (1, 2)):
            self.run(node, "ip", "address", "add", f"10.77.{number}.{last}/24", "dev", name)
            self.run(
                node, "ip", "address", "add", f"fd77:{number}::{last}/64", "dev", name, "nodad"
            )
            self.run(node, "ip", "link", "set", name, "up")

    def _routes(self):
        for node, via in (("client", 1), ("server", 3)):
            self.run(node, "ip", "route", "add", "default", "via", f"10.77.{via}.1")
            self.run(node, "ip", "route", "add", "default", "via", f"fd77:{via}::1")
        self.run("terminal", "ip", "route", "add", "default", "via", "10.77.2.2")
        self.run("terminal", "ip", "route", "add", "default", "via", "fd77:2::2")
        if self.wan:
            # Packets that are bound to it find the hub by this one.
            words = f"ip route add default via {HUB_WAN} dev wwan metric 100"
            self.run("terminal", *words.split())
        self.run("hub", "ip", "route", "add", "10.77.1.0/24", "via", "10.77.2.1")
        self.run("hub", "ip", "route", "add", "fd77:1::/64", "via", "fd77:2::1")

    def _emulate(self, number, link, hub):
        _, space = SATELLITES[number]
        file = self.files / f"{space}.toml"
        file.write_text(link.scenario())
        log = f"emulator-{space}.log"
        emulator = self.start(
            space,
            [bentpipe(), "emulate", file, "--between", "hub,terminal", "--for", "12 h"],
            log=log,
        )
        begin = time.monotonic()
        self.emulated = self.emulated or begin
        while not self._passes(hub):
            end = begin + 20
            if time.monotonic() > end or emulator.poll() is not None:
                raise RuntimeError(
                    "the emulator does not carry a packet: " + (self.files / log).read_text()
                )
            time.sleep(0.2)

    def _passes(self, hub):
        """True if a packet comes back: the refusal of a port where nothing listens."""
        ask = f"import socket; socket.create_connection(({hub!r}, 9), 3)"
        asked = subprocess.run(
            ["ip", "netns", "exec", self.ns("terminal"), sys.executable, "-c", ask],
            capture_output=True,
            text=True,
        )
        return "ConnectionRefused" in asked.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", default="bpbench")
    parser.add_argument("--rate", help="without a rate a plain pair of interfaces")
    parser.add_argument("--rtt", default="550 ms")
    parser.add_argument("--loss", default="0%")
    args = parser.parse_args()
    link = Link(args.rate, args.rtt, args.loss) if args.rate else None
    with Topology(args.name, link) as net:
        print(
            f"client {CLIENT} - {TERMINAL} terminal {TERMINAL_SATELLITE} - "
            f"{HUB_SATELLITE} hub {HUB} - {SERVER} server"
        )
        print("namespaces:", *map(net.ns, NODES))
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
