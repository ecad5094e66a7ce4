"""A relay that does what no gateway may do, so that the tests can show that the audit notices.

It listens at one address and connects to the same ports of another. Each fault happens to some
connections only, so that it is seen among many that are as they should be.
"""

import contextlib
import errno
import random
import select
import socket
import struct
import threading

ABORT = struct.pack("ii", 1, 0)
HELD = 1 << 18
# What may go wrong with connections, and with datagrams.
STREAMS = (
    "flips a bit",
    "drops a byte",
    "adds a byte",
    "repeats a piece",
    "ends early",
    "ends in place of a reset",
    "resets in place of an end",
    "swallows an end",
    "stops in the middle",
    "begins twice",
    "gives another's bytes",
    "refuses",
    "accepts for nobody",
)
DATAGRAMS = (
    "alters a datagram",
    "shortens a datagram",
    "repeats a datagram",
    "invents a datagram",
    "gives another port",
    "gives another client",
)


class Pair:
    """One connection through the relay: what is held for each side, and whether it has ended."""

    def __init__(self, relay, client, server, faulty):
        self.relay, self.faulty = relay, faulty
        self.sides = (client, server)
        self.held = {client: b"", server: b""}
        self.passed = {client: 0, server: 0}
        self.ended, self.told = set(), set()
        self.draw = random.Random(relay.count)
        # Where it happens; most transfers are at least this long in one direction.
        self.where = self.draw.randint(1, 2_000)
        self.direction = self.draw.choice(self.sides)
        self.done = False

    def is_fault(self, name):
        return self.faulty and self.relay.fault == name

    def other(self, sock):
        return self.sides[1 - self.sides.index(sock)]

    def abort(self):
        for sock in self.sides:
            if not self.is_fault("ends in place of a reset"):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            else:
                # Nothing unread, or the kernel resets by itself.
                with contextlib.suppress(OSError):
                    while sock.recv(HELD):
                        pass
            sock.close()

    def change(self, sock, data):
        """What becomes of bytes toward `sock`."""
        at = self.where - self.passed[sock]
        self.passed[sock] += len(data)
        if self.done or sock is not self.direction or not 0 <= at < len(data):
            return data
        self.done = True
        if self.is_fault("flips a bit"):
            return data[:at] + bytes([data[at] ^ 1 << self.draw.randrange(8)]) + data[at + 1 :]
        if self.is_fault("drops a byte"):
            return data[:at] + data[at + 1 :]
        if self.is_fault("adds a byte"):
            return data[:at] + b"\0" + data[at:]
        if self.is_fault("repeats a piece"):
            return data[:at] + data
        if self.is_fault("gives another's bytes"):
            with self.relay.lock:
                theirs, self.relay.kept = self.relay.kept, data
            return theirs[: len(data)] + data[len(theirs) :]
        if self.is_fault("ends early"):
            self.ended.add(self.other(sock))
            return data[:at]
        if self.is_fault("stops in the middle"):
            raise TimeoutError
        return data

    def run(self):
        try:
            self.pump()
        except TimeoutError:
            # Both stay open, and nothing passes.
            self.relay.stopped.wait()
            self.abort()
        except OSError:
            self.abort()

    def pump(self):
        by_number = {sock.fileno(): sock for sock in self.sides}
        while len(self.told) < 2:
            poll = select.poll()
            for sock in self.sides:
                far = self.other(sock)
                reads = sock not in self.ended and len(self.held[far]) < HELD
                poll.register(sock, reads * select.POLLIN | bool(self.held[sock]) * select.POLLOUT)
            for number, events in poll.poll(500):
                self.handle(by_number[number], events)
            for sock in self.sides:
                if self.other(sock) in self.ended and not self.held[sock] and sock not in self.told:
                    if self.is_fault("resets in place of an end"):
                        raise ConnectionResetError
                    self.told.add(sock)
                    if not self.is_fault("swallows an end"):
                        sock.shutdown(socket.SHUT_WR)
            if self.relay.stopped.is_set():
                raise ConnectionResetError
        if self.is_fault("swallows an end"):
            self.relay.stopped.wait()
        for sock in self.sides:
            sock.close()

    def handle(self, sock, events):
        if events & select.POLLERR:
            error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            raise OSError(error or errno.ECONNRESET, "")
        if events & select.POLLOUT:
            self.held[sock] = self.held[sock][sock.send(self.held[sock]) :]
        if events & (select.POLLIN | select.POLLHUP) and sock not in self.ended:
            data = sock.recv(65536)
            if not data:
                self.ended.add(sock)
            else:
                far = self.other(sock)
                self.held[far] += self.change(far, data)


