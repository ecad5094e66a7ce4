"""The gateway's boxes in a topology: their keys, configurations, starts, kills and use of the machine.

Python's standard library only.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from topology import HUB_SATELLITE, SERVER, TERMINAL, bentpipe, built

SOCKS = 1080
CONNECT = 8080
PORTS = 5  # of the server that HAProxy stands for
# The hubs and where they are, in order of preference.
HUBS = {"hub": f"{HUB_SATELLITE}:4433", "hub2": f"{HUB_SATELLITE}:4434"}

# What the boxes are told of a link without an emulator.
FAST = "20 Gbit/s"


def bench():
    """The harness."""
    return built("GATEWAY_BENCH", "gateway-bench", "-p gateway-bench")


def gateway():
    """The command that runs a box: $GATEWAY, another build to compare with, or bentpipe."""
    return os.environ.get("GATEWAY") or bentpipe()


@dataclass(frozen=True)
class Way:
    """A way through the path, and what the harness may expect of it."""

    name: str
    boxes: tuple = ()
    drive: tuple = ()
    # It has accepted a connection before the server is asked, so that a refusal is a reset.
    early: bool = False
    peer: bool = False
    more: dict = field(default_factory=dict, hash=False)


def proxy(kind, port):
    return ("--via", kind, "--proxy", f"{TERMINAL}:{port}")


def by_connect(roles=("hub", "terminal")):
    """Boxes, as root, whose terminal has the listeners."""
    return Way("two boxes, CONNECT", roles, proxy("connect", CONNECT), early=True)


WAYS = {
    "direct": Way("direct"),
    "haproxy": Way("HAProxy", ("haproxy",), early=True, peer=True),
    "single": Way("one box", ("single",), early=True),
    "two": Way("two boxes, intercepted", ("hub", "terminal"), early=True),
    "socks": Way("two boxes, SOCKS5, no root", ("hub", "terminal"), proxy("socks5", SOCKS)),
    "connect": Way(
        "two boxes, CONNECT, no root", ("hub", "terminal"), proxy("connect", CONNECT), early=True
    ),
}


class Box:
    """A gateway, or HAProxy in its place, in a topology. A second hub has the role `hub2`."""

    def __init__(self, net, role, way, told=None, interface="sat", drain="60 s"):
        self.net = net
        # The link that its file tells of, and the interface that leads there.
        self.told = told or net.link
        self.interface = interface
        self.role = role
        self.way = way
        self.node = "hub" if role in (*HUBS, "haproxy") else "terminal"
        self.is_hub = role in HUBS
        self.folder = net.files / role
        self.folder.mkdir(exist_ok=True)
        self.file = self.folder / f"{net.name}-{role}.toml"
        # What the file says as well: at its end, in `[link]`, and in `[tunnel]`.
        self.more = self.more_of_link = self.more_of_tunnel = ""
        self.drain = drain
        self.process = None

    @property
    def root(self):
        return "no root" not in self.way.name or self.is_hub

    def key(self):
        """The public key; it is made where there is none."""
        file = self.folder / "gateway.key"
        public = self.folder / "public"
        if not public.exists():
            done = subprocess.run(
                [gateway(), "gateway", "keys", file], capture_output=True, text=True
            )
            if done.returncode:
                raise RuntimeError(f"gateway keys: {done.stderr}")
            words = (done.stdout + done.stderr).split()
            public.write_text(
                next(word.strip('".,`') for word in words if word.strip('".,`').startswith("bpk1"))
            )
        return public.read_text()

    def configure(self, peers=(), addresses=()):
        """Writes the file: the keys of the other boxes, and where the hubs are; of a hub, itself."""
        if self.role == "haproxy":
            self.file.write_text(haproxy())
            return
        rate, rtt = (self.told.rate, self.told.rtt) if self.told else (FAST, "1 ms")
        lines = [
            f'role = "{"hub" if self.is_hub else self.role}"',
            "[link]",
            f'rate = "{rate}"',
            f'rtt = "{rtt}"',
            f'interfaces = ["{self.interface}"]',
            self.more_of_link,
        ]
        if self.role == "single":
            lines += ['transport = "bbr"' if not bp_control() else 'transport = "bp_hybla"']
        if peers:
            lines += [
                "[tunnel]",
                f"address = {json.dumps(list(addresses))}",
                f'key = "{self.folder / "gateway.key"}"',
                f"peers = {json.dumps(list(peers))}",
                self.more_of_tunnel,
            ]
        if self.way.drive and self.role == "terminal":
            lines += [
                "[socks]",
                f'listen = "{TERMINAL}:{SOCKS}"',
                'answer = "confirmed"',
                "[connect]",
                f'listen = "{TERMINAL}:{CONNECT}"',
                'answer = "early"',
            ]
        elif not self.way.drive:
            # At a hub it is the way back to connections that keep the client's address.
            lines += ["[intercept]"]
        if self.is_hub:
            # The server's nets, which are private.
            lines += ["[policy]", 'allow = ["10.77.3.0/24", "fd77:3::/64"]']
        lines += [
            "[status]",
            f'control = "{self.folder / "control"}"',
            "[limits]",
            f'drain = "{self.drain}"',
            self.more,
        ]
        self.file.write_text("\n".join(lines) + "\n")

    def start(self):
        if self.role == "haproxy":
            argv = ["haproxy", "-f", self.file, "-db"]
        else:
            argv = [gateway(), "gateway", "run", self.file]
        if not self.root:
            for path in (self.folder.parent, self.folder, *self.folder.iterdir()):
                os.chown(path, 65534, 65534) if path != self.folder.parent else path.chmod(0o755)
            argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *argv]
        self.process = self.net.start(self.node, argv, log=f"{self.role}.log")

    def ready(self):
        """Waits until it serves."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.role} ended: {self.log()}")
            if self.role == "haproxy" or self.healthy():
                return
            time.sleep(0.2)
        raise RuntimeError(f"{self.role} is not ready: {self.status()} {self.log()}")

    def healthy(self):
        status = self.status()
        # Interception begins a moment after the association.
        takes = bool(status) and status.get("new_connections") in (None, "gateway")
        return takes and (self.role != "terminal" or bool(status.get("associations")))

    def status(self):
        """What the box says of itself, or None."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads(self.ask("GET", "/status"))
        return None

    def set_rate(self, rate):
        """As a modem sets it."""
        self.ask("PUT", "/rate", rate)

    def ask(self, method, path, body=""):
        """The body of the answer on the control socket."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(3)
            connection.connect(str(self.folder / "control"))
            connection.sendall(
                f"{method} {path} HTTP/1.1\r\nHost: box\r\nConnection: close\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        return answer.partition(b"\r\n\r\n")[2].decode()

    def log(self, last=2000):
        return (self.net.files / f"{self.role}.log").read_text(errors="replace")[-last:]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def use(self):
        """Resident memory in MB, descriptors and CPU seconds of the process."""
        pid = self.process.pid  # `ip netns exec` and `setpriv` become the program.
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        tick = os.sysconf("SC_CLK_TCK")
        status = Path(f"/proc/{pid}/status").read_text()
        resident = next(
            int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")
        )
        return (
            resident / 1024,
            len(os.listdir(f"/proc/{pid}/fd")),
            (int(stat[11]) + int(stat[12])) / tick,
        )


def bp_control():
    return "bp_hybla" in Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()


def haproxy():
    lines = [
        "global",
        " maxconn 4000",
        "defaults",
        " mode tcp",
        " timeout connect 5s",
        " timeout client 120s",
        " timeout server 120s",
        " option splice-auto",
    ]
    for port in range(7000, 7000 + PORTS):
        lines += [f"listen p{port}", f" bind {HUB_SATELLITE}:{port}", f" server s {SERVER}:{port}"]
    return "\n".join(lines) + "\n"


def boxes(net, way, more=None, **options):
    """The boxes of a way, started. `more` is what their files say as well: of each role at their end, by
    its name; in `[link]` and `[tunnel]` by "link" and "tunnel" of all, by "link of terminal" of one.
    `options` are those of Box."""
    more = more or {}
    made = {role: Box(net, role, way, **options) for role in way.boxes}
    for role, box in made.items():
        said = lambda table: f"{more.get(table, '')}\n{more.get(f'{table} of {role}', '')}"
        box.more = more.get(role, "")
        box.more_of_link, box.more_of_tunnel = said("link"), said("tunnel")
    keys = {role: box.key() for role, box in made.items() if role in (*HUBS, "terminal")}
    hubs = [role for role in keys if role in HUBS]
    for role, box in made.items():
        others = ["terminal"] if box.is_hub else hubs if role == "terminal" else []
        places = [role] if box.is_hub else hubs
        box.configure([keys[it] for it in others], [HUBS[it] for it in places])
        box.start()
    for box in made.values():
        box.ready()
    return made


def stop(made):
    for box in made.values():
        if box.process and box.process.poll() is None:
            box.process.send_signal(signal.SIGINT)
    for box in made.values():
        with contextlib.suppress(subprocess.TimeoutExpired):
            box.process.wait(8)
            continue
        box.kill()


def serve(net, more=0):
    """The harness's server; the path of its Unix socket."""
    control = net.files / "bench.sock"
    process = net.start(
        "server",
        [bench(), "serve", "--control", control, "--more", more],
        stdout=subprocess.PIPE,
        text=True,
    )
    if process.stdout.readline().strip() != "ready":
        raise RuntimeError("the server does not start")
    return control


def flags(**values):
    """Options of the client, each with its value."""
    pairs = [(f"--{name.replace('_', '-')}", value) for name, value in values.items()]
    return [word for pair in pairs for word in pair]


def drive(net, way, control, *flags, **options):
    """The harness's client, started; `result` waits for it."""
    address = HUB_SATELLITE if way.peer else SERVER
    ends = ["--server", f"{address}:7000", "--control", control]
    argv = [bench(), "drive", *ends, *way.drive, *flags]
    if way.early:
        argv.append("--early")
    options = {"stdout": subprocess.PIPE, "text": True, **options}
    return net.start("client", argv, **options)


def result(process, timeout):
    """The faults and the summary of a run."""
    try:
        out, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise RuntimeError("the client of the harness did not end") from None
    lines = [json.loads(line) for line in out.splitlines()]
    if not lines:
        raise RuntimeError("the client of the harness failed")
    return lines[:-1], lines[-1]


__all__ = ["WAYS", "Box", "Way", "bench", "boxes", "drive", "result", "serve", "stop"]
