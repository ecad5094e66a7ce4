"""The audit's bed: namespaces, a satellite between two TUN interfaces, and the gateway's boxes.

client - terminal - satellite - hub - server, by IPv4 and IPv6. Needs root, iproute2 and nft.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NODES = ("client", "terminal", "hub", "server", "space")
# Of each network the left and the right end. The last is a further WAN, where there is one.
NETS = {1: ("client", "terminal"), 2: ("terminal", "hub"), 3: ("hub", "server")}
WAN = {4: ("terminal", "hub")}
RATE, DELAY = 16e6, 0.2
WAN_RATE, WAN_DELAY = 8e6, 0.03
# The namespaces and the interfaces of the networks that are emulated.
EMULATED = {2: ("space", "sat0"), 4: ("mast", "wwan0")}
SOCKS, CONNECT = 1081, 8081
HUB_PORTS = {"hub": 4433, "second": 4434}
WAN_PORT = 4435


def address(net, end, v6=False):
    return f"fd91:{net}::{end}" if v6 else f"10.91.{net}.{end}"


TERMINAL = address(1, 2)
HUB_SATELLITE = address(2, 2)
SERVERS = (address(3, 2), address(3, 2, v6=True))


def command():
    """The program under audit."""
    return os.environ.get("BENTPIPE") or str(ROOT / "target" / "release" / "bentpipe")


def lacks():
    """What this machine lacks, in words, or None."""
    if os.geteuid():
        return "root"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun"
    if not os.access(command(), os.X_OK):
        return f"{command()}, built with the feature `gateway`"
    return next((tool for tool in ("ip", "nft", "sysctl") if not shutil.which(tool)), None)


def must(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr or done.stdout}")
    return done.stdout


class Bed:
    """The namespaces and the satellite; they are removed at the end."""

    def __init__(self, name, seed, loss=None, wan=False):
        self.name, self.seed = name, seed
        self.nets = NETS | WAN if wan else NETS
        self.nodes = (*NODES, "mast") if wan else NODES
        self.mast = None
        self.files = Path(tempfile.mkdtemp(prefix=f"{name}-"))
        self.started = []
        self.satellite = None
        self.loss = loss or {}

    def ns(self, node):
        return f"{self.name}-{node}"

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def inside(self, node, *words):
        return must("ip", "netns", "exec", self.ns(node), *words)

    def start(self, node, words, **options):
        words = ["ip", "netns", "exec", self.ns(node), *map(str, words)]
        process = subprocess.Popen(words, **options)
        self.started.append(process)
        return process

    def build(self):
        self.remove()
        for node in self.nodes:
            must("ip", "netns", "add", self.ns(node))
            settings = ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"]
            settings += [f"net.ipv4.conf.{which}.rp_filter=0" for which in ("all", "default")]
            settings += [f"net.ipv6.conf.{which}.accept_dad=0" for which in ("all", "default")]
            self.inside(node, "sysctl", "-qw", *settings, "net.ipv4.tcp_no_metrics_save=1")
            must("ip", "-n", self.ns(node), "link", "set", "lo", "up")
        self.satellite = self.launch(2, RATE, DELAY)
        for to, loss in self.loss.items():
            self.change(to=to, loss=loss)
        if 4 in self.nets:
            self.mast = self.launch(4, WAN_RATE, WAN_DELAY)
        for net, ends in self.nets.items():
            if net not in EMULATED:
                left, right = map(self.ns, ends)
                words = f"link add to{net} netns {left} type veth peer name to{net} netns {right}"
                must("ip", *words.split())
            for number, node in enumerate(ends, 1):
                device = EMULATED[net][1] if net in EMULATED else f"to{net}"
                for v6, bits in ((False, 24), (True, 64)):
                    place = f"{address(net, number, v6)}/{bits}"
                    more = ["nodad"] if v6 else []
                    must("ip", "-n", self.ns(node), "address", "add", place, "dev", device, *more)
                must("ip", "-n", self.ns(node), "link", "set", device, "up")
        for v6 in (False, True):
            for node, via in (("client", (1, 2)), ("terminal", (2, 2)), ("server", (3, 1))):
                self.route(node, "default", address(*via, v6))
            clients = "fd91:1::/64" if v6 else "10.91.1.0/24"
            self.route("hub", clients, address(2, 1, v6))
        if 4 in self.nets:
            self.route("terminal", "default", address(4, 2), "dev", "wwan0", "metric", "100")

    def route(self, node, to, via, *more):
        must("ip", "-n", self.ns(node), "route", "add", to, "via", via, *more)

    def launch(self, net, rate, delay):
        space, device = EMULATED[net]
        words = [sys.executable, HERE / "satellite.py", "--seed", self.seed]
        words += ["--rate", rate, "--delay", delay]
        link = self.start(space, words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if link.stdout.readline() != b"made\n":
            raise RuntimeError("the satellite does not start")
        for node in ("terminal", "hub"):
            move = ["link", "set", f"to-{node}", "netns", self.ns(node), "name", device]
            must("ip", "-n", self.ns(space), *move)
        return link

    def change(self, mast=False, **what):
        """Of the satellite, or of the further WAN: of the direction `to` an end, or of both."""
        link = self.mast if mast else self.satellite
        link.stdin.write(json.dumps(what).encode() + b"\n")
        link.stdin.flush()

    def packets(self):
        """Ends the satellite; what became of the packets."""
        out, _ = self.satellite.communicate(timeout=20)
        return json.loads(out)

    def close(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.remove()
        shutil.rmtree(self.files, ignore_errors=True)

    def remove(self):
        there = {line.split()[0] for line in must("ip", "netns", "list").splitlines() if line}
        for node in (*NODES, "mast"):
            if self.ns(node) in there:
                for pid in must("ip", "netns", "pids", self.ns(node)).split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                must("ip", "netns", "del", self.ns(node))


class Box:
    """A gateway of a bed. A second hub is beside the first."""

    def __init__(self, bed, role):
        self.bed, self.role = bed, role
        self.kind = "hub" if role in HUB_PORTS else role
        self.node = "hub" if self.kind == "hub" else "terminal"
        self.folder = bed.files / role
        self.folder.mkdir()
        self.file = self.folder / f"{bed.name}-{role}.toml"
        self.process = None
        # The process that has taken over last, which is no child of this one.
        self.successor = None
        self.lines = []

    def key(self):
        """Makes the key; the public one."""
        out = must(command(), "gateway", "keys", self.folder / "private.key")
        words = out.replace('"', " ").replace("`", " ").split()
        return next(word for word in words if word.startswith("bpk1"))

    def write(self, rate="16 Mbit/s", level="info", denied="192.0.2.0/24"):
        """Its file: what stays the same, and what a reload changes."""
        control = ', transport = "cubic"' if self.kind == "single" else ""
        if self.bed.mast and self.kind == "terminal":
            control = ', bind = "sat0"'
        text = [f'role = "{self.kind}"', *self.lines, f'log.level = "{level}"']
        text += [f'link = {{ rate = "{rate}", rtt = "400 ms", interfaces = ["sat0"]{control} }}']
        if self.kind == "hub":
            allowed = '"10.91.3.0/24", "fd91:3::/64"'
            text += [f'policy = {{ allow = [{allowed}], deny = ["{denied}"] }}']
        # Keys before tables.
        text.sort(key=lambda line: line.startswith("["))
        self.file.write_text("\n".join(text) + "\n")

    def start(self, wait=True):
        with open(self.bed.files / f"{self.role}.log", "ab") as log:
            words = [command(), "gateway", "run", self.file]
            self.process = self.bed.start(self.node, words, stdout=log, stderr=log)
        if wait:
            self.ready()

    def ready(self, seconds=40):
        end = time.monotonic() + seconds
        while not self.serves():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"{self.role} does not serve: {self.status()}\n{self.log()}")
            time.sleep(0.1)

    def serves(self):
        status = self.status()
        if not status or self.kind != "terminal":
            return bool(status)
        # Rules of interception follow the association.
        return bool(status.get("associations")) and status.get("new_connections") != "direct"

    def status(self):
        """What it says of itself at its control socket, or None."""
        with contextlib.suppress(OSError, ValueError), socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(3)
            asking.connect(str(self.folder / "control"))
            asking.sendall(b"GET /status HTTP/1.1\r\nHost: box\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: asking.recv(65536), b""))
            return json.loads(answer.partition(b"\r\n\r\n")[2])
        return None

    def log(self):
        return (self.bed.files / f"{self.role}.log").read_text(errors="replace")[-3000:]

    def signal(self, number):
        if self.successor is None:
            self.process.send_signal(number)
        else:
            os.kill(self.successor, number)

    def runs(self):
        if self.successor is None:
            return self.process.poll() is None
        return Path(f"/proc/{self.successor}").exists()

    def upgrade(self, seconds=40):
        """Lets a new process take over."""
        old, end = self.status()["pid"], time.monotonic() + seconds
        self.signal(signal.SIGUSR2)
        while (self.status() or {"pid": old})["pid"] == old:
            if time.monotonic() > end:
                raise RuntimeError(f"no process of {self.role} takes over: {self.log()}")
            time.sleep(0.1)
        self.successor = self.status()["pid"]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self, seconds=20):
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()


def boxes(bed, intercepts, roles):
    """The boxes of a way, with their files; not started. They intercept, or there are the listeners of
    SOCKS5 and CONNECT."""
    made = {role: Box(bed, role) for role in roles}
    keys = {role: box.key() for role, box in made.items() if role != "single"}
    hubs = [role for role in roles if role in HUB_PORTS]
    for role, box in made.items():
        private = json.dumps(str(box.folder / "private.key"))
        lines = [f"status = {{ control = {json.dumps(str(box.folder / 'control'))} }}"]
        lines += ['limits = { drain = "60 s" }']
        if box.kind == "hub":
            place, peers = [f"{HUB_SATELLITE}:{HUB_PORTS[role]}"], [keys["terminal"]]
        elif box.kind == "terminal":
            place = [f"{HUB_SATELLITE}:{HUB_PORTS[hub]}" for hub in hubs]
            peers = [keys[hub] for hub in hubs]
        if box.kind != "single":
            places = json.dumps(place if box.kind == "terminal" else place[0])
            more = ', return_after = "3 s"' if box.kind == "terminal" else ""
            peers = json.dumps(peers)
            lines += [f"tunnel = {{ address = {places}, key = {private}, peers = {peers}{more} }}"]
        # At a hub it keeps the clients' addresses, which two hubs in one place cannot.
        if intercepts and (box.kind != "hub" or len(hubs) == 1):
            lines += ["[intercept]"]
        elif box.kind == "terminal":
            lines += [f'socks = {{ listen = "{TERMINAL}:{SOCKS}" }}']
            lines += [f'connect = {{ listen = "{TERMINAL}:{CONNECT}", answer = "early" }}']
        if box.kind == "terminal" and intercepts:
            lines += ["[udp]"]
        if bed.mast:
            bind = '\nbind = "wwan0"' if box.kind == "terminal" else ""
            lines += [
                f'[[wan]]\nname = "5g"\nport = {WAN_PORT}\nrate = "8 Mbit/s"\nrtt = "60 ms"{bind}'
            ]
        box.lines = lines
        box.write()
    return made
