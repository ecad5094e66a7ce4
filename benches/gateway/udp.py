#!/usr/bin/env python3
"""UDP and QUIC beside downloads: carried by the association, and passing beside it, with room or without.

    udp.py
    udp.py --case call --way down --udp carry --verbose
    udp.py --case page --python venv/bin/python     # a Python with aioquic

Two boxes over the emulated satellite (20 Mbit/s, 600 ms), interception. `call`: datagrams of 1200 bytes
at half of the link, alone and then beside four downloads, or uploads, of the same user. `page`: a page of
HTTP/3 (aioquic: a document and 30 objects of 10 kB at once), alone and then beside 20 downloads.
Exit status: 0 where UDP is carried or has room, less than 0.5% of the datagrams is lost beside the downloads, 95% of
them wait at most 60 ms longer than alone, and 95% of the link is used; and a page takes at most 1.2 times
its idle time; 1 otherwise; 2 could not run.
"""

import argparse
import asyncio
import contextlib
import json
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

from connect import result, start
from lost import lacks

HERE = Path(__file__).resolve()
PORT, PAGES = 9005, 9006
RATE = 20e6
# Payload of a datagram, and what of it is an IP packet.
PAYLOAD, HEADERS = 1200, 28
OFFERED = 0.5
# Seconds after the start between which datagrams and bytes count.
BEGINS, ENDS = 15.0, 45.0
# Payload of an IP packet of 1500 bytes that carries a stream of the association.
STREAM = 1446 / 1500
DOWNLOADS = {"call": 4, "page": 20}
OBJECTS, OBJECT = 30, 10_000
PAGES_ASKED = 5
BLOCK = bytes(1 << 16)
HEAD = struct.Struct("!Id")
# What the boxes' files say in each case. `yield`: it passes beside, and the tunnel gives way.
UDP = {
    "carry": {"terminal": "[udp]\n"},
    "yield": {"link": 'beside = "60%"'},
    "pass": {},
}


def stream(sock, to, began, seconds):
    """Sends datagrams at an even pace, each with its number and when it left."""
    pause = (PAYLOAD + HEADERS) * 8 / (OFFERED * RATE)
    number = 0
    while (now := time.monotonic()) < began + seconds:
        while began + number * pause <= now:
            sock.sendto(HEAD.pack(number, now) + bytes(PAYLOAD - HEAD.size), to)
            number += 1
        time.sleep(max(0.0, began + number * pause - time.monotonic()))


def receive(sock, began, seconds):
    """The delays of the datagrams that were sent in the time that counts, and how many these are."""
    delays, pause = [], (PAYLOAD + HEADERS) * 8 / (OFFERED * RATE)
    sock.settimeout(0.5)
    while time.monotonic() < began + seconds + 5:
        with contextlib.suppress(TimeoutError):
            data = sock.recv(65536)
            if len(data) >= HEAD.size:
                number, left = HEAD.unpack_from(data)
                if BEGINS <= number * pause < ENDS:
                    delays.append(time.monotonic() - left)
    sent = sum(BEGINS <= number * pause < ENDS for number in range(int(ENDS / pause) + 1))
    return delays, sent


