"""A server and a client of aioquic. The client asks for so many bytes on a stream, as eight bytes in
network order, and prints when its handshake, the first and the last byte were complete."""

import argparse
import asyncio
import json
import time

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import HandshakeCompleted, StreamDataReceived


class Server(QuicConnectionProtocol):
    """Answers the request of each stream with zeros."""

    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived) and len(event.data) == 8:
            size = int.from_bytes(event.data, "big")
            self._quic.send_stream_data(event.stream_id, bytes(size), end_stream=True)
            self.transmit()


class Client(QuicConnectionProtocol):
    """Notes when what is asked for arrives."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.seen = {}
        self.began = time.monotonic()
        self.received = 0
        self.done = asyncio.get_running_loop().create_future()

    def note(self, name):
        self.seen.setdefault(name, time.monotonic() - self.began)

    def quic_event_received(self, event):
        if isinstance(event, HandshakeCompleted):
            self.note("handshake_s")
        elif isinstance(event, StreamDataReceived):
            if event.data:
                self.note("first_s")
            self.received += len(event.data)
            if event.end_stream:
                self.note("complete_s")
                self.seen["bytes"] = self.received
                self.done.set_result(None)


def configuration(arguments, is_client):
    more = {"verify_mode": False} if is_client else {}
    made = QuicConfiguration(
        is_client=is_client, alpn_protocols=["transfer"], idle_timeout=120.0, **more
    )
    if arguments.control:
        made.congestion_control_algorithm = arguments.control
    if arguments.window:
        made.max_data = made.max_stream_data = arguments.window
    return made


async def answer(arguments, host, port):
    made = configuration(arguments, is_client=False)
    made.load_cert_chain(arguments.certificate, arguments.key)
    await serve(host, port, configuration=made, create_protocol=Server)
    await asyncio.Future()


async def ask(arguments, host, port):
    made = configuration(arguments, is_client=True)
    async with connect(host, port, configuration=made, create_protocol=Client) as client:
        stream = client._quic.get_next_available_stream_id()
        size = arguments.size.to_bytes(8, "big")
        client._quic.send_stream_data(stream, size, end_stream=True)
        client.transmit()
        await client.done
        print(json.dumps(client.seen), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True, help="where the server listens, HOST:PORT")
    parser.add_argument("--size", type=int, help="bytes to ask for; without it, the server")
    parser.add_argument("--window", type=int, help="flow-control windows, bytes")
    parser.add_argument("--control", help="reno or cubic")
    parser.add_argument("--certificate", help="the server's certificate (PEM)")
    parser.add_argument("--key", help="the certificate's key (PEM)")
    arguments = parser.parse_args()
    host, port = arguments.address.rsplit(":", 1)
    asyncio.run((ask if arguments.size else answer)(arguments, host, int(port)))


if __name__ == "__main__":
    main()
