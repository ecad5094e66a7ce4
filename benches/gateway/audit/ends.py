#!/usr/bin/env python3
"""The two ends of the audit's transfers. Each writes down what it did and what it saw, and judges nothing.

    ends.py server --journal FILE
    ends.py client --journal FILE --server 10.91.3.2 --transfers 100

One line of JSON for each connection when it ends: bytes that the kernel took, bytes that came and their
SHA-256, how this end ended, and how it saw the other end. One line for each datagram. A server prints
`ready`, and ends when its input has ended and its connections have.
"""

import argparse
import contextlib
import errno
import hashlib
import heapq
import itertools
import json
import random
import selectors
import socket
import struct
import sys
import time

import flows
import script

# Ports of the server: where the client leads, where the server does, where nobody is, and of datagrams.
LEADS, FOLLOWS, NOBODY = 7101, 7102, 7103
DATAGRAMS = (7111, 7112, 7113, 7114)
READ = 65536
ABORT = struct.pack("ii", 1, 0)
# What the kernel says of a connection that was reset.
RESET = (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN)


class Loop:
    """Waits for sockets and times."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.times = []
        self.order = itertools.count()

    def at(self, when, what):
        heapq.heappush(self.times, (when, next(self.order), what))

    def want(self, sock, events, what):
        """Calls `what(events)` when `sock` is ready, in place of what was asked before."""
        known = sock in self.selector.get_map()
        if not events:
            if known:
                self.selector.unregister(sock)
        elif known:
            self.selector.modify(sock, events, what)
        else:
            self.selector.register(sock, events, what)

    def turn(self):
        now = time.monotonic()
        wait = min(1.0, max(0.0, self.times[0][0] - now)) if self.times else 1.0
        for key, events in self.selector.select(wait):
            # What came before it in this turn may have closed it.
            if self.selector.get_map().get(key.fd) is key:
                key.data(events)
        now = time.monotonic()
        while self.times and self.times[0][0] <= now:
            heapq.heappop(self.times)[2]()


class Journal:
    def __init__(self, path, side):
        self.file = open(path, "w")
        self.side = side

    def write(self, **line):
        self.file.write(json.dumps({"side": self.side, **line}) + "\n")

    def close(self):
        self.file.close()


class End:
    """One end of a connection that stands."""

    def __init__(self, loop, sock, journal, patience, gone, leads, identity=None, began=None):
        self.loop, self.sock, self.journal = loop, sock, journal
        self.patience, self.gone = patience, gone
        self.leads = leads
        self.began = began or time.monotonic()
        self.digest = hashlib.sha256()
        self.wrote = self.read = 0
        self.first = b""
        self.wrong = None
        # When it ended its stream, how it ended at last, and how it saw the other end.
        self.ended = self.how = self.saw = None
        self.steps, self.pace = [], None
        self.left = 0
        self.paused = False
        self.credit_from = self.began
        self.progress = time.monotonic()
        self.open = True
        self.identity = None
        self.mine = self.theirs = None
        if identity:
            self.know(identity)
        self.watch()
        self.advance()

    def know(self, identity):
        me, them = script.SIDES if self.leads else script.SIDES[::-1]
        talk = script.script(identity)
        self.identity = identity
        self.mine, self.theirs = script.Text(identity, me), script.Text(identity, them)
        self.steps, self.pace = talk.steps[me], talk.pace[me]

    def watch(self):
        if not self.open:
            return
        if time.monotonic() - self.progress > self.patience:
            self.saw = self.saw or self.seen("silent")
            self.finish(abort=True)
            return
        self.loop.at(time.monotonic() + 1, self.watch)

    def seen(self, how):
        return {"how": how, "at": time.monotonic()}

    def ready(self, events):
        if events & selectors.EVENT_READ:
            self.hear()
        if self.open and events & selectors.EVENT_WRITE:
            self.say()
        if self.open:
            self.advance()

    def hear(self):
        """Reads once; true if there may be more."""
        try:
            data = self.sock.recv(READ)
        except BlockingIOError:
            return False
        except OSError as error:
            self.fail(error)
            return False
        self.progress = time.monotonic()
        if not data:
            self.saw = self.saw or self.seen("end")
            return False
        self.take(data)
        return True

    def take(self, data):
        self.digest.update(data)
        if len(self.first) < script.LEAST:
            self.first = (self.first + data)[:64]
        if self.identity is None:
            held, self.read = self.read, self.read + len(data)
            if len(self.first) < script.LEAST:
                return
            identity = self.first[len(script.MAGIC) : script.LEAST]
            if script.kind(identity) is None:
                self.wrong = {"at": 0, "came": self.first.hex()}
                self.finish(abort=True)
                return
            self.know(identity)
            # The part of its beginning that came before is in `first`.
            self.compare(0, self.first[:held] + data)
            return
        self.compare(self.read, data)
        self.read += len(data)

    def compare(self, offset, data):
        """Only so that the journal shows what came in place of what; the judge goes by the digest."""
        at = 0
        while at < len(data) and self.wrong is None:
            wanted = self.theirs.at(offset + at, len(data) - at)
            came = data[at : at + len(wanted)]
            if came != wanted:
                where = next(i for i, (a, b) in enumerate(zip(came, wanted)) if a != b)
                self.wrong = {
                    "at": offset + at + where,
                    "came": came[where : where + 32].hex(),
                    "wanted": wanted[where : where + 32].hex(),
                }
            at += len(wanted)

    def fail(self, error):
        how = "reset" if error.errno in RESET else "error"
        saw = {**self.seen(how), "error": errno.errorcode.get(error.errno, str(error))}
        self.saw = self.saw or saw
        if not self.how:
            self.how = {**self.seen("cut"), "error": saw["error"]}
        self.finish()

    def say(self):
        """Writes what the step has left, as far as the kernel takes it."""
        while self.left:
            piece = self.mine.at(self.wrote, min(self.left, READ))
            try:
                taken = self.sock.send(piece)
            except BlockingIOError:
                return
            except OSError as error:
                # After an error was told here, an end would be read in its place: what came before it
                # is read first, and then the error stands.
                with contextlib.suppress(OSError):
                    while data := self.sock.recv(READ):
                        self.take(data)
                self.fail(error)
                return
            self.progress = time.monotonic()
            self.wrote += taken
            self.left -= taken

    def resume(self):
        self.paused = False
        self.progress = time.monotonic()
        if self.open:
            self.advance()

    def advance(self):
        """Does the steps that can be done now."""
        while self.open and not self.left and not self.paused and self.steps:
            what, *more = self.steps[0]
            if what == "hear" and self.read < more[0]:
                if self.saw:
                    # It never comes.
                    self.finish(abort=True)
                    return
                break
            if what == "hear end" and not self.saw:
                break
            self.steps = self.steps[1:]
            if what == "say":
                self.left = more[0]
                self.say()
            elif what == "pause":
                self.paused = True
                self.loop.at(time.monotonic() + more[0], self.resume)
            elif what == "end":
                try:
                    self.sock.shutdown(socket.SHUT_WR)
                except OSError as error:
                    self.fail(error)
                else:
                    self.how = self.seen("end")
                    self.ended = self.how["at"]
            elif what == "reset":
                self.how = self.seen("reset")
                self.finish(abort=True)
        if not self.open:
            return
        if self.saw and (self.how or self.identity is None):
            self.finish()
            return
        self.want()

    def want(self):
        events = selectors.EVENT_WRITE if self.left else 0
        if not self.saw:
            now = time.monotonic()
            ahead = self.read / self.pace - (now - self.credit_from) if self.pace else 0
            if ahead > 0.1:
                self.progress = now
                self.loop.at(now + ahead, self.again)
            else:
                events |= selectors.EVENT_READ
        self.loop.want(self.sock, events, self.ready)

    def again(self):
        if self.open:
            self.want()

    def finish(self, abort=False):
        if not self.open:
            return
        self.open = False
        self.loop.want(self.sock, 0, None)
        if abort:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.how = self.how or self.seen("left")
        self.sock.close()
        self.journal.write(
            what="connection",
            identity=self.identity.hex() if self.identity else None,
            kind=script.kind(self.identity),
            leads=self.leads,
            began=self.began,
            wrote=self.wrote,
            ended=self.ended,
            how=self.how,
            read=self.read,
            digest=self.digest.hexdigest(),
            saw=self.saw,
            wrong=self.wrong,
            closed=time.monotonic(),
        )
        self.gone(self)


class Dial:
    """A client's connection until it stands: straight, or asked for at a SOCKS5 or CONNECT listener."""

    def __init__(self, client, identity, port, address):
        self.client, self.identity = client, identity
        self.address, self.port = address, port
        self.began = time.monotonic()
        family = socket.AF_INET6 if ":" in (client.proxy or (address,))[0] else socket.AF_INET
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        self.sock.setblocking(False)
        self.open = True
        self.got = b""
        self.steps = self.greet()
        self.need = None
        self.sock.connect_ex(client.proxy or (address, port))
        client.loop.want(self.sock, selectors.EVENT_WRITE, self.connected)
        client.loop.at(self.began + client.patience, self.give_up)

    def greet(self):
        """What is said to the listener, and what must come for it; RFC 1928, RFC 9110."""
        address, port = self.address, self.port
        if self.client.via == "socks":
            got = yield b"\5\1\0", lambda got: len(got) >= 2
            if got != b"\5\0":
                raise ConnectionRefusedError(f"the greeting was answered with {got.hex()}")
            kind, family = (b"\4", socket.AF_INET6) if ":" in address else (b"\1", socket.AF_INET)
            place = socket.inet_pton(family, address) + struct.pack("!H", port)
            got = yield b"\5\1\0" + kind + place, lambda got: len(got) >= 10
            if got[:2] != b"\5\0" or len(got) != 10:
                raise ConnectionRefusedError(f"the request was answered with {got.hex()}")
        elif self.client.via == "connect":
            host = f"[{address}]" if ":" in address else address
            ask = f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
            got = yield ask, lambda got: b"\r\n\r\n" in got
            if not got.startswith(b"HTTP/1.1 200 "):
                raise ConnectionRefusedError(got[:60].decode(errors="replace"))

    def connected(self, _):
        error = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            self.refused(errno.errorcode.get(error, str(error)))
            return
        self.step(None)

    def step(self, got):
        try:
            words, self.need = self.steps.send(got)
            self.got = b""
            self.sock.send(words)
            self.client.loop.want(self.sock, selectors.EVENT_READ, self.answered)
        except StopIteration:
            self.stands()
        except OSError as error:
            self.refused(str(error))

    def answered(self, _):
        # One byte at a time, so that nothing of the server is taken here.
        try:
            byte = self.sock.recv(1)
        except OSError as error:
            self.refused(str(error))
            return
        if not byte:
            self.refused(f"closed after {self.got.hex()}")
            return
        self.got += byte
        if self.need(self.got):
            self.step(self.got)

    def stands(self):
        self.open = False
        self.client.stands(self)

    def give_up(self):
        if self.open:
            self.refused("no answer", silent=True)

    def refused(self, why, silent=False):
        self.open = False
        self.client.loop.want(self.sock, 0, None)
        self.sock.close()
        self.client.journal.write(
            what="refused",
            identity=self.identity.hex() if self.identity else None,
            kind=script.kind(self.identity),
            port=self.port,
            began=self.began,
            closed=time.monotonic(),
            why=why,
            silent=silent,
        )
        self.client.gone(None)


