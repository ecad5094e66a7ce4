"""Studies on pools and clusters yield what one machine yields, byte for byte,
also when workers are killed."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from common import files
from slurm import Slurm

bentpipe = pytest.importorskip("bentpipe")

#: Core seconds of a task, so that the study has some dozens.
SECONDS = 0.1


def run(study: Path, out: Path, executor: Any, **options: Any) -> dict[str, str]:
    """The files that the study writes on an executor."""
    bentpipe.Study(study).run(executor=executor, out=out, task_seconds=SECONDS, **options)
    return files(out)


@contextlib.contextmanager
def killing(pids: Callable[[], list[int]], times: int = 5) -> Iterator[list[int]]:
    """Kills one of the processes at random instants; yields those killed."""
    draw = random.Random(1)
    killed: list[int] = []
    ended = threading.Event()

    def kill() -> None:
        while len(killed) < times and not ended.wait(draw.uniform(0.2, 1.5)):
            with contextlib.suppress(ProcessLookupError, IndexError):
                pid = draw.choice(pids())
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def workers(client: Any) -> Callable[[], list[int]]:
    """The processes of the workers of Dask as this machine numbers them."""
    ports = {}

    def pids() -> list[int]:
        for address in client.scheduler_info(n_workers=-1)["workers"]:
            if address not in ports:
                ports[address] = listener(int(address.rsplit(":", 1)[1]))
        return [pid for pid in ports.values() if pid is not None and Path(f"/proc/{pid}").exists()]

    return pids


def listener(port: int) -> int | None:
    """The process that listens on a TCP port."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    rows = [line.split() for line in lines]
    inodes = {row[9] for row in rows if int(row[1].split(":")[1], 16) == port and row[3] == "0A"}
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            for handle in (process / "fd").iterdir() if process.name.isdigit() else ():
                if any(os.readlink(handle) == f"socket:[{inode}]" for inode in inodes):
                    return int(process.name)
    return None


