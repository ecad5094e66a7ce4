"""Studies on other engines: pools of `concurrent.futures`, and Dask.

A campaign is divided into tasks that depend on the study alone. It does not matter
where, when and how often a task runs: the collector puts results into the order
of the runs, so the final files are the same to the byte.

An engine has only a few tasks more than it has workers, and results are written
to disk and dropped, so memory does not grow with the study. After a crash, a
lost worker or Ctrl-C the next call resumes from the results on disk.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from ._bentpipe import Campaign, Reproduction
from ._errors import Error, OptionError, RunError
from ._tasks import Package, run_packed, stop

#: Times that a task is given out again after its worker was lost. A task that
#: loses more is itself the likely cause, by its need of memory for example.
RETRIES = 5

#: A task: its number, from 1, and the number of tasks.
Work = tuple[int, int]


class Lost(Exception):
    """The workers of tasks, its argument, are gone; the tasks can be submitted again."""


class Broken(Exception):
    """A task cannot be run, or the executor no longer runs any.

    Its arguments are the tasks that it had, and what happened.
    """


class Engine(Protocol):
    """An executor of tasks, local or remote."""

    def room(self) -> int:
        """Number of tasks that it should have at once."""
        ...

    def submit(self, work: Work) -> None:
        """Takes a task."""
        ...

    def next(self) -> tuple[Work, bytes]:
        """Waits for any task to end and returns its result.

        Raises
        ------
        Lost
            With the tasks whose worker is gone as its argument.
        Broken
            If a task fails by itself, or no task can be run any more.
        """
        ...

    def cancel(self) -> None:
        """Drops all tasks that it has."""
        ...


def run(
    path: Path,
    text: str | None,
    executor: object,
    out: Path | None,
    *,
    runs: int | None,
    fresh: bool,
    seconds: float,
    progress: Callable[[int, int], object] | None,
) -> Reproduction:
    """Run a study on an executor.

    Parameters
    ----------
    path
        The study's file.
    text
        Its content, if that differs from the file on disk.
    executor
        A `concurrent.futures.Executor`, a `distributed.Client` or a cluster
        of Dask.
    out
        Folder of the results; without it they are in memory only.
    runs
        Runs of each cell in place of the study's own number.
    fresh
        Whether to discard the results in the folder.
    seconds
        Estimated core seconds of a task.
    progress
        Called with the number of completed runs and the total.

    Returns
    -------
    Reproduction
        As a run on this machine returns it.
    """
    if not seconds > 0:
        raise OptionError("`task_seconds` must be above zero")
    campaign = Campaign(path, text, runs)
    package = Package.of(path, text, campaign.inputs(), runs)
    kept = out
    if kept is None:
        kept = Path(tempfile.mkdtemp(prefix="bentpipe-"))
    keep = out is not None
    try:
        with _Engines(executor, package) as engine:
            collector = campaign.collector(kept, fresh)
            try:
                for result in _results(engine, iter(collector.missing(seconds))):
                    done, total = collector.add(result)
                    if progress is not None:
                        progress(done, total)
            except Broken as broken:
                done, total = collector.progress()
                keep = keep or done > 0
                collector.close()
                folder = kept if keep else None
                text = _message(campaign, broken, done, total, folder, out is not None)
                raise RunError(text) from broken
            except BaseException:
                # Now, and not when the last traceback goes: the same call may follow.
                collector.close()
                raise
        return collector.finish()
    finally:
        if not keep:
            shutil.rmtree(kept, ignore_errors=True)


def _message(
    campaign: Campaign, broken: Broken, done: int, total: int, kept: Path | None, asked: bool
) -> str:
    """What a user is told when tasks cannot be run.

    Parameters
    ----------
    campaign
        The study.
    broken
        The tasks, and what happened.
    done, total
        Runs with results, and all.
    kept
        The folder of the results, if there are any.
    asked
        Whether it is the user's `out`.
    """
    works, what = broken.args
    tasks = [f"task {index}/{of} ({campaign.describe(index, of)})" for index, of in works]
    if len(tasks) > 3:
        tasks = [*tasks[:2], f"{len(tasks) - 2} other tasks"]
    subject = " and ".join([", ".join(tasks[:-1]), tasks[-1]] if len(tasks) > 1 else tasks)
    if kept is None or done == 0:
        return f"{subject} {what}. No run is done"
    if asked:
        after = f"are done and kept in {kept}: the same call goes on from here"
    else:
        after = f"are done and kept: the same call with out={str(kept)!r} goes on from here"
    return f"{subject} {what}. {done} of {total} runs {after}"


def _results(engine: Engine, todo: Iterator[Work]) -> Iterator[bytes]:
    """Results in the order of arrival, with at most `room` tasks in progress.

    Where a pool breaks, all tasks that it had are lost, whichever of them broke it, and
    Dask counts a worker's end against what waits at that worker, too. Tasks that were lost
    twice in company are run alone from then on, so that the one which ends its workers is
    known and the others are not blamed.
    """
    losses: dict[Work, int] = {}
    under_way = 0
    again: list[Work] = []
    suspects: list[Work] = []
    alone = False
    while True:
        # A suspect waits until nothing else is in progress.
        while under_way == 0 if suspects else not alone and under_way < engine.room():
            alone = bool(suspects)
            work = (suspects or again).pop() if suspects or again else next(todo, None)
            if work is None:
                break
            engine.submit(work)
            under_way += 1
        if under_way == 0:
            return
        try:
            work, result = engine.next()
        except Lost as lost:
            works: list[Work] = lost.args[0]
            under_way -= len(works)
            alone = alone and under_way > 0
            for work in works:
                losses[work] = losses.get(work, 0) + 1
                if losses[work] > RETRIES:
                    what = (
                        f"ended its worker {losses[work]} times (is memory short there, "
                        "or does something in it end the process?)"
                    )
                    raise Broken([work], what) from lost
                (suspects if losses[work] > 1 else again).append(work)
            continue
        under_way -= 1
        alone = alone and under_way > 0
        yield result


class _Engines:
    """The engine for a user's executor, for the length of a `with`."""

    def __init__(self, executor: object, package: Package) -> None:
        self._engine: Engine
        self._close: Callable[[], object] = lambda: None
        if isinstance(executor, concurrent.futures.Executor):
            pool = _Pool(executor, package)
            self._engine, self._close = pool, pool.close
            return
        distributed: Any = sys.modules.get("distributed")
        if distributed is not None and isinstance(executor, distributed.Client):
            self._engine = _Dask(executor, package)
            return
        if distributed is not None and isinstance(executor, distributed.deploy.Cluster):
            client = distributed.Client(executor)
            self._engine, self._close = _Dask(client, package), client.close
            return
        raise TypeError(
            "`executor` must be a concurrent.futures.Executor, a distributed.Client or a Dask cluster, "
            f"not {type(executor).__name__}"
        )

    def __enter__(self) -> Engine:
        return self._engine

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._engine.cancel()
        self._close()


