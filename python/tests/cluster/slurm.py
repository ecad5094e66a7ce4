#!/usr/bin/env python3
"""A private Slurm on this machine, for tests.

Starts Debian's munged, slurmctld and one slurmd a node as plain processes that
keep everything (key, sockets, configuration, spool, logs) in one directory.
Needs root and the packages ``slurm-wlm`` and ``munge``; needs neither systemd
nor cgroups, and leaves a Slurm of the machine itself alone: ports are free
ones, and clients find this cluster by ``SLURM_CONF``.

Each node is a PID namespace of its own, so losing a node is one ``SIGKILL``
that takes its slurmd, its job steps and everything that they started. All
processes die with the process that started them, also when that one is killed.

From Python::

    with Slurm(directory, nodes=2) as slurm:
        subprocess.run(["sbatch", "job.sh"], env=slurm.environment)
        slurm.lose("node1")
        slurm.bring_back("node1")

From a shell, a command with the cluster around it::

    slurm.py --nodes 2 -- sh -c 'sinfo; srun hostname'
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

COMMANDS = {
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "sbatch": "slurm-wlm",
    "munged": "munge",
    "unshare": "util-linux",
    "setpriv": "util-linux",
}

CONFIGURATION = """\
ClusterName=bentpipe
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={directory}/munge.socket
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool.%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
SlurmctldTimeout=30
KillWait=2
MinJobAge=3600
JobRequeue=1
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Unavailable(Exception):
    """Why no Slurm can run here, in one line."""


