#!/usr/bin/env python3
"""Cells of measure.py in which several things happen at once, through two real boxes of the gateway.

The boxes intercept, in the namespaces of benches/gateway/topology.py, over the emulated link. Nothing
of their configuration is changed but that the terminal carries UDP. A value is a time in seconds, from
the call of connect() to the last byte, or a share. Needs root; `measure.py --live` calls it.
"""

import argparse
import json
import os
import socket
import statistics
import struct
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[2] / "benches" / "gateway"))

PORT = 9007
# Two users: addresses of the client's namespace.
USERS = ("10.77.1.2", "10.77.1.3")
PAYLOAD, HEADERS = 1200, 28
HEAD = struct.Struct("!Id")
ENDLESS = 1 << 40
# Downloads and datagrams go on for so long before anything is measured, seconds.
SETTLES = 6.0
BLOCK = bytes(1 << 16)


@dataclass(frozen=True)
class Cell:
    """What happens at once, as `beside.toml` has it, too."""

    name: str
    rate: float  # Mbit/s
    # The download that is measured, and how many there are, one after the other.
    size: int = 0
    count: int = 0
    # Endless downloads of the same user, and of another.
    own: int = 0
    others: int = 0
    # Datagrams of the same user, Mbit/s of IP packets.
    datagrams: float = 0
    # What is measured: the download's time, the delay of datagrams, or the share of them that arrives.
    value: str = "time"
    # The link has so much from 1 s after the download's start on, for so long.
    fades_to: float = 0
    fades_for: float = 0
    # Runs, each with boxes of its own.
    runs: int = 1
    # The time in which datagrams count, seconds.
    counts: float = 20.0

    @property
    def seconds(self):
        """How long a run takes, about."""
        each = 2 + 2.2 * self.size * 8e-6 / self.rate + self.fades_for
        return each * self.count if self.count else self.counts


CELLS = (
    Cell("5 Mbit/s 1000 kB, 8 of another", 5, 1_000_000, 16, others=8),
    Cell("5 Mbit/s 5000 kB, 8 of another", 5, 5_000_000, 8, others=8),
    Cell("20 Mbit/s 1000 kB, 8 of another", 20, 1_000_000, 30, others=8),
    Cell("20 Mbit/s 5000 kB, 8 of another", 20, 5_000_000, 12, others=8),
    Cell("20 Mbit/s 1000 kB, UDP 10 Mbit/s", 20, 1_000_000, 10, datagrams=10),
    Cell("20 Mbit/s UDP delay, 4 downloads", 20, own=4, datagrams=5, value="delay"),
    Cell("20 Mbit/s UDP share, 4 downloads", 20, own=4, datagrams=20, value="share"),
    Cell("20 Mbit/s 10000 kB, 10 s at 2", 20, 10_000_000, 1, fades_to=2, fades_for=10, runs=6),
    Cell("20 Mbit/s 10000 kB, 60 s at 5", 20, 10_000_000, 1, fades_to=5, fades_for=60, runs=6),
)
# When the link fades, seconds after the emulator began.
FADES = 20.0
# Parts of the time in which datagrams count, a value each.
PARTS = 10


def fades(cell):
    """What the link has when: times in seconds, rates in Mbit/s."""
    if not cell.fades_to:
        return ""
    rates = ((0, cell.rate), (FADES, cell.fades_to), (FADES + cell.fades_for, cell.rate))
    keys = ", ".join(f'{{ at = "{at} s", rate = "{rate} Mbit/s" }}' for at, rate in rates)
    return f"timeline = [{keys}]\n"


def scenario(cell, text):
    """The same for the simulator; `text` has the network."""
    satellite = f'{fades(cell)}queue = "1 BDP"'
    text = text.replace('rate = "20 Mbit/s"', f'rate = "{cell.rate} Mbit/s"', 1)
    text = text.replace('queue = "1 BDP"', satellite, 1)
    ends = 'from = "server"\nto = "client"\n'
    begins = FADES - 1 if cell.fades_to else SETTLES
    lasts = begins + 60.0
    if cell.count:
        # Each has its own time, as where the next begins when it is over.
        spacing = 2 + 4 * cell.size * 8e-6 / cell.rate + cell.fades_for
        lasts = begins + spacing * cell.count
        text += (
            f'[flow.download]\n{ends}transport = "cubic"\nsubscriber = "one"\n'
            f'count = {cell.count}\nstart = "{begins} s"\nspacing = "{spacing} s"\n'
            'application = { kind = "request-response", request = "10 B", '
            f'response = "{cell.size} B" }}\n'
        )
    for whose, count in (("one", cell.own), ("another", cell.others)):
        if count:
            text += (
                f'[flow.endless-{whose}]\n{ends}transport = "cubic"\nsubscriber = "{whose}"\n'
                f'count = {count}\napplication = "persistent"\n'
            )
    if cell.datagrams:
        text += (
            f'[flow.datagrams]\n{ends}subscriber = "one"\napplication = {{ kind = "constant-rate", '
            f'rate = "{cell.datagrams} Mbit/s", packet_size = "{PAYLOAD + HEADERS} B", '
            'deadline = "5 s" }\n'
        )
    return text.replace('duration = "600 s"', f'duration = "{lasts} s"')