class Client:
    def __init__(self, args, journal):
        self.loop, self.journal = Loop(), journal
        self.via = args.via
        self.proxy = tuple(args.proxy.rsplit(":", 1)) if args.proxy else None
        if self.proxy:
            self.proxy = (self.proxy[0], int(self.proxy[1]))
        self.patience = args.patience
        self.servers = args.server
        self.left = args.transfers
        self.most = args.most
        self.each = args.over / max(1, args.transfers)
        self.nobody = args.nobody
        self.draw = random.Random(f"{args.seed} {args.tag} client")
        self.identities = script.identities(args.seed, f"{args.tag} client", args.without)
        self.active, self.flows = 0, None
        self.loop.at(time.monotonic(), self.begin)

    def begin(self):
        if not self.left:
            return
        self.loop.at(time.monotonic() + self.each, self.begin)
        if self.active >= self.most:
            return
        self.left -= 1
        self.active += 1
        address = self.draw.choice(self.servers)
        if self.draw.random() < 0.25:
            Dial(self, None, FOLLOWS, address)
            return
        identity = next(self.identities)
        port = self.nobody if script.kind(identity) == "nobody" else LEADS
        Dial(self, identity, port, address)

    def stands(self, dial):
        leads = dial.identity is not None
        rest = (self.journal, self.patience, self.gone, leads, dial.identity, dial.began)
        End(self.loop, dial.sock, *rest)

    def gone(self, _):
        self.active -= 1

    def run(self):
        while self.left or self.active or (self.flows and self.flows.active):
            self.loop.turn()