@contextlib.contextmanager
def _named(work: Work, *others: type[BaseException]) -> Iterator[None]:
    """Names the task in errors that are not of a study, such as a module that workers do
    not have. Those of the types `others` are left as they are."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if isinstance(error, (Error, *others)):
            raise
        text = f"failed on its worker: {type(error).__name__}: {error}"
        raise Broken([work], text) from error


class _Pool:
    """An executor of `concurrent.futures`.

    A `ProcessPoolExecutor` is unusable after one of its processes was killed. A new
    pool with the same settings then takes over for the rest of the study.
    """

    def __init__(self, executor: concurrent.futures.Executor, package: Package) -> None:
        self._executor = executor
        self._own = False
        self._package = package
        self._under_way: dict[concurrent.futures.Future[bytes], Work] = {}
        if isinstance(executor, concurrent.futures.ProcessPoolExecutor):
            # Processes that are forked later would keep the journal of the results open.
            with contextlib.suppress(concurrent.futures.BrokenExecutor):
                executor.submit(os.getpid).result()

    def room(self) -> int:
        workers = getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1
        return 2 * int(workers) + 1

    def submit(self, work: Work) -> None:
        try:
            future = self._executor.submit(run_packed, self._package, *work)
        except concurrent.futures.BrokenExecutor as broken:
            future = concurrent.futures.Future()
            future.set_exception(broken)
        self._under_way[future] = work

    def next(self) -> tuple[Work, bytes]:
        first = concurrent.futures.FIRST_COMPLETED
        done, _ = concurrent.futures.wait(self._under_way, return_when=first)
        # Results before losses: a pool that broke has them, too.
        future = min(
            done,
            key=lambda future: isinstance(future.exception(), concurrent.futures.BrokenExecutor),
        )
        error = future.exception()
        if isinstance(error, concurrent.futures.BrokenExecutor):
            works = list(self._under_way.values())
            self._replace(error, works)
            self._under_way.clear()
            raise Lost(works) from error
        work = self._under_way.pop(future)
        with _named(work):
            return work, future.result()

    def _replace(self, error: concurrent.futures.BrokenExecutor, works: list[Work]) -> None:
        old: Any = self._executor
        if not isinstance(old, concurrent.futures.ProcessPoolExecutor):
            what = f"got no results, since the executor broke: {error or type(error).__name__}"
            raise Broken(works, what) from error
        # All futures must be settled before results are counted as lost.
        concurrent.futures.wait(self._under_way)
        settings: Any = vars(old)
        self.close()
        self._executor = concurrent.futures.ProcessPoolExecutor(
            settings.get("_max_workers"),
            settings.get("_mp_context"),
            settings.get("_initializer"),
            settings.get("_initargs", ()),
        )
        self._own = True

    def cancel(self) -> None:
        for future in self._under_way:
            future.cancel()
        stop(self._package)

    def close(self) -> None:
        if self._own:
            self._executor.shutdown(cancel_futures=True)


class _Dask:
    """A client of Dask. The scheduler gives the tasks of a lost worker to others."""

    #: At least so many tasks wait, so that a cluster which scales by its load
    #: has a reason to start its first workers.
    LEAST = 16
    #: Seconds after which the scheduler is asked again how many workers it has.
    EVERY = 5.0

    def __init__(self, client: Any, package: Package) -> None:
        if client.asynchronous:
            raise TypeError("`executor` must be a client that is not asynchronous")
        distributed: Any = sys.modules["distributed"]
        self._client = client
        self._package = package
        self._workers_lost = distributed.scheduler.KilledWorker
        self._ended = distributed.as_completed()
        self._under_way: dict[Any, Work] = {}
        self._threads = 0
        self._asked = -math.inf

    def room(self) -> int:
        if time.monotonic() >= self._asked + self.EVERY:
            self._threads = sum(self._client.nthreads().values())
            self._asked = time.monotonic()
        return max(self.LEAST, 2 * self._threads)

    def submit(self, work: Work) -> None:
        # Not `pure`: a task that is given out again is another one for Dask.
        future = self._client.submit(run_packed, self._package, *work, pure=False)
        self._under_way[future] = work
        self._ended.add(future)

    def next(self) -> tuple[Work, bytes]:
        future = next(self._ended)
        work = self._under_way.pop(future)
        try:
            with _named(work, self._workers_lost, concurrent.futures.CancelledError):
                return work, future.result()
        except self._workers_lost as lost:
            raise Lost([work]) from lost
        except concurrent.futures.CancelledError as error:
            works = [work, *self._under_way.values()]
            raise Broken(
                works, "got no results, since the scheduler of Dask dropped them"
            ) from error

    def cancel(self) -> None:
        self._client.cancel(list(self._under_way), force=True)
