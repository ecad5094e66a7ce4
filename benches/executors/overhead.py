#!/usr/bin/env python3
"""What it costs to run a study on executors when a task takes about 10 s of a core.

Runs one study of downloads on threads, on a Dask cluster of two workers and on a
private Slurm of two CPUs (python/tests/cluster/slurm.py, which needs root). Overhead is
against two threads. Wall time ends with the last result and leaves out the start of a
cluster. CPU time is that of the processes; for Slurm, what the whole machine was busy. So
nothing else may run on it: a line whose `machine busy` is far above its `cpu` is void, but
for what a cluster's start takes. Two cores are assumed.

The command is target/release/bentpipe; the Python module must be a release build, too.
`make bench-executors` builds both and measures three times; `make bench-executors
DRY=--dry` tries everything with tasks of a quarter of a second: its figures say nothing.

The last lines are the medians of the rounds, and with `--bar` the exit status is 1 where
one of Dask or Slurm is above it, or so many rounds were disturbed that there is no median.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python/tests/cluster"))
BENTPIPE = str(ROOT / "target/release/bentpipe")
TASKS = 8
# Core seconds of a run by the estimate that tasks are cut by (crates/study/src/cost.rs), so
# that Dask gets as many tasks as Slurm. Runs take about 2.4 ms.
ESTIMATE = 0.0023
# Replications by which a task takes about 10 s, and in a dry run a quarter of one.
FULL, DRY = 1400, 35
# A line is void if the machine did so many times the work of the threads, beside a cluster's start.
DISTURBED = {"1": 1.1, "2": 1.1, "dask": 1.3, "slurm": 1.3}


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


def measured(ways, study, scratch, runs, number):
    """Wall and CPU seconds of each way, and whether the machine did much else."""
    found = {}
    for way in ways:
        out, before = scratch / f"out-{way}-{number}", machine()
        if way == "dask":
            wall, cpu, detail = dask(study, out, runs)
        elif way == "slurm":
            (scratch / f"round-{number}").mkdir(mode=0o755)
            wall, cpu, detail = slurm(study, out, scratch / f"round-{number}")
        else:
            wall, cpu, detail = plain(study, out, int(way))
        busy = machine() - before
        base = found.get(ways[0], (wall, cpu))
        # The CPU time of Slurm is what the machine was busy, so it is held to that of the threads. A
        # cluster's start takes some seconds of the cores, whatever the tasks are.
        void = busy > DISTURBED[way] * base[1] + (0 if way in "12" else 15)
        found[way] = (wall, cpu, void)
        print(
            f"{way:6} wall {wall:6.2f} s ({wall / base[0] - 1:+.1%}), cpu {cpu:6.2f} s ({cpu / base[1] - 1:+.1%}), "
            f"machine busy {busy:6.2f} s with the cluster's start{'; VOID' if void else ''}; {detail}",
            flush=True,
        )
    return found


def judged(rounds, ways, bar):
    """Prints the medians; false where one is above the bar or there is none."""
    fine = True
    for way in ways[1:]:
        good = [one for one in rounds if not one[way][2] and not one[ways[0]][2]]
        if len(good) * 2 <= len(rounds):
            print(
                f"{way}: disturbed in {len(rounds) - len(good)} of {len(rounds)} rounds, no median"
            )
            fine = False
            continue
        wall = median(one[way][0] / one[ways[0]][0] - 1 for one in good)
        cpu = median(one[way][1] / one[ways[0]][1] - 1 for one in good)
        judged = bar is not None and way in ("dask", "slurm")
        held = not judged or wall <= bar
        fine = fine and held
        verdict = f", bar {bar:.0%}: {'held' if held else 'MISSED'}" if judged else ""
        print(f"{way}: overhead {wall:+.1%} of wall time, {cpu:+.1%} of CPU time{verdict}")
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, help="runs of each of the 20 cells")
    parser.add_argument(
        "--ways",
        default="2,dask,slurm,1",
        help="what to measure, in order; 2 and 1 are threads, and the first is what the others are held to",
    )
    parser.add_argument("--rounds", type=int, default=1, help="how often to measure each")
    parser.add_argument(
        "--bar", type=float, help="percent of wall time that Dask and Slurm may take more"
    )
    parser.add_argument("--dry", action="store_true", help="with short tasks, to see that it works")
    arguments = parser.parse_args()
    from common import SCENARIO, STUDY

    replications = arguments.replications or (DRY if arguments.dry else FULL)
    ways, rounds = arguments.ways.split(","), []
    with tempfile.TemporaryDirectory(prefix="bentpipe-overhead.") as folder:
        scratch = Path(folder)
        scratch.chmod(0o755)
        (scratch / "link.toml").write_text(SCENARIO)
        study = scratch / "study.toml"
        study.write_text(STUDY.replace("replications = 100", f"replications = {replications}"))
        assert tomllib.loads(study.read_text())["replications"] == replications
        for number in range(arguments.rounds):
            rounds.append(measured(ways, study, scratch, 20 * replications, number))
    bar = None if arguments.bar is None or arguments.dry else arguments.bar / 100
    if not judged(rounds, ways, bar) and not arguments.dry:
        sys.exit(1)


if __name__ == "__main__":
    main()
