"""The private Slurm of these tests does what a Slurm does."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from common import skip
from slurm import Slurm


def test_a_lost_node_has_its_job_requeued_and_what_depends_on_it_waits(
    slurm: Slurm, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    task, after = tmp_path / "task.sh", tmp_path / "after.sh"
    task.write_text(f"#!/bin/sh\nsleep 3\necho $SLURM_ARRAY_TASK_ID >> {out}\n")
    after.write_text(f"#!/bin/sh\necho after >> {out}\n")
    sbatch = ["sbatch", "--parsable", "--output=/dev/null"]
    array = slurm.query(*sbatch, "--array=0-7", str(task)).stdout.strip()
    slurm.query(*sbatch, f"--dependency=afterok:{array}", str(after))
    slurm.wait_until("alloc")
    slurm.lose("node2")
    slurm.bring_back("node2")
    slurm.wait_for_jobs(120)
    lines = out.read_text().split()
    assert sorted(lines[:-1]) == [str(task) for task in range(8)]
    assert lines[-1] == "after"


def test_nothing_is_left_of_a_cluster_whose_owner_was_killed(slurm: Slurm) -> None:
    slurm.stop()
    script = str(Path(__file__).with_name("slurm.py"))
    owner = subprocess.Popen(
        [sys.executable, script, "--", "sh", "-c", "echo $SLURM_CONF; sleep 30"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    directory = os.path.dirname(owner.stdout.readline().strip())
    if not directory:
        skip("a second private Slurm")
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    ended = time.monotonic() + 5
    while running := [
        pid for pid in os.listdir("/proc") if pid.isdigit() and directory in environment(pid)
    ]:
        assert time.monotonic() < ended, running
        time.sleep(0.1)
    shutil.rmtree(directory)


def environment(pid: str) -> str:
    """The environment of a process whose command is one of Slurm's or munge's."""
    try:
        command = Path(f"/proc/{pid}/comm").read_text()
        found = any(name in command for name in ("slurm", "munge"))
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace") if found else ""
    except OSError:
        return ""