class Server:
    def __init__(self, args, journal):
        self.loop, self.journal = Loop(), journal
        self.patience = args.patience
        self.identities = script.identities(
            args.seed, f"{args.tag} server", {"nobody", *args.without}
        )
        self.active, self.flows = set(), None
        self.stopping = False
        for address in args.listen:
            for port in (LEADS, FOLLOWS):
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                listener = socket.create_server((address, port), family=family, backlog=512)
                listener.setblocking(False)
                accept = lambda _, listener=listener, port=port: self.accept(listener, port)
                self.loop.want(listener, selectors.EVENT_READ, accept)

    def accept(self, listener, port):
        try:
            sock, _ = listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        leads = port == FOLLOWS
        identity = next(self.identities) if leads else None
        rest = (self.journal, self.patience, self.active.discard, leads, identity)
        # It may end in its first step.
        end = End(self.loop, sock, *rest)
        if end.open:
            self.active.add(end)

    def stop(self, _):
        # The caller has closed the input.
        if not sys.stdin.buffer.raw.read(1):
            self.loop.want(sys.stdin, 0, None)
            self.stopping = True

    def run(self):
        self.loop.want(sys.stdin, selectors.EVENT_READ, self.stop)
        print("ready", flush=True)
        while self.active or not self.stopping:
            self.loop.turn()


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("side", choices=("client", "server"))
    parser.add_argument("--journal", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tag", default="", help="another one, other transfers")
    parser.add_argument("--patience", type=float, default=60, help="s without progress")
    parser.add_argument("--without", type=lambda text: text.split(","), default=[])
    parser.add_argument("--flows", type=int, default=0, help="flows of UDP beside the transfers")
    # Of a server.
    parser.add_argument("--listen", action="append", default=[])
    # Of a client.
    parser.add_argument("--server", action="append", default=[])
    parser.add_argument("--via", choices=("straight", "socks", "connect"), default="straight")
    parser.add_argument("--proxy")
    parser.add_argument("--nobody", type=int, default=NOBODY)
    parser.add_argument("--transfers", type=int, default=100)
    parser.add_argument("--most", type=int, default=300, help="at a time")
    parser.add_argument("--over", type=float, default=15, help="s in which they begin")
    return parser.parse_args()


def main():
    args = options()
    journal = Journal(args.journal, args.side)
    made = Client(args, journal) if args.side == "client" else Server(args, journal)
    if args.flows:
        made.flows = flows.begin(made, args, DATAGRAMS)
    made.run()
    if made.flows:
        made.flows.close()
    journal.close()


if __name__ == "__main__":
    main()