def test_threads(study: Path, local: dict[str, str], tmp_path: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert run(study, tmp_path / "out", pool) == local


def test_processes_that_are_killed(study: Path, local: dict[str, str], tmp_path: Path) -> None:
    import multiprocessing

    def children() -> list[int]:
        return [child.pid for child in multiprocessing.active_children() if child.pid]

    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        with killing(children, 3) as killed:
            assert run(study, tmp_path / "out", pool) == local
        assert killed


@contextlib.contextmanager
def doomed(study: Path, folder: Path) -> Iterator[tuple[Any, Path]]:
    """A study, a transport of which ends its process; and the file that makes it do so."""
    pytest.importorskip("cloudpickle")
    flag = folder / "doom"
    flag.write_text("")

    class Doom:
        """Additive growth, unless the file is there."""

        def on_ack(self, ack: Any, window: Any) -> None:
            if flag.exists():
                os._exit(3)
            window.cwnd += ack.acked / window.cwnd

    bentpipe.register("doom", Doom)
    try:
        text = study.read_text().replace('"cubic", "bbr", "hybla", "newreno"', '"cubic", "doom"')
        yield bentpipe.Study(text, folder=study.parent), flag
    finally:
        bentpipe.unregister("doom")


def ended(sweep: Any, executor: Any, out: Path | None) -> str:
    """The message of the call, which names the task and what is done."""
    seen = [0]
    with pytest.raises(bentpipe.RunError) as caught:
        sweep.run(
            executor=executor, out=out, runs=2, task_seconds=0.001,
            progress=lambda done, total: seen.append(done),
        )  # fmt: skip
    text = str(caught.value)
    assert re.match(r"task \d+/\d+ \(run \d+ of 20, .*transport doom, seed \d+\) ended", text), text
    assert f" {max(seen)} of 20 runs are done and kept" in text
    assert max(seen) > 0
    return text


def test_a_task_that_ends_its_workers_is_named_and_the_rest_is_kept(
    study: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with doomed(study, tmp_path) as (sweep, flag):
        try:
            with concurrent.futures.ProcessPoolExecutor(2) as pool:
                text = ended(sweep, pool, out)
        except bentpipe.StudyError as held:
            # With the first error at hand, as in a notebook.
            pytest.fail(str(held))
        assert f"kept in {out}: the same call goes on from here" in text
        done = int(re.search(r"(\d+) of 20 runs are done", text)[1])
        # Without a folder the results are not lost either.
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            text = ended(sweep, pool, None)
        kept = Path(re.search(r"out='(.*)'", text)[1])
        assert (kept / "sweep/journal").exists()
        shutil.rmtree(kept)
        flag.unlink()
        seen: list[int] = []
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            sweep.run(
                executor=pool, out=out, runs=2, task_seconds=0.001,
                progress=lambda runs, total: seen.append(runs),
            )  # fmt: skip
        assert min(seen) > done
        sweep.run(out=tmp_path / "here", runs=2)
        assert files(out) == files(tmp_path / "here")


def test_a_task_that_ends_the_workers_of_dask_is_named(study: Path, tmp_path: Path) -> None:
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    with (
        doomed(study, tmp_path) as (sweep, _),
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        ended(sweep, client, tmp_path / "out")


def test_an_executor_that_breaks_for_good_is_said(study: Path, tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError("no scratch disk")

    with concurrent.futures.ThreadPoolExecutor(2, initializer=fail) as pool:
        with pytest.raises(
            bentpipe.RunError, match=r"task 1/.* the executor broke: .*No run is done"
        ):
            bentpipe.Study(study).run(executor=pool, out=tmp_path, task_seconds=SECONDS)


def test_dask_workers_that_are_killed(study: Path, local: dict[str, str], tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        with killing(workers(client)) as killed:
            assert run(study, tmp_path / "out", client) == local
        assert killed


def test_dask_over_ssh(
    study: Path, local: dict[str, str], tmp_path: Path, ssh: dict[str, object]
) -> None:
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("asyncssh")
    cluster = distributed.SSHCluster(
        ["127.0.0.1"] * 3,
        connect_options=ssh,
        worker_options={"nthreads": 1},
        scheduler_options={"dashboard": False},
        remote_python=sys.executable,
    )
    with cluster, distributed.Client(cluster) as client:
        with killing(workers(client), 2) as killed:
            assert run(study, tmp_path / "out", client) == local
        assert killed


def test_dask_on_slurm(study: Path, local: dict[str, str], tmp_path: Path, slurm: Slurm) -> None:
    distributed = pytest.importorskip("distributed")
    jobqueue = pytest.importorskip("dask_jobqueue")
    cluster = jobqueue.SLURMCluster(
        cores=1,
        memory="1GB",
        queue="all",
        python=sys.executable,
        log_directory=str(tmp_path / "logs"),
        scheduler_options={"dashboard": False},
    )
    with cluster:
        cluster.scale(jobs=2)
        with distributed.Client(cluster) as client:
            client.wait_for_workers(2, timeout=120)
            with killing(workers(client), 2) as killed:
                assert run(study, tmp_path / "out", client) == local
            assert killed


def test_ctrl_c_loses_nothing(study: Path, local: dict[str, str], tmp_path: Path) -> None:
    program = f"""
import bentpipe, concurrent.futures
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    bentpipe.Study({str(study)!r}).run(executor=pool, out={str(tmp_path)!r}, task_seconds={SECONDS},
        progress=lambda done, total: print(done, flush=True))
"""
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    done = int(process.stdout.readline())
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate()
    done = max([done, *map(int, rest.split())])
    assert "KeyboardInterrupt" in errors
    assert time.monotonic() - began < 2
    seen: list[int] = []
    bentpipe.Study(study).run(
        out=tmp_path, executor=concurrent.futures.ThreadPoolExecutor(2), task_seconds=SECONDS,
        progress=lambda runs, total: seen.append(runs),
    )  # fmt: skip
    assert min(seen) > done
    assert files(tmp_path) == local


def test_something_else_is_no_executor(study: Path) -> None:
    with pytest.raises(TypeError, match="concurrent.futures.Executor"):
        bentpipe.Study(study).run(executor=3)


def test_an_array_job_survives_a_lost_node(
    study: Path, local: dict[str, str], tmp_path: Path, slurm: Slurm
) -> None:
    out = tmp_path / "out"
    options = ["--out", str(out), "--slurm", "--tasks", "8"]
    command = [sys.executable, "-m", "bentpipe", "study", str(study), *options]
    submitted = subprocess.run(
        command, env=slurm.environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert submitted.returncode == 0, submitted.stderr
    slurm.wait_until("alloc")
    slurm.lose("node2")
    slurm.bring_back("node2")
    slurm.wait_for_jobs(300)
    assert files(out) == local, (out / "sweep/slurm/merge.log").read_text()


def test_shards_merge_in_any_order(study: Path, local: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    bentpipe_ = [sys.executable, "-m", "bentpipe", "study"]
    shards = list(range(1, 6))
    random.Random(1).shuffle(shards)
    for shard in shards:
        command = [*bentpipe_, str(study), "--out", str(out), "--shard", f"{shard}/5"]
        subprocess.run(command, check=True, capture_output=True)
    subprocess.run([*bentpipe_, "merge", str(out)], check=True, capture_output=True)
    assert files(out) == local


def test_a_class_travels_with_the_tasks(study: Path, tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")

    class Steady:
        """Two segments more each round trip."""

        def on_ack(self, ack: Any, window: Any) -> None:
            window.cwnd += 2 * ack.acked / window.cwnd

    bentpipe.register("steady", Steady)
    try:
        text = study.read_text().replace('"cubic", "bbr", "hybla", "newreno"', '"cubic", "steady"')
        sweep = bentpipe.Study(text, folder=study.parent)
        sweep.run(out=tmp_path / "here", runs=2)
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            sweep.run(executor=pool, out=tmp_path / "there", runs=2, task_seconds=0.02)
    finally:
        bentpipe.unregister("steady")
    here = files(tmp_path / "here")
    assert here and here == files(tmp_path / "there")