def free_ports(count: int) -> list[int]:
    """Distinct TCP ports of the loopback address that nothing listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Slurm:
    """A controller and its nodes, up inside ``with``.

    Parameters
    ----------
    directory
        Where the cluster keeps its state. It must be empty or absent.
    nodes
        How many nodes, named ``node1``, ``node2``, and so on.
    cpus
        CPUs that each node offers to jobs; not compared with the machine's.
    """

    def __init__(self, directory: Path, nodes: int = 1, cpus: int = 2) -> None:
        self.directory = Path(directory).resolve()
        self.cpus = cpus
        self.names = [f"node{1 + index}" for index in range(nodes)]
        self.environment = dict(os.environ, SLURM_CONF=str(self.directory / "slurm.conf"))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Slurm:
        if os.geteuid() != 0:
            raise Unavailable("a private Slurm needs root")
        missing = sorted(
            {package for command, package in COMMANDS.items() if not shutil.which(command)}
        )
        if missing:
            raise Unavailable(f"not installed: {' '.join(missing)}")
        isolated = subprocess.run(
            ["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True
        )
        if isolated.returncode != 0:
            raise Unavailable("PID namespaces are not allowed here")
        try:
            self._configure()
            self._start("munged", self._munged())
            self._await("socket of munged", lambda: (self.directory / "munge.socket").exists())
            self._start("slurmctld", ["slurmctld", "-D", "-c"])
            self._await(
                "answer of slurmctld", lambda: self.query("scontrol", "ping").returncode == 0
            )
            for name in self.names:
                self._start_node(name)
            self.wait_until("idle")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends every process of the cluster; its files stay."""
        for process in reversed(self._processes.values()):
            process.kill()
        for process in self._processes.values():
            process.wait()
        self._processes.clear()

    def lose(self, name: str) -> None:
        """Kills a node with everything that runs on it, as a power cut does.

        The controller is told, so that it requeues the jobs of the node at
        once and not when the node has been silent for long enough.
        """
        process = self._processes.pop(name)
        process.kill()
        process.wait()
        self.query("scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=lost")

    def bring_back(self, name: str) -> None:
        """Starts a lost node again."""
        self._start_node(name)
        # The controller may take it back by itself before it is seen as down.
        self._await("answer of the node", lambda: self.states()[name] in ("down", "idle"))
        self.query("scontrol", "update", f"NodeName={name}", "State=RESUME")

    def query(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs a client command against this cluster."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True)

    def states(self) -> dict[str, str]:
        """State of each node as sinfo prints it, such as ``idle`` or ``down*``."""
        printed = self.query("sinfo", "--noheader", "--Node", "--format=%N %t").stdout
        return dict(line.split() for line in printed.splitlines())

    def wait_until(self, state: str, timeout: float = 60) -> None:
        """Waits until each node is in the given state."""
        self._await(
            f"a node in state {state}",
            lambda: self.states() == dict.fromkeys(self.names, state),
            timeout,
        )

    def requeued_now(self) -> None:
        """Spares jobs that were requeued the two minutes that Slurm makes them wait."""
        printed = self.query("squeue", "--noheader", "--array", "--format=%i %r").stdout
        for job, reason in (line.split(None, 1) for line in printed.splitlines()):
            if reason == "BeginTime":
                self.query("scontrol", "update", f"JobId={job}", "StartTime=now")

    def wait_for_jobs(self, timeout: float = 600) -> None:
        """Waits until no job is pending or running."""

        def ended() -> bool:
            self.requeued_now()
            return not self.query("squeue", "--noheader").stdout

        self._await("end of the jobs", ended, timeout)

    def _configure(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        if any(self.directory.iterdir()):
            raise Unavailable(f"{self.directory} is not empty")
        self.directory.chmod(0o755)
        (self.directory / "state").mkdir()
        key = self.directory / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        controller_port, *node_ports = free_ports(1 + len(self.names))
        nodes = "\n".join(
            f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus} RealMemory=8000 State=UNKNOWN"
            for name, port in zip(self.names, node_ports)
        )
        (self.directory / "slurm.conf").write_text(
            CONFIGURATION.format(
                directory=self.directory,
                controller_port=controller_port,
                nodes=nodes,
            )
        )

    def _munged(self) -> list[str]:
        at = self.directory
        return [
            "munged", "--foreground", "--force", f"--key-file={at}/munge.key", f"--socket={at}/munge.socket",
            f"--pid-file={at}/munge.pid", f"--log-file={at}/munge.log", f"--seed-file={at}/munge.seed",
        ]  # fmt: skip

    def _start_node(self, name: str) -> None:
        namespace = ["unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"]
        self._start(name, [*namespace, "slurmd", "-D", "-N", name])

    def _start(self, name: str, command: list[str]) -> None:
        """Starts a process that ends with this one."""
        with self._log(name) as log:
            self._processes[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _log(self, name: str) -> IO[bytes]:
        return (self.directory / f"{name}.output").open("ab")

    def _await(self, what: str, reached: Callable[[], bool], timeout: float = 30) -> None:
        end = time.monotonic() + timeout
        while not reached():
            for name, process in self._processes.items():
                if process.poll() is not None:
                    output = (self.directory / f"{name}.output").read_text(errors="replace")
                    raise RuntimeError(f"{name} ended with status {process.returncode}:\n{output}")
            if time.monotonic() > end:
                raise TimeoutError(
                    f"no {what} within {timeout} s; nodes: {self.states()}; see {self.directory}"
                )
            time.sleep(0.1)


def main() -> int:
    """Runs a command with a cluster around it; its status is the command's."""
    parser = argparse.ArgumentParser(description="Run a command with a private Slurm around it.")
    parser.add_argument("--nodes", type=int, default=1, metavar="N")
    parser.add_argument("--cpus", type=int, default=2, metavar="N", help="CPUs of each node")
    parser.add_argument(
        "--keep", action="store_true", help="leave the logs and print where they are"
    )
    parser.add_argument(
        "--optional",
        action="store_true",
        help="run the command without a cluster where there can be none",
    )
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    # SIGTERM ends the process through `finally`, so that the directory goes too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    directory = Path(tempfile.mkdtemp(prefix="bentpipe-slurm."))
    try:
        with Slurm(directory, arguments.nodes, arguments.cpus) as slurm:
            return subprocess.run(arguments.command, env=slurm.environment).returncode
    except Unavailable as error:
        print(f"slurm.py: {error}", file=sys.stderr)
        required = os.environ.get("BENTPIPE_REQUIRE") == "all"
        return (
            subprocess.run(arguments.command).returncode
            if arguments.optional and not required
            else 2
        )
    finally:
        if arguments.keep:
            print(f"slurm.py: logs in {directory}", file=sys.stderr)
        else:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
