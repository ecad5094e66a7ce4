"""The clients' part of a bench: connections by the terminal's CONNECT listener, and who starts the clients.

Ends run as programs of their own, in the namespaces: a bench starts itself there with a hidden option, and
reads what the program prints. Python's standard library only.
"""

import json
import socket
import subprocess
import sys


def head(server):
    """What a client of HTTP CONNECT sends; what is for the server may follow at once."""
    host, port = server
    return f"CONNECT {host}:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def open_to(proxy, server, first=b"", patience=None):
    """A connection to the server by the listener, with its first bytes behind the head, and what has come
    of the server's answer. Nothing may take longer than `patience`, s; an OSError where it is refused."""
    connection = socket.create_connection(proxy, patience)
    try:
        connection.sendall(head(server) + first)
        got = b""
        while b"\r\n\r\n" not in got:
            more = connection.recv(1 << 16)
            if not more:
                raise ConnectionResetError("no answer of the listener")
            got += more
        answer, _, rest = got.partition(b"\r\n\r\n")
        if b" 200 " not in answer.split(b"\r\n")[0]:
            raise ConnectionRefusedError(answer.decode(errors="replace"))
    except OSError:
        connection.close()
        raise
    return connection, rest


def start(net, node, script, flag, *parts, python=sys.executable):
    """A script's part on a node, started: `parts` are the values of its option, as JSON."""
    words = [python, script, flag, *([json.dumps(parts)] if parts else [])]
    return net.start(node, words, stdout=subprocess.PIPE, text=True)


def result(process, timeout=None):
    """What it has printed, as JSON. Its own errors are on standard error."""
    text = process.communicate(timeout=timeout)[0]
    if process.returncode or not text:
        raise RuntimeError(f"a part of the bench failed, status {process.returncode}")
    return json.loads(text)
