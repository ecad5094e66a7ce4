#!/usr/bin/env python3
"""Limits, and strangers that use them up: whether the others go on.

    limits.py
    limits.py --case descriptors

Over the emulated satellite of 20 Mbit/s and 600 ms:

- `descriptors`: a terminal that may open 256 files, and 300 clients that keep their connections, by
  interception and by its CONNECT listener. Each asks a question; beyond the limit it is to pass directly,
  or to be refused, within a second more than the round trips that it takes. Meanwhile the terminal's status
  is asked for.
- `requests`: one client opens 2,048 SOCKS requests, finishes none, and begins anew whenever one is closed;
  another client's requests go on.
- `handshakes`: a stranger holds 400 TLS connections to the hub without a word and sends it 1,000 packets
  a second that are no QUIC; a terminal is restarted.

A Markdown table goes to standard output. Exit status: 0 measured, 1 where a client hung or waited too long,
2 could not run. Python's standard library only.
"""

import argparse
import contextlib
import json
import os
import selectors
import socket
import stat
import sys
import threading
import time
from pathlib import Path

from connect import open_to, result, start
from lost import lacks

HERE = Path(__file__).resolve()
PORT = 7901
RTT_S = 0.6
FILES = 256
CLIENTS = 300
HALF = 2048
STALLED = 400
SECONDS = 20
OTHER = "10.77.1.9"  # a second client
# A round trip for a connection that passes directly, one for the question, and the second.
PATIENCE_S = 2 * RTT_S + 1
HANGS_S = 10
BACK_S = 5


def serve():
    """Answers each line with itself."""

    def one(connection):
        with contextlib.suppress(OSError), connection, connection.makefile("rwb") as lines:
            for line in lines:
                lines.write(line)
                lines.flush()

    listener = socket.create_server(("0.0.0.0", PORT), backlog=512)
    while True:
        threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()


def question(server, proxy=None):
    """Seconds until a new connection has answered, and the connection; an OSError where it is refused."""
    began = time.monotonic()
    if proxy:
        connection, _ = open_to(proxy, server, b"hello\n", HANGS_S)
    else:
        connection = socket.create_connection(server, HANGS_S)
        connection.sendall(b"hello\n")
    if connection.recv(100) != b"hello\n":
        connection.close()
        raise ConnectionResetError("no answer")
    return time.monotonic() - began, connection


def ask_many(server, proxy, clients):
    """Clients one after the other, all of which keep their connections: what becomes of them, as JSON."""
    held, times, refused, hung = [], [], [], 0
    for _ in range(clients):
        began = time.monotonic()
        try:
            took, connection = question(tuple(server), tuple(proxy) if proxy else None)
            times.append(took)
            held.append(connection)
        except TimeoutError:
            hung += 1
        except OSError:
            refused.append(time.monotonic() - began)
    json.dump({"times": times, "refused": refused, "hung": hung}, sys.stdout)


def socks(proxy, server, bind):
    """A request by the SOCKS5 listener, from an address of the client."""
    began = time.monotonic()
    with socket.create_connection(proxy, HANGS_S, source_address=(bind, 0)) as connection:
        connection.sendall(b"\5\1\0")
        wanted = lambda count: connection.recv(count, socket.MSG_WAITALL)
        if wanted(2) != b"\5\0":
            raise ConnectionResetError("not taken")
        host, port = server
        connection.sendall(b"\5\1\0\1" + socket.inet_aton(host) + port.to_bytes(2, "big"))
        answer = wanted(10)
        if len(answer) != 10 or answer[1]:
            raise ConnectionRefusedError("refused")
        connection.sendall(b"hello\n")
        if wanted(6) != b"hello\n":
            raise ConnectionResetError("no answer")
    return time.monotonic() - began


def half(proxy, count):
    """Keeps so many requests unfinished until the process is ended."""
    waiting = selectors.DefaultSelector()
    while True:
        while len(waiting.get_map()) < count:
            one = socket.socket()
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.connect(tuple(proxy))
            waiting.register(one, selectors.EVENT_READ)
            if len(waiting.get_map()) % 64 == 0:
                time.sleep(0.005)
        for key, _ in waiting.select(0.05):
            closed = True
            with contextlib.suppress(BlockingIOError, OSError):
                closed = not key.fileobj.recv(10)
            if closed:
                waiting.unregister(key.fileobj)
                key.fileobj.close()


def ask_beside(proxy, server, seconds):
    """Requests of another client by SOCKS5, as JSON."""
    times, failed = [], 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            times.append(socks(tuple(proxy), tuple(server), OTHER))
        except OSError:
            failed += 1
        time.sleep(0.1)
    json.dump({"times": times, "failed": failed}, sys.stdout)


