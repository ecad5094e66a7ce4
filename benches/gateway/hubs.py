#!/usr/bin/env python3
"""A terminal with two hubs, the first of which is restarted or killed under load; and one with a single hub, which
is restarted or upgraded.

    hubs.py
    hubs.py --how kill --verbose

Two hubs and a terminal over the emulated satellite (20 Mbit/s, 600 ms). Clients use the terminal's
CONNECT listener, or are intercepted where the hub is the only one: four downloads fill the link; a request
for 10 kB begins every 0.1 s, each over a connection of its own; a session of 8 s begins every second, and asks and is answered twice a
second. The first hub gets SIGTERM, lets connections finish for 15 s, ends, and is started again 2 s
later; or it is killed and started again 2 s later. Both come back to the first one when it has
answered for 10 s. While the only hub is away, new connections pass beside the boxes. An upgrade (SIGUSR2)
leaves the downloads with the old process, which shares the link with the new one until the clients end. A request has
failed where its answer has not come within 15 s, a session where one answer is missing. A restart must be
noticed by nobody: exit status 0 where no request fails, none waits over 2 s where there is a second hub or
process, and no session is reset; 1 otherwise; 2 could not run. What a kill costs is printed only.
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

from connect import open_to, result, start
from lost import lacks

HERE = Path(__file__).resolve()
PORT = 9001
SIZE = 10_000
EACH_S = 0.1
SESSION_S = 8.0
ASKS_S = 0.5
DOWNLOADS = 4
BOUND_S = 2.0
PATIENCE_S = 15.0
DRAIN = "15 s"
RETURN = "10 s"
AWAY_S = 2.0
# From the start of the clients to the fault.
BEFORE_S = 10.0
WORDS = {
    "restart": "restarted (SIGTERM)",
    "kill": "killed",
    "alone": "restarted (SIGTERM), the only one",
    "upgrade": "upgraded (SIGUSR2), the only one",
}
SECONDS = {"restart": 60.0, "kill": 45.0, "alone": 45.0, "upgrade": 45.0}


def serve():
    """`N\\n`: 10 kB. `session\\n`: what comes. `download\\n`: zeros without end."""

    def one(connection):
        with connection, contextlib.suppress(OSError):
            asked = b""
            # What follows may have come with it.
            while not asked.endswith(b"\n"):
                more = connection.recv(1)
                if not more:
                    return
                asked += more
            if asked == b"download\n":
                while True:
                    connection.sendall(bytes(1 << 16))
            if asked == b"session\n":
                while more := connection.recv(1 << 16):
                    connection.sendall(more)
                return
            connection.sendall(bytes(SIZE))

    listener = socket.create_server(("0.0.0.0", PORT), backlog=256)
    while True:
        threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()


class Clients:
    """The clients' part, in their namespace."""

    def __init__(self, proxy, server, seconds):
        self.proxy = proxy
        self.server = server
        self.end = time.monotonic() + seconds
        self.began = time.monotonic()
        self.requests = []
        self.sessions = []

    def open(self, first):
        """A connection with its first bytes, and what has come of the answer."""
        if self.proxy:
            return open_to(self.proxy, self.server, first, PATIENCE_S)
        connection = socket.create_connection(self.server, PATIENCE_S)
        connection.sendall(first)
        return connection, b""

    def request(self, number):
        """Times to the first byte and to the last; None where they do not come."""
        at, first, last, length = time.monotonic(), None, None, 0
        with contextlib.suppress(OSError):
            connection, got = self.open(f"{number}\n".encode())
            with connection:
                connection.settimeout(PATIENCE_S)
                while True:
                    if got and first is None:
                        first = time.monotonic() - at
                    length += len(got)
                    got = connection.recv(1 << 16)
                    if not got:
                        break
            if length == SIZE:
                last = time.monotonic() - at
        self.requests.append((at - self.began, first, last))

    def session(self):
        """Asks and is answered for a while; how long it took, and whether all answers came."""
        at, whole = time.monotonic(), False
        with contextlib.suppress(OSError):
            connection, got = self.open(b"session\n")
            with connection:
                connection.settimeout(PATIENCE_S)
                while time.monotonic() < at + SESSION_S:
                    asked = os.urandom(16)
                    connection.sendall(asked)
                    while len(got) < len(asked):
                        more = connection.recv(1 << 16)
                        if not more:
                            raise ConnectionResetError
                        got += more
                    if got != asked:
                        raise ConnectionResetError
                    got = b""
                    time.sleep(ASKS_S)
                connection.shutdown(socket.SHUT_WR)
                whole = connection.recv(1) == b""
        self.sessions.append((at - self.began, time.monotonic() - at, whole))

    def download(self):
        """Again and again."""
        while time.monotonic() < self.end:
            with contextlib.suppress(OSError):
                connection, _ = self.open(b"download\n")
                with connection:
                    connection.settimeout(PATIENCE_S)
                    while time.monotonic() < self.end and connection.recv(1 << 20):
                        pass
            time.sleep(0.05)

    def run(self):
        threads = [threading.Thread(target=self.download) for _ in range(DOWNLOADS)]
        for thread in threads:
            thread.start()

        def begin(what, *args):
            threads.append(threading.Thread(target=what, args=args))
            threads[-1].start()

        count = 0
        while time.monotonic() < self.end - SESSION_S:
            if count % round(1 / EACH_S) == 0:
                begin(self.session)
            begin(self.request, count)
            count += 1
            time.sleep(max(0, self.began + count * EACH_S - time.monotonic()))
        for thread in threads:
            thread.join()
        json.dump([sorted(self.requests), sorted(self.sessions)], sys.stdout)


