#!/usr/bin/env python3
"""A terminal with two WANs: 10 Mbit/s, 600 ms (a satellite) and 5 Mbit/s, 60 ms.

    wans.py
    wans.py --case unplug --verbose

Four cases; a client reaches a server through the terminal's CONNECT listener.

- `download`: one download of 20 s, over either WAN alone, over both, and with Linux' MPTCP (`cubic`)
  between the two boxes on the same links. Rate from the second half.
- `page`: a page of 30 objects of 20 kB, six connections at a time, each of its own: the median of
  several, over either WAN alone and over both.
- `small`: one request for 1 kB to 1 MB, the same way.
- `unplug`: a download, sessions that ask and are answered four times a second, and requests, while one
  WAN loses everything for 10 s: both ways, to the hub only, to the terminal only; first the satellite,
  then the other. The longest time without a byte of the download, the longest answer of a session,
  failed requests, and everything compared byte for byte.

Exit status 0 where both get at least 13.5 Mbit/s, nothing takes longer over both than over the better
one (5% and 20 ms), no gap is 2 s, and nothing is lost or false; 1 otherwise; 2 could not run. Needs
root. Python's standard library only.
"""

import argparse
import contextlib
import json
import random
import socket
import statistics
import sys
import threading
import time
from pathlib import Path

from connect import open_to, result, start
from lost import lacks

HERE = Path(__file__).resolve()
PORT = 9001
MPTCP_PORT = 9002
IPPROTO_MPTCP = 262
SATELLITE = ("10 Mbit/s", "600 ms")
OTHER = ("5 Mbit/s", "60 ms")
WAYS = ("satellite", "5g", "both")
CASES = ("download", "page", "small", "unplug")
SECONDS = 20.0
OBJECTS, OBJECT, AT_A_TIME, PAGES = 30, 20_000, 6, 5
SIZES = (1_000, 10_000, 100_000, 1_000_000)
SMALLS = 9
OUTAGE_S = 10.0
LEAST_MBPS = 13.5
GAP_S = 2.0
# What every sender sends: bytes by which each place is known.
PATTERN = random.Random(7).randbytes(1 << 20)