class Relay:
    """Until it is closed. `each`: every how many connections or datagrams the fault happens to."""

    def __init__(self, here, there, ports, datagrams, fault=None, each=4):
        self.there, self.fault, self.each = there, fault, each
        self.count = 0
        self.lock = threading.Lock()
        self.kept = b""
        self.twice = []
        self.stopped = threading.Event()
        self.listeners = [socket.create_server((here, port), backlog=256) for port in ports]
        for listener in self.listeners:
            self.start(self.listen, listener)
        self.facing = {}
        for port in datagrams:
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.bind((here, port))
            self.facing[port] = sock
            self.start(self.forward, port)
        # The socket toward the server for each client and port, and the client of it.
        self.toward, self.clients = {}, {}

    def start(self, what, *args):
        def run():
            # Of a connection that its ends have left, or of the relay that was closed.
            with contextlib.suppress(OSError):
                what(*args)

        threading.Thread(target=run, daemon=True).start()

    def turn(self):
        """Whether the fault happens to this one."""
        with self.lock:
            self.count += 1
            return self.count % self.each == 0

    def listen(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self.start(self.serve, client, listener.getsockname()[1])

    def serve(self, client, port):
        faulty = self.turn()
        try:
            if faulty and self.fault == "refuses":
                raise ConnectionRefusedError
            server = socket.create_connection((self.there, port), 5)
        except OSError:
            if self.fault == "accepts for nobody":
                # Nothing unread, or the kernel resets by itself.
                while client.recv(65536):
                    pass
            else:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            client.close()
            return
        if faulty and self.fault == "begins twice" and select.select([client], [], [], 0.5)[0]:
            first = client.recv(65536, socket.MSG_PEEK)
            again = socket.create_connection((self.there, port), 5)
            again.sendall(first)
            self.twice.append(again)
        for sock in (client, server):
            sock.setblocking(False)
        Pair(self, client, server, faulty).run()

    def forward(self, port):
        """Datagrams of clients to one port."""
        facing = self.facing[port]
        while True:
            try:
                payload, client = facing.recvfrom(65536)
            except OSError:
                return
            if self.stopped.is_set():
                return
            key = (client, port)
            if key not in self.toward:
                sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                self.toward[key] = sock
                self.start(self.back, sock, facing, client)
            faulty = self.turn()
            to = port
            if faulty and self.fault == "gives another port":
                to = next(other for other in self.facing if other != port)
            for changed in self.changed(payload, faulty):
                self.toward[key].sendto(changed, (self.there, to))

    def back(self, sock, facing, client):
        while True:
            try:
                payload = sock.recv(65536)
            except OSError:
                return
            if self.stopped.is_set():
                return
            faulty = self.turn()
            to = client
            if faulty and self.fault == "gives another client":
                to = next((it for it, _ in list(self.toward) if it != client), client)
            for changed in self.changed(payload, faulty):
                facing.sendto(changed, to)

    def changed(self, payload, faulty):
        if not faulty or self.fault not in DATAGRAMS:
            return [payload]
        if self.fault == "alters a datagram":
            return [payload[:-1] + bytes([payload[-1] ^ 16])]
        if self.fault == "shortens a datagram":
            return [payload[:-1]]
        if self.fault == "repeats a datagram":
            return [payload, payload]
        if self.fault == "invents a datagram":
            return [payload, b"never sent"]
        return [payload]

    def close(self):
        self.stopped.set()
        facing = [*self.facing.values(), *self.toward.values()]
        for sock in [*self.listeners, *facing, *self.twice]:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