def used(terminal):
    """The place of the hub that takes new connections; None where they pass beside."""
    hubs = (terminal.status() or {}).get("hubs", [])
    serves = ("up", "fallback")
    places = (at for at, hub in enumerate(hubs) if hub["used"] and hub["state"] in serves)
    return next(places, None)


def until(what, happens, seconds=120):
    end = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} did not happen")
        time.sleep(0.02)


def restart(how, hub, terminal, second):
    """Ends the hub and starts it again; after how many seconds it is left, has ended, and is used again."""
    begin = time.monotonic()
    if how == "kill":
        hub.kill()
    else:
        hub.process.send_signal(signal.SIGTERM)
    until("the change", lambda: used(terminal) == second)
    left = time.monotonic() - begin
    hub.process.wait(60)
    ended = time.monotonic() - begin
    time.sleep(AWAY_S)
    hub.start()
    until("the way back", lambda: used(terminal) == 0)
    return left, ended, time.monotonic() - begin - ended - AWAY_S


def upgrade(hub):
    """Lets a new process take over; after how many seconds the terminal is there."""
    begin, old = time.monotonic(), hub.status()["pid"]
    hub.process.send_signal(signal.SIGUSR2)

    def moved():
        status = hub.status()
        return status and status["pid"] != old and status["associations"]

    until("the new process", moved)
    return time.monotonic() - begin, None, None


def measure(how, verbose):
    from boxes import CONNECT, WAYS, boxes, by_connect, stop
    from topology import SERVER, TERMINAL, Link, Topology

    alone = how in ("alone", "upgrade")
    way = WAYS["two"] if alone else by_connect(("hub", "hub2", "terminal"))
    more = {"tunnel of terminal": f'return_after = "{RETURN}"'}
    proxy, second = (None, None) if alone else ((TERMINAL, CONNECT), 1)
    with Topology("hubs", Link(rate="20 Mbit/s", rtt="600 ms")) as net:
        net.start("server", [sys.executable, HERE, "--serve"])
        made = boxes(net, way, more, drain=DRAIN)
        terminal = made["terminal"]
        try:
            until("the first hub", lambda: used(terminal) == 0)
            hubs = lambda: terminal.status()["hubs"]  # noqa: E731
            until("both hubs", lambda: all(hub["state"] == "up" for hub in hubs()))
            parts = [proxy, (SERVER, PORT), SECONDS[how] + SESSION_S]
            client = start(net, "client", HERE, "--ask", *parts)
            time.sleep(BEFORE_S)
            hub = made["hub"]
            if how == "upgrade":
                times = upgrade(hub)
            else:
                times = restart(how, hub, terminal, second)
            requests, sessions = result(client, timeout=120)
            if how == "upgrade":
                until("the end of the old process", lambda: hub.process.poll() is not None)
            if verbose:
                for row in requests:
                    print(*row, file=sys.stderr)
                for role, box in made.items():
                    print(f"--- {role}\n{box.log()}", file=sys.stderr)
            return requests, sessions, times
        finally:
            stop(made)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--how", action="append", choices=list(WORDS))
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve()
    if args.ask:
        proxy, server, seconds = json.loads(args.ask)
        Clients(proxy and tuple(proxy), tuple(server), seconds).run()
        return 0
    if lacking := lacks():
        print(f"two hubs need {lacking}", file=sys.stderr)
        return 2
    print(
        "| the first hub | requests | failed | later than 2 s | longest wait before, s | and from then "
        "on, s | sessions | reset | left after, s | ended after, s | back after, s | load |"
    )
    print("|---" * 12 + "|")
    bad = False
    for how in args.how or WORDS:
        requests, sessions, times = measure(how, args.verbose)
        waits = [(at, first) for at, first, last in requests if last is not None]
        before = [wait for at, wait in waits if at < BEFORE_S - PATIENCE_S / 5]
        then = [wait for at, wait in waits if at >= BEFORE_S - PATIENCE_S / 5]
        failed, late = len(requests) - len(waits), sum(wait > BOUND_S for _, wait in waits)
        reset = sum(not whole for _, _, whole in sessions)
        bad |= how != "kill" and bool(failed or reset or (late and how != "alone"))
        left, ended, back = ("" if it is None else f"{it:.1f}" for it in times)
        print(
            f"| {WORDS[how]} | {len(requests)} | {failed} | {late} | {max(before, default=0):.2f} "
            f"| {max(then, default=0):.2f} | {len(sessions)} | {reset} | {left} | {ended} "
            f"| {back} | {os.getloadavg()[0]:.1f} |",
            flush=True,
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