def strange(hub, count):
    """Holds TLS connections without a word, and sends packets that are no QUIC."""
    hub = tuple(hub)
    held = []
    noise = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        held = [one for one in held if alive(one)]
        while len(held) < count:
            with contextlib.suppress(OSError):
                held.append(socket.create_connection(hub, 2))
        for _ in range(100):
            with contextlib.suppress(OSError):
                # The bits of an Initial packet of version 1.
                noise.sendto(b"\xc0\0\0\0\1" + os.urandom(1195), hub)
        time.sleep(0.1)


def alive(connection):
    connection.setblocking(False)
    try:
        return bool(connection.recv(10))
    except BlockingIOError:
        return True
    except OSError:
        return False


def limited(net):
    """A command that runs a terminal with few files, and other boxes without a limit."""
    from boxes import gateway

    script = net.files / "limited"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *terminal*run*|*run*terminal*) set -- prlimit --nofile={FILES}:{FILES} '
        f'{gateway()} "$@";; *) set -- {gateway()} "$@";; esac\nexec "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def descriptors():
    from boxes import CONNECT, WAYS, boxes, by_connect, stop
    from topology import SERVER, TERMINAL, Link, Topology

    for what, way in (("intercepted", WAYS["two"]), ("CONNECT", by_connect())):
        with Topology("limits", Link(rate="20 Mbit/s", rtt="600 ms")) as net:
            net.start("server", [sys.executable, HERE, "--serve"])
            before = os.environ.get("GATEWAY")
            os.environ["GATEWAY"] = limited(net)
            try:
                made = boxes(net, way)
            finally:
                os.environ.pop("GATEWAY")
                if before:
                    os.environ["GATEWAY"] = before
            try:
                proxy = (TERMINAL, CONNECT) if way.drive else None
                client = start(net, "client", HERE, "--many", (SERVER, PORT), proxy, CLIENTS)
                slowest = 0
                while client.poll() is None:
                    began = time.monotonic()
                    answered = made["terminal"].status()
                    slowest = max(slowest, time.monotonic() - began if answered else HANGS_S)
                    time.sleep(0.5)
                found = result(client)
            finally:
                stop(made)
        longest = max([*found["times"], *found["refused"]])
        bad = found["hung"] or longest > PATIENCE_S or slowest > 1
        yield (
            bad,
            (
                f"{FILES} files at the terminal, {what}",
                f"{CLIENTS} clients that stay",
                f"{len(found['times'])} answered, {len(found['refused'])} refused, {found['hung']} hung; status",
                f"{longest:.2f}; {slowest:.2f}",
            ),
        )


def requests():
    from boxes import SOCKS, boxes, by_connect, stop
    from topology import SERVER, TERMINAL, Link, Topology

    with Topology("limits", Link(rate="20 Mbit/s", rtt="600 ms")) as net:
        net.run("client", "ip", "addr", "add", f"{OTHER}/24", "dev", "terminal")
        net.start("server", [sys.executable, HERE, "--serve"])
        made = boxes(net, by_connect())
        try:
            start(net, "client", HERE, "--half", (TERMINAL, SOCKS), HALF)
            time.sleep(3)
            found = result(
                start(net, "client", HERE, "--beside", (TERMINAL, SOCKS), (SERVER, PORT), SECONDS)
            )
        finally:
            stop(made)
    longest = max(found["times"], default=HANGS_S)
    yield (
        found["failed"] or longest > PATIENCE_S,
        (
            f"{HALF:,} unfinished SOCKS requests of one client",
            "another client's requests",
            f"{len(found['times'])} answered, {found['failed']} failed",
            f"{longest:.2f}",
        ),
    )


def handshakes():
    from boxes import boxes, by_connect, stop
    from topology import HUB_SATELLITE, Link, Topology

    with Topology("limits", Link(rate="20 Mbit/s", rtt="600 ms")) as net:
        made = boxes(net, by_connect())
        try:
            start(net, "server", HERE, "--strange", (HUB_SATELLITE, 4433), STALLED)
            time.sleep(5)
            made["terminal"].kill()
            began = time.monotonic()
            made["terminal"].start()
            made["terminal"].ready()
            took = time.monotonic() - began
        finally:
            stop(made)
    yield (
        took > BACK_S,
        (
            f"{STALLED} silent TLS connections and 1,000 packets a second at the hub",
            "a terminal that starts",
            "associated after",
            f"{took:.2f}",
        ),
    )


CASES = {"descriptors": descriptors, "requests": requests, "handshakes": handshakes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, action="append")
    for part in ("many", "half", "beside", "strange"):
        parser.add_argument(f"--{part}", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    hidden = {"many": ask_many, "half": half, "beside": ask_beside, "strange": strange}
    for part, run in hidden.items():
        if given := getattr(args, part):
            run(*json.loads(given))
            return 0
    if args.serve:
        serve()
        return 0
    if lacking := lacks():
        print(f"limits need {lacking}", file=sys.stderr)
        return 2
    failed = False
    print("| what is used up | who asks | what became of them | longest, s |\n|---|---|---|---|")
    for case in args.case or CASES:
        for bad, row in CASES[case]():
            failed |= bool(bad)
            print(f"| {' | '.join(row)} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