def content(offset, length):
    """The bytes of a stream from an offset on."""
    begin = offset % len(PATTERN)
    whole = PATTERN[begin:] + PATTERN * (length // len(PATTERN) + 1)
    return whole[:length]


def serve():
    """`N\\n`: N bytes. `download\\n`: without end. `session\\n`: what comes, sent back."""

    def one(connection):
        with connection, contextlib.suppress(OSError):
            asked = b""
            while not asked.endswith(b"\n"):
                more = connection.recv(1)
                if not more:
                    return
                asked += more
            if asked == b"session\n":
                while more := connection.recv(1 << 16):
                    connection.sendall(more)
                return
            left = None if asked == b"download\n" else int(asked)
            sent = 0
            while left is None or sent < left:
                length = 1 << 16 if left is None else min(1 << 16, left - sent)
                connection.sendall(content(sent, length))
                sent += length

    def listen(listener):
        while True:
            threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    mptcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    mptcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    mptcp.bind(("0.0.0.0", MPTCP_PORT))
    mptcp.listen()
    threading.Thread(target=listen, args=(mptcp,), daemon=True).start()
    listen(socket.create_server(("0.0.0.0", PORT), backlog=256))


class Client:
    """The client's part, in its namespace. `proxy` is the terminal's listener."""

    def __init__(self, server, proxy=None):
        self.server = tuple(server)
        self.proxy = tuple(proxy) if proxy else None
        self.wrong = 0

    def open(self, first, patience=30.0):
        """A connection with its first bytes, and what has come of the answer."""
        if not self.proxy:
            connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
            connection.settimeout(patience)
            connection.connect(self.server)
            connection.sendall(first)
            return connection, b""
        return open_to(self.proxy, self.server, first, patience)

    def fetch(self, length):
        """Seconds until all of it is there; None where it does not come."""
        begin, at = time.monotonic(), 0
        with contextlib.suppress(OSError):
            connection, got = self.open(f"{length}\n".encode())
            with connection:
                while True:
                    self.wrong += got != content(at, len(got))
                    at += len(got)
                    got = connection.recv(1 << 16)
                    if not got:
                        break
            if at == length:
                return time.monotonic() - begin
        return None

    def download(self, seconds):
        """When how much of it was there: pairs of seconds and bytes."""
        begin, at, seen = time.monotonic(), 0, []
        connection, got = self.open(b"download\n")
        with connection:
            while time.monotonic() < begin + seconds:
                self.wrong += got != content(at, len(got))
                at += len(got)
                seen.append((time.monotonic() - begin, at))
                got = connection.recv(1 << 18)
                if not got:
                    raise ConnectionResetError("the download has ended")
        return seen

    def page(self):
        """Seconds for a page."""
        left, lock, begin = [OBJECT] * OBJECTS, threading.Lock(), time.monotonic()

        def one():
            while True:
                with lock:
                    if not left:
                        return
                    length = left.pop()
                if self.fetch(length) is None:
                    self.wrong += 1

        threads = [threading.Thread(target=one) for _ in range(AT_A_TIME)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.monotonic() - begin

    def session(self, seconds):
        """The longest answer; None where one does not come."""
        longest, draws = 0.0, random.Random(seconds)
        try:
            connection, got = self.open(b"session\n")
            with connection:
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    asked, at = draws.randbytes(300), time.monotonic()
                    connection.sendall(asked)
                    while len(got) < len(asked):
                        more = connection.recv(1 << 16)
                        if not more:
                            return None
                        got += more
                    self.wrong += got != asked
                    got = b""
                    longest = max(longest, time.monotonic() - at)
                    time.sleep(0.25)
        except OSError:
            return None
        return longest

    def load(self, seconds):
        """A download, sessions and requests at a time."""
        result = {"gap": None, "sessions": [], "requests": []}

        def download():
            with contextlib.suppress(OSError):
                seen = self.download(seconds)
                times = [at for at, _ in seen]
                result["gap"] = max(b - a for a, b in zip(times, times[1:]))
                result["bytes"] = seen[-1][1]

        def sessions():
            result["sessions"].append(self.session(seconds - 1))

        def request():
            result["requests"].append(self.fetch(10_000))

        threads = [threading.Thread(target=it) for it in (download, *[sessions] * 4)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + seconds - 5
        while time.monotonic() < end:
            threads.append(threading.Thread(target=request))
            threads[-1].start()
            time.sleep(0.2)
        for thread in threads:
            thread.join()
        return result

    def run(self, what, *args):
        result = getattr(self, what)(*args)
        json.dump([result, self.wrong], sys.stdout)


def ask(net, node, what, server, proxy=None, *args, timeout=180):
    """What the client on a node finds; its errors are this program's."""
    return result(start(net, node, HERE, "--ask", server, proxy, what, args), timeout)


def started(net, way):
    """Both boxes, with the WANs of a way."""
    from boxes import boxes, by_connect
    from topology import Link

    rate, rtt = OTHER
    interface, told = ("wwan", Link(rate, rtt)) if way == "5g" else ("sat", None)
    more = {"link of terminal": f'bind = "{interface}"'}
    if way == "both":
        wan = f'[[wan]]\nname = "5g"\nport = 4434\nrate = "{rate}"\nrtt = "{rtt}"\n'
        more |= {"hub": wan, "terminal": f'{wan}bind = "wwan"\n'}
    made = boxes(net, by_connect(), more, told=told, interface=interface)
    end = time.monotonic() + 20
    wanted = 2 if way == "both" else 1
    while len(made["terminal"].status().get("associations", [])) < wanted:
        if time.monotonic() > end:
            raise RuntimeError(f"not all WANs are up: {made['terminal'].log()}")
        time.sleep(0.1)
    return made


def rate(seen):
    """Mbit/s of the second half."""
    half = [(at, length) for at, length in seen if at > SECONDS / 2]
    (begin, first), (end, last) = half[0], half[-1]
    return (last - first) * 8e-6 / (end - begin)


def mptcp(net):
    """Linux' MPTCP between the boxes: the terminal has a second address, and takes a second subflow."""
    from topology import HUB_SATELLITE

    for node, name, peer in (("terminal", "wwan", "10.77.4.1"), ("hub", "wwan", "10.77.4.2")):
        net.run(node, "sysctl", "-qw", "net.ipv4.tcp_rmem=4096 131072 33554432")
        net.run(node, "sysctl", "-qw", "net.ipv4.tcp_wmem=4096 131072 33554432")
        net.run(node, "ip", "mptcp", "limits", "set", "subflow", "2", "add_addr_accepted", "2")
        kind = "subflow" if node == "terminal" else "signal"
        net.run(node, "ip", "mptcp", "endpoint", "add", peer, "dev", name, kind)
    net.start("hub", [sys.executable, HERE, "--serve"])
    time.sleep(1)
    seen, wrong = ask(net, "terminal", "download", (HUB_SATELLITE, MPTCP_PORT), None, SECONDS)
    for node in ("terminal", "hub"):
        net.run(node, "ip", "mptcp", "endpoint", "flush")
    return rate(seen), wrong


class Report:
    """What is printed, and whether it is as it should be."""

    def __init__(self):
        self.found = {}
        self.good = True

    def line(self, name, text, good=True, **values):
        self.found[name] = {**values, "good": good}
        self.good &= good
        print(f"| {name} | {text}{'' if good else ' **missed**'} |", flush=True)


def unplugged(net, made, ends, report):
    server, proxy = ends
    cases = [
        (number, nodes)
        for number in (2, 4)
        for nodes in (("terminal", "hub"), ("hub",), ("terminal",))
    ]
    for number, nodes in cases:
        name = {2: "satellite", 4: "5g"}[number]
        towards = "both ways" if len(nodes) == 2 else f"to the {nodes[0]}"
        results = []
        seconds = 6 + OUTAGE_S + 6

        def run():
            results.append(ask(net, "client", "load", server, proxy, seconds))

        lost = threading.Thread(target=run)
        lost.start()
        time.sleep(6)
        with net.outage(number, nodes):
            time.sleep(OUTAGE_S)
        lost.join()
        if not results:
            raise RuntimeError("the load has failed")
        load, wrong = results[0]
        failed = sum(it is None for it in load["requests"])
        slow = max((it for it in load["requests"] if it is not None), default=0)
        cut = sum(it is None for it in load["sessions"])
        longest = max((it for it in load["sessions"] if it is not None), default=0)
        gap = load["gap"]
        good = gap is not None and gap < GAP_S and failed == cut == wrong == 0
        shown = "cut" if gap is None else f"gap {gap:.2f} s"
        report.line(
            f"unplug {name}, {towards}",
            f"{shown}; {failed} of {len(load['requests'])} requests failed, longest {slow:.2f} s; "
            f"{cut} of {len(load['sessions'])} sessions cut, longest answer {longest:.2f} s; {wrong} false",
            good,
            gap=gap,
            failed=failed,
            cut=cut,
            longest=longest,
            slow=slow,
            wrong=wrong,
        )
        # The path settles, and what is left of the last one ends.
        time.sleep(4)


def measure(cases, verbose):
    from boxes import CONNECT, stop
    from topology import SERVER, TERMINAL, Link, Topology

    ends = ((SERVER, PORT), (TERMINAL, CONNECT))
    report = Report()
    print("| case | measured |\n|---|---|")
    links = [Link(rate=rate, rtt=rtt) for rate, rtt in (SATELLITE, OTHER)]
    values = {}
    with Topology("wans", *links) as net:
        net.start("server", [sys.executable, HERE, "--serve"])
        for way in WAYS:
            if way != "both" and cases == ["unplug"]:
                continue
            made = started(net, way)
            try:
                if "download" in cases:
                    seen, wrong = ask(net, "client", "download", *ends, SECONDS)
                    mbps = rate(seen)
                    good = wrong == 0 and (way != "both" or mbps >= LEAST_MBPS)
                    report.line(
                        f"download, {way}", f"{mbps:.2f} Mbit/s; {wrong} false", good, mbps=mbps
                    )
                if "page" in cases:
                    pages = [ask(net, "client", "page", *ends) for _ in range(PAGES)]
                    wrong = sum(wrong for _, wrong in pages)
                    values["page", way] = statistics.median(took for took, _ in pages)
                if "small" in cases:
                    for size in SIZES:
                        all_ = [ask(net, "client", "fetch", *ends, size)[0] for _ in range(SMALLS)]
                        values[f"{size // 1000} kB", way] = statistics.median(
                            it if it is not None else float("inf") for it in all_
                        )
                if way == "both" and "unplug" in cases:
                    unplugged(net, made, ends, report)
            finally:
                if verbose:
                    for box in made.values():
                        print(box.log(), file=sys.stderr)
                stop(made)
        if "download" in cases:
            mbps, wrong = mptcp(net)
            report.line("download, MPTCP", f"{mbps:.2f} Mbit/s; {wrong} false", mbps=mbps)
    for what in dict.fromkeys(what for what, _ in values):
        one, two, both = (values[what, way] for way in WAYS)
        good = both <= 1.05 * min(one, two) + 0.02
        text = f"{both:.3f} s over both; satellite {one:.3f} s, 5g {two:.3f} s"
        report.line(what, text, good, both=both, satellite=one, other=two)
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", choices=CASES, help="all by default")
    parser.add_argument("--verbose", action="store_true", help="the boxes' logs as well")
    parser.add_argument("--json", action="store_true", help="the figures at the end, as JSON")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve()
    if args.ask:
        server, proxy, what, more = json.loads(args.ask)
        return Client(server, proxy).run(what, *more)
    if why := lacks():
        print(f"skipped: {why}", file=sys.stderr)
        return 2
    report = measure(args.case or list(CASES), args.verbose)
    if args.json:
        print(json.dumps(report.found))
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main())