def call(role, way, server, began):
    """One end of the call, in its namespace; who receives prints what it found."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        if role == "server":
            sock.bind(("0.0.0.0", PORT))
            sock.settimeout(60)
            _, to = sock.recvfrom(2048)
        else:
            to = (server, PORT)
            # It opens the flow, and a second one opens it if the first is lost.
            sock.sendto(b"hello", to)
        sends = (role == "server") == (way == "down")
        if sends:
            time.sleep(max(0.0, began - time.monotonic()))
            stream(sock, to, began, ENDS)
        else:
            json.dump(receive(sock, began, ENDS), sys.stdout)


async def serve_tcp():
    """`D` sends for ever; `U t` reads, and counts from t on; `?` says what it has counted."""
    passed = 0

    async def one(reader, writer):
        nonlocal passed
        with contextlib.suppress(OSError, ValueError):
            word, *number = (await reader.readline()).split()
            while word == b"D":
                writer.write(BLOCK)
                await writer.drain()
            while word == b"U" and (more := await reader.read(1 << 16)):
                if BEGINS <= time.monotonic() - float(number[0]) < ENDS:
                    passed += len(more)
            if word == b"?":
                writer.write(b"%d" % passed)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(one, "0.0.0.0", PORT)
    await server.serve_forever()


async def load(server, way, count, began):
    """Downloads, or uploads; prints the bytes that arrived in the time that counts."""
    passed = 0

    async def transfer():
        nonlocal passed
        reader, writer = await asyncio.open_connection(server, PORT)
        writer.write(b"D\n" if way == "down" else f"U {began}\n".encode())
        while True:
            if way == "down":
                length = len(await reader.read(1 << 16))
                if BEGINS <= time.monotonic() - began < ENDS:
                    passed += length
            else:
                writer.write(BLOCK)
                await writer.drain()

    await asyncio.sleep(max(0.0, began - time.monotonic()))
    tasks = [asyncio.create_task(transfer()) for _ in range(count)]
    await asyncio.sleep(began + ENDS - time.monotonic())
    for task in tasks:
        task.cancel()
    if way == "up":
        reader, writer = await asyncio.open_connection(server, PORT)
        writer.write(b"?\n")
        passed = int(await reader.read())
    json.dump(passed, sys.stdout)


async def serve_pages(certificate, key):
    from aioquic.asyncio import QuicConnectionProtocol, serve
    from aioquic.h3.connection import H3_ALPN, H3Connection
    from aioquic.h3.events import HeadersReceived
    from aioquic.quic.configuration import QuicConfiguration
    from aioquic.quic.events import ProtocolNegotiated

    class Pages(QuicConnectionProtocol):
        http = None

        def quic_event_received(self, event):
            if isinstance(event, ProtocolNegotiated):
                self.http = H3Connection(self._quic)
            if self.http is None:
                return
            for asked in self.http.handle_event(event):
                if isinstance(asked, HeadersReceived):
                    self.http.send_headers(asked.stream_id, [(b":status", b"200")])
                    self.http.send_data(asked.stream_id, bytes(OBJECT), end_stream=True)
            self.transmit()

    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(certificate, key)
    await serve("0.0.0.0", PAGES, configuration=configuration, create_protocol=Pages)
    await asyncio.Event().wait()


async def ask_pages(server, count):
    """Asks for so many pages, a connection each, and prints how long they took."""
    import ssl

    from aioquic.asyncio import QuicConnectionProtocol, connect
    from aioquic.h3.connection import H3_ALPN, H3Connection
    from aioquic.h3.events import DataReceived, HeadersReceived
    from aioquic.quic.configuration import QuicConfiguration

    class Client(QuicConnectionProtocol):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.http = H3Connection(self._quic)
            self.waiting = {}

        def quic_event_received(self, event):
            for came in self.http.handle_event(event):
                if isinstance(came, DataReceived | HeadersReceived) and came.stream_ended:
                    self.waiting.pop(came.stream_id).set_result(None)

        def get(self, path):
            stream = self._quic.get_next_available_stream_id()
            headers = [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"x")]
            self.http.send_headers(stream, [*headers, (b":path", path)], end_stream=True)
            self.waiting[stream] = asyncio.get_running_loop().create_future()
            self.transmit()
            return self.waiting[stream]

    times = []
    for _ in range(count):
        configuration = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN)
        configuration.verify_mode = ssl.CERT_NONE
        began = time.monotonic()
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(60):
                async with connect(
                    server, PAGES, configuration=configuration, create_protocol=Client
                ) as client:
                    await client.get(b"/")
                    await asyncio.gather(*(client.get(b"/%d" % n) for n in range(OBJECTS)))
                    times.append(time.monotonic() - began)
        await asyncio.sleep(1)
    json.dump(times, sys.stdout)


class Bed:
    """The boxes over the satellite, and the programs at both ends."""

    def __init__(self, net, python):
        self.net = net
        self.python = python

    def ask(self, node, flag, *parts):
        return start(self.net, node, HERE, flag, *parts, python=self.python)

    def call(self, way, downloads):
        """Share of datagrams lost, delays in order, and Mbit/s of the datagrams and of TCP."""
        from topology import SERVER

        began = time.monotonic() + 3
        ends = {
            role: self.ask(role, "--end", role, way, SERVER, began) for role in ("server", "client")
        }
        beside = self.ask("client", "--load", SERVER, way, downloads, began)
        delays, sent = result(ends["client" if way == "down" else "server"])
        ends["server" if way == "down" else "client"].wait()
        window = ENDS - BEGINS
        tcp = result(beside) * 8e-6 / window if downloads else 0.0
        udp = len(delays) * (PAYLOAD + HEADERS) * 8e-6 / window
        return 1 - len(delays) / sent, sorted(delays), udp, tcp

    def page(self, downloads):
        """How long a page takes, seconds: of several, each with a connection of its own."""
        from topology import SERVER

        began = time.monotonic()
        beside = self.ask("client", "--load", SERVER, "down", downloads, began)
        time.sleep(BEGINS if downloads else 0)
        times = result(self.ask("client", "--pages", SERVER, PAGES_ASKED))
        beside.terminate()
        beside.communicate()
        return times


def measure(case, way, udp, python, verbose):
    from boxes import WAYS, boxes, stop
    from topology import Link, Topology

    with Topology("udp", Link(rate="20 Mbit/s", rtt="600 ms")) as net:
        net.start("server", [sys.executable, HERE, "--tcp"])
        if case == "page":
            subject = ["-subj", "/CN=x", "-days", "2", "-nodes", "-newkey", "rsa:2048"]
            files = [net.files / "cert.pem", net.files / "key.pem"]
            made = ["openssl", "req", "-x509", *subject, "-out", files[0], "-keyout", files[1]]
            subprocess.run(made, check=True, capture_output=True)
            net.start("server", [python, HERE, "--serve-pages", *files], log="pages.log")
        made = boxes(net, WAYS["two"], UDP[udp])
        bed = Bed(net, python)
        try:
            if case == "call":
                return bed.call(way, 0), bed.call(way, DOWNLOADS[case])
            return bed.page(0), bed.page(DOWNLOADS[case])
        finally:
            if verbose:
                for role, box in made.items():
                    print(f"--- {role}\n{box.log()}", file=sys.stderr)
                    status = (box.status() or {}).get("counters", {})
                    shown = {key: value for key, value in status.items() if "udp" in key}
                    print(json.dumps(shown, indent=1), file=sys.stderr)
                if case == "page":
                    print((net.files / "pages.log").read_text()[-1000:], file=sys.stderr)
            stop(made)


def of_call(alone, beside):
    """The row of a call, and whether it is as it should be."""

    def late(delays):
        return delays[int(0.95 * len(delays))] if delays else float("inf")

    lost, delays, udp, tcp = beside
    used = (udp + tcp / STREAM) * 1e6 / RATE
    longer = 1e3 * (late(delays) - late(alone[1]))
    words = [
        f"{alone[0]:.2%}",
        f"{lost:.2%}",
        f"{longer:.0f} ms",
        f"{udp:.2f}",
        f"{tcp:.2f}",
        f"{used:.0%}",
    ]
    return words, lost < 0.005 and longer < 60 and used >= 0.95


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", choices=["call", "page"])
    parser.add_argument("--way", action="append", choices=["down", "up"])
    parser.add_argument("--udp", action="append", choices=list(UDP))
    parser.add_argument("--python", default=sys.executable, help="a Python that has aioquic")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--tcp", action="store_true", help=argparse.SUPPRESS)
    for hidden in ("--end", "--load", "--pages"):
        parser.add_argument(hidden, type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--serve-pages", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if args.tcp:
        asyncio.run(serve_tcp())
    if args.serve_pages:
        asyncio.run(serve_pages(*args.serve_pages))
    if args.end:
        call(*args.end)
        return 0
    if args.load:
        asyncio.run(load(*args.load))
        return 0
    if args.pages:
        asyncio.run(ask_pages(*args.pages))
        return 0
    if lacking := lacks():
        print(f"UDP needs {lacking}", file=sys.stderr)
        return 2
    bad = False
    for case in args.case or ("call", "page"):
        if case == "call":
            print(
                "| datagrams | UDP | lost alone | lost | later than alone, 95% | has, Mbit/s "
                "| TCP has, Mbit/s | of the link |"
            )
            print("|---" * 8 + "|")
        else:
            print("| page | UDP | alone, s | beside 20 downloads, s | longer |")
            print("|---" * 5 + "|")
        for way in (args.way or ("down", "up")) if case == "call" else ("down",):
            for udp in args.udp or UDP:
                alone, beside = measure(case, way, udp, args.python, args.verbose)
                if case == "call":
                    words, good = of_call(alone, beside)
                else:
                    whole = len(alone) == len(beside) == PAGES_ASKED
                    medians = [
                        statistics.median(times or [float("inf")]) for times in (alone, beside)
                    ]
                    words = [
                        f"{medians[0]:.2f}",
                        f"{medians[1]:.2f} ({len(beside)} of {PAGES_ASKED})",
                        f"{medians[1] / medians[0]:.2f}",
                    ]
                    good = whole and medians[1] <= 1.2 * medians[0]
                bad |= udp != "pass" and not good
                print(f"| {way} | {udp} | {' | '.join(words)} |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