def serve():
    """TCP: `N\\n` is answered by N bytes. UDP: `RATE SECONDS` by datagrams, Mbit/s of IP packets."""

    def one(connection):
        try:
            with connection:
                left = int(connection.makefile().readline())
                while left > 0:
                    left -= connection.send(BLOCK[:left])
        except (OSError, ValueError):
            pass

    def datagrams():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind(("0.0.0.0", PORT))
            asked, to = sock.recvfrom(2048)
            rate, seconds = map(float, asked.split())
            pause = (PAYLOAD + HEADERS) * 8 / (rate * 1e6)
            began, number = time.monotonic(), 0
            while (now := time.monotonic()) < began + seconds:
                while began + number * pause <= now:
                    sock.sendto(HEAD.pack(number, now) + bytes(PAYLOAD - HEAD.size), to)
                    number += 1
                time.sleep(max(0.0, began + number * pause - time.monotonic()))

    threading.Thread(target=datagrams, daemon=True).start()
    listener = socket.create_server(("0.0.0.0", PORT), backlog=256)
    while True:
        threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()


def download(server, user, size):
    """The seconds that it takes."""
    begin = time.monotonic()
    with socket.socket() as sock:
        sock.bind((USERS[user], 0))
        sock.connect((server, PORT))
        sock.sendall(b"%d\n" % size)
        left = size
        while left > 0 and (more := sock.recv(1 << 16)):
            left -= len(more)
    if left > 0:
        raise RuntimeError(f"{left} bytes are missing")
    return time.monotonic() - begin


def receive(server, cell, found):
    """Asks for datagrams: for each part of the time that counts their delays, and how many left."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        sock.bind((USERS[0], 0))
        seconds = SETTLES + 600
        sock.sendto(f"{cell.datagrams} {seconds}".encode(), (server, PORT))
        pause = (PAYLOAD + HEADERS) * 8 / (cell.datagrams * 1e6)
        each = cell.counts / PARTS / pause
        sock.settimeout(2)
        parts = [[] for _ in range(PARTS)]
        # The load lasts as long as the process.
        while True:
            try:
                number, left = HEAD.unpack_from(sock.recv(65536))
            except (OSError, struct.error) as error:
                print(f"no datagrams come: {error}", file=sys.stderr, flush=True)
                os._exit(2)
            part = int((number - SETTLES / pause) // each)
            if 0 <= part < PARTS:
                parts[part].append(time.monotonic() - left)
            elif not found and part >= PARTS and number > (SETTLES + cell.counts + 2) / pause:
                found += [(delays, each) for delays in parts]


def ask(cell, server, begin):
    """The client's part, in its namespace: the values, as JSON."""
    for user, count in ((0, cell.own), (1, cell.others)):
        for _ in range(count):
            going = threading.Thread(target=download, args=(server, user, ENDLESS), daemon=True)
            going.start()
    found = []
    if cell.datagrams:
        threading.Thread(target=receive, args=(server, cell, found), daemon=True).start()
    values = []
    if cell.value == "time":
        time.sleep(max(0.0, begin - time.monotonic()))
        for _ in range(cell.count):
            values.append(download(server, 0, cell.size))
            time.sleep(1.5)
    else:
        while not found:
            time.sleep(0.1)
        if cell.value == "delay":
            values = [statistics.mean(delays) for delays, _ in found]
        else:
            values = [len(delays) / left for delays, left in found]
    json.dump(values, sys.stdout)
    sys.stdout.flush()


def values(cell, run):
    """What the cell's boxes yield in one run."""
    from boxes import WAYS, boxes, stop
    from connect import result, start
    from topology import SERVER, Link, Topology

    @dataclass(frozen=True)
    class Fading(Link):
        def scenario(self):
            return super().scenario().replace('queue = "', f'{fades(cell)}queue = "', 1)

    link = Fading(rate=f"{cell.rate} Mbit/s", rtt="550 ms", queue="1 BDP", seed=run + 1)
    with Topology(f"sgw-{os.getpid()}", link) as net:
        net.run("client", "ip", "address", "add", f"{USERS[1]}/24", "dev", "terminal")
        net.start("server", [sys.executable, HERE, "--serve"])
        made = boxes(net, WAYS["two"], {"terminal": "[udp]"} if cell.datagrams else {})
        try:
            begin = time.monotonic() + SETTLES
            if cell.fades_to:
                begin = net.emulated + FADES - 1
            try:
                return result(start(net, "client", HERE, "--ask", cell.name, SERVER, begin))
            except RuntimeError as error:
                logs = "\n".join(box.log() for box in made.values())
                raise RuntimeError(f"{cell.name}: no values\n{logs}") from error
        finally:
            stop(made)


def measured(cell):
    """All values of a cell."""
    return [value for run in range(cell.runs) for value in values(cell, run)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="*")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
    if arguments.ask:
        name, server, begin = json.loads(arguments.ask)
        ask(next(cell for cell in CELLS if cell.name == name), server, begin)
        return
    for cell in CELLS:
        if not arguments.cells or cell.name in arguments.cells:
            print(json.dumps(measured(cell)), flush=True)


if __name__ == "__main__":
    main()
