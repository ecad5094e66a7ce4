"""Datagrams beside the transfers: what each end sent and what came, one line of the journal each."""

import hashlib
import random
import selectors
import socket
import struct
import time

from script import Datagram, datagram_length

EACH_S = 0.25


def tag_of(args):
    """Of the datagrams of a run, so that those of another are told apart."""
    return hashlib.shake_128(f"{args.seed} {args.tag}".encode()).digest(4)


class Flows:
    """What both sides do."""

    def __init__(self, end, args):
        self.end, self.tag = end, tag_of(args)
        self.sockets = []

    def note(self, what, payload, port):
        """`port`: that of the server, and of a client its flow as well."""
        read = Datagram.read(payload)
        self.end.journal.write(
            what=what,
            tag=read.parts[1].hex() if read else None,
            flow=read.parts[2] if read else None,
            number=read.parts[3] if read else None,
            port=read.parts[4] if read else None,
            answer=read.parts[6] if read else None,
            length=len(payload),
            digest=hashlib.sha256(payload).hexdigest(),
            at=port,
            raw=None if read else payload[:64].hex(),
            time=time.monotonic(),
        )

    def take(self, sock):
        """All that has come, with who sent it."""
        while True:
            try:
                yield sock.recvfrom(65536)
            except BlockingIOError:
                return
            except OSError:
                # ICMP about one that was sent.
                continue

    def close(self):
        for sock in self.sockets:
            sock.close()


class ServerFlows(Flows):
    """Answers each datagram that it can read, with one of another length."""

    def __init__(self, end, args, ports):
        super().__init__(end, args)
        self.draw = random.Random(f"{args.seed} {args.tag} answers")
        for address in args.listen:
            for port in ports:
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                sock = socket.socket(family, socket.SOCK_DGRAM)
                sock.bind((address, port))
                sock.setblocking(False)
                self.sockets.append(sock)
                came = lambda _, sock=sock, port=port: self.came(sock, port)
                end.loop.want(sock, selectors.EVENT_READ, came)

    def came(self, sock, port):
        for payload, client in self.take(sock):
            self.note("came", payload, port)
            asked = Datagram.read(payload)
            if not asked or asked.parts[6]:
                continue
            _, tag, flow, number, to, _, _ = asked.parts
            length = datagram_length(self.draw)
            answer = Datagram(tag, flow, number, to, length, 1).payload()
            try:
                sock.sendto(answer, client)
            except OSError:
                continue
            self.note("sent", answer, port)


class Association:
    """A flow through a SOCKS5 listener: RFC 1928, section 7. It is asked for again where it has ended."""

    def __init__(self, proxy, sock):
        self.proxy, self.sock = proxy, sock
        self.tcp, self.relay = None, None

    def stands(self):
        """True while its connection does, which is made anew a moment later at the earliest."""
        if self.tcp:
            try:
                if self.tcp.recv(1):
                    return True
            except BlockingIOError:
                return True
            except OSError:
                pass
            self.tcp.close()
            self.tcp = None
        try:
            tcp = socket.create_connection(self.proxy, 3)
            tcp.sendall(b"\5\1\0")
            if tcp.recv(2) != b"\5\0":
                raise ConnectionRefusedError
            # It does not know its address.
            tcp.sendall(b"\5\3\0\1" + bytes(6))
            reply = tcp.recv(10, socket.MSG_WAITALL)
            if reply[:4] != b"\5\0\0\1":
                raise ConnectionRefusedError
        except OSError:
            return False
        tcp.setblocking(False)
        self.tcp = tcp
        self.relay = (socket.inet_ntoa(reply[4:8]), struct.unpack("!H", reply[8:])[0])
        return True

    @staticmethod
    def header(to):
        address, port = to
        family, kind = (socket.AF_INET6, 4) if ":" in address else (socket.AF_INET, 1)
        place = socket.inet_pton(family, address) + struct.pack("!H", port)
        return struct.pack("!HBB", 0, 0, kind) + place

    def send(self, payload, to):
        if not self.stands():
            raise ConnectionRefusedError
        self.sock.sendto(self.header(to) + payload, self.relay)

    def open(self, datagram, server):
        """The payload of what has come; all of it, which nobody has sent, where it is from elsewhere."""
        return datagram.removeprefix(self.header(server))


class ClientFlows(Flows):
    """Each flow has a socket of its own, and sends at an even pace while transfers begin and go on."""

    def __init__(self, end, args, ports):
        super().__init__(end, args)
        self.draw = random.Random(f"{args.seed} {args.tag} datagrams")
        self.left = round((args.over + 5) / EACH_S)
        self.last = time.monotonic()
        self.ends = []
        self.associations = []
        for flow in range(args.flows):
            address = self.draw.choice(args.server)
            sock = self.open(end.proxy[0] if end.proxy else address)
            if args.via == "socks":
                self.associations.append(Association(end.proxy, sock))
            self.ends.append((sock, address, self.draw.choice(ports)))
            came = lambda _, flow=flow: self.came(flow)
            end.loop.want(self.ends[flow][0], selectors.EVENT_READ, came)
        self.number = 0
        end.loop.at(time.monotonic(), self.send)

    def open(self, address):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.setblocking(False)
        self.sockets.append(sock)
        return sock

    def send(self):
        if not self.left:
            return
        self.left -= 1
        self.number += 1
        self.last = time.monotonic()
        for flow, (sock, address, port) in enumerate(self.ends):
            length = datagram_length(self.draw)
            payload = Datagram(self.tag, flow, self.number, port, length, 0).payload()
            try:
                if self.associations:
                    self.associations[flow].send(payload, (address, port))
                else:
                    sock.sendto(payload, (address, port))
            except OSError:
                continue
            self.note("sent", payload, flow)
        self.end.loop.at(time.monotonic() + EACH_S, self.send)

    def came(self, flow):
        sock, *server = self.ends[flow]
        for payload, _ in self.take(sock):
            if self.associations:
                payload = self.associations[flow].open(payload, server)
            self.note("came", payload, flow)

    @property
    def active(self):
        """Until answers to the last ones have had their time."""
        return self.left or time.monotonic() < self.last + 2


def begin(end, args, ports):
    made = ServerFlows if args.side == "server" else ClientFlows
    return made(end, args, ports)
