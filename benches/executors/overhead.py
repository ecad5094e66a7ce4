#!/usr/bin/env python3
"""What it costs to run a study on executors when a task takes about 10 s of a core.

Runs one study of downloads on threads, on a Dask cluster of two workers and on a
private Slurm of two CPUs (python/tests/cluster/slurm.py, which needs root). Overhead is
against two threads. Wall time ends with the last result and leaves out the start of a
cluster. CPU time is that of the processes; for Slurm, what the whole machine was busy. So
nothing else may run on it: a line whose `machine busy` is far above its `cpu` is void, but
for what a cluster's start takes. Two cores are assumed.

The command is target/release/bentpipe; the Python module must be a release build, too:
`make wheel`, then `python -m zipfile -e target/wheels/*.whl DIR` and PYTHONPATH=DIR.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python/tests/cluster"))
BENTPIPE = str(ROOT / "target/release/bentpipe")
TASKS = 8
# Core seconds of a run by the estimate that tasks are cut by (crates/study/src/cost.rs), so
# that Dask gets as many tasks as Slurm. Runs take about 2.4 ms.
ESTIMATE = 0.0023


def machine():
    """Seconds that the cores were busy since the machine started."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return (fields[0] + fields[1] + fields[2] + fields[5] + fields[6]) / os.sysconf("SC_CLK_TCK")


def used():
    """CPU seconds of this process."""
    return sum(os.times()[:2])


def plain(study, out, threads):
    before = os.times()
    command = [BENTPIPE, "study", str(study), "--out", str(out), "--threads", str(threads)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.elapsed - before.elapsed, sum(after[2:4]) - sum(before[2:4]), ""


def dask(study, out, runs):
    from distributed import Client, LocalCluster

    import bentpipe

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):

        def cpu():
            return used() + sum(client.run(used).values())

        before, start = cpu(), time.time()
        bentpipe.Study(study).run(executor=client, out=out, task_seconds=runs * ESTIMATE / TASKS)
        wall = time.time() - start
        return wall, cpu() - before, f"module {bentpipe.__file__}"


def slurm(study, out, scratch):
    from slurm import Slurm

    with Slurm(scratch / "slurm", nodes=1, cpus=2) as cluster:
        before, start = machine(), time.time()
        options = ["--out", str(out), "--slurm", "--tasks", str(TASKS)]
        command = [BENTPIPE, "study", str(study), *options]
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=cluster.environment,
        )
        cluster.wait_for_jobs()
        cpu = machine() - before
    wrote = max(path.stat().st_mtime for path in out.rglob("*") if path.is_file())
    logs = [str(path) for path in out.rglob("shard-*.log")]
    born = subprocess.run(
        ["stat", "-c", "%.W", *logs], capture_output=True, text=True, check=True
    ).stdout.split()
    starts = sorted(float(each) - start for each in born)
    ends = sorted(Path(each).stat().st_mtime - start for each in logs)
    gaps = [b - a for a, b in zip(ends, starts[2:])]
    show = lambda row: " ".join(f"{each:.2f}" for each in row)  # noqa: E731
    detail = (
        f"starts {show(starts)}; ends {show(ends)}; gaps {show(gaps)}; merged {wrote - start:.2f}"
    )
    return wrote - start, cpu, detail


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--replications", type=int, default=1400, help="runs of each of the 20 cells"
    )
    parser.add_argument(
        "--ways", default="2,dask,slurm,1", help="what to measure, in order; 2 and 1 are threads"
    )
    arguments = parser.parse_args()
    from common import SCENARIO, STUDY

    cells, base = 20, None
    with tempfile.TemporaryDirectory(prefix="bentpipe-overhead.") as folder:
        scratch = Path(folder)
        scratch.chmod(0o755)
        (scratch / "link.toml").write_text(SCENARIO)
        study = scratch / "study.toml"
        study.write_text(
            STUDY.replace("replications = 100", f"replications = {arguments.replications}")
        )
        assert tomllib.loads(study.read_text())["replications"] == arguments.replications
        for way in arguments.ways.split(","):
            out, before = scratch / f"out-{way}", machine()
            if way == "dask":
                wall, cpu, detail = dask(study, out, cells * arguments.replications)
            elif way == "slurm":
                wall, cpu, detail = slurm(study, out, scratch)
            else:
                wall, cpu, detail = plain(study, out, int(way))
            busy = machine() - before
            base = base or (wall, cpu, busy)
            print(
                f"{way:6} wall {wall:6.2f} s ({wall / base[0] - 1:+.1%}), cpu {cpu:6.2f} s ({cpu / base[1] - 1:+.1%}), "
                f"machine busy {busy:6.2f} s with the cluster's start; {detail}",
                flush=True,
            )


if __name__ == "__main__":
    main()
