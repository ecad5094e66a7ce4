"""An SSH server for tests: sshd on a port of the loopback address, with keys
that are made for it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from slurm import Unavailable, free_ports

CONFIGURATION = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {directory}/host
AuthorizedKeysFile {directory}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
"""


@contextlib.contextmanager
def sshd(directory: Path) -> Iterator[dict[str, object]]:
    """A server inside ``with``; yields how asyncssh connects to it."""
    program = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
    if program is None or shutil.which("ssh-keygen") is None:
        raise Unavailable("not installed: openssh-server")
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("host", "user"):
        generate = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)]
        subprocess.run(generate, check=True)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    (port,) = free_ports(1)
    settings = directory / "sshd_config"
    settings.write_text(CONFIGURATION.format(directory=directory, port=port))
    with (directory / "log").open("wb") as log:
        server = subprocess.Popen([program, "-D", "-e", "-f", str(settings)], stderr=log)
    try:
        while not _listens(port):
            if server.poll() is not None:
                raise Unavailable((directory / "log").read_text(errors="replace").strip())
            time.sleep(0.05)
        yield {"port": port, "known_hosts": None, "client_keys": [str(directory / "user")]}
    finally:
        server.terminate()
        server.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
