"""Studies, papers and their results."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from . import _bentpipe, _papers
from ._errors import OptionError
from ._options import unknown
from ._picture import Picture, picture
from ._progress import Progress, Reporter
from ._table import Table, Tabular
from ._toml import dumps


class Study:
    """A sweep of a scenario with replications, tables, figures and claims.

    Parameters
    ----------
    source : str, path or mapping
        The path of a study's file, its text, or the same as a dictionary.
    folder : str or path, optional
        Folder of the files that a text or dictionary names, such as its scenario; by
        default the current folder.

    Raises
    ------
    StudyError
        If it is invalid; with file, line, column and a suggestion.

    Examples
    --------
    >>> import bentpipe, pathlib
    >>> _ = pathlib.Path("geo.toml").write_text(bentpipe.template())
    >>> study = bentpipe.Study({
    ...     "name": "rates", "title": "Rates", "scenario": "geo.toml", "replications": 2,
    ...     "axis": [{"name": "rate", "path": "link.satellite.rate",
    ...               "values": ["1 Mbit/s", "2 Mbit/s"]}],
    ...     "table": [{"slug": "times", "title": "Times", "rows": ["rate"],
    ...                "metric": "time", "unit": "s"}],
    ... })
    >>> study.runs
    4
    >>> results = study.run()
    >>> len(results.cells)
    2
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        text: str | None = None
        if isinstance(source, Mapping):
            text = dumps(source)
        elif isinstance(source, str) and ("\n" in source or "=" in source):
            text = source
        if text is None:
            path = Path(source)  # type: ignore[arg-type]
            self._core = _bentpipe.Study.open(path)
        else:
            path = Path(folder or "") / "study.toml"
            self._core = _bentpipe.Study.parse(path, text)
        #: Where it is from, for what runs it elsewhere.
        self._origin: tuple[Path, str | None] = (path, text)

    @property
    def name(self) -> str:
        """Its name."""
        return self._core.facts()[0]

    @property
    def title(self) -> str:
        """Its title."""
        return self._core.facts()[1]

    @property
    def description(self) -> str:
        """Its description."""
        return self._core.facts()[2]

    @property
    def axes(self) -> dict[str, list[str]]:
        """The axes, each with the labels of its points."""
        return dict(self._core.facts()[3])

    @property
    def replications(self) -> int:
        """Runs of each cell."""
        return self._core.facts()[5]

    @property
    def runs(self) -> int:
        """Number of runs; checks every cell."""
        return self._core.check()

    def run(
        self,
        *,
        executor: Any = None,
        out: str | os.PathLike[str] | None = None,
        runs: int | None = None,
        threads: int = 0,
        fresh: bool = False,
        progress: Progress = None,
        task_seconds: float = 10.0,
    ) -> Results:
        """Runs the study and computes its tables, figures and claims.

        Ctrl-C stops it at once. Completed runs are in ``out``, and the same call
        resumes from there, with the same results.

        Parameters
        ----------
        executor : object, optional
            Runs it instead of this process's threads: an executor of
            ``concurrent.futures``, a client or a cluster of Dask. Results are the
            same to the byte. If a worker is lost, another one gets its task.
        out : str or path, optional
            Folder for results, which are stored as they arrive; by default they are in
            memory only.
        runs : int, optional
            Runs of each cell at most, where that is fewer than :attr:`replications`.
        threads : int, default 0
            Runs at the same time; zero is one per core. Results do not depend on it.
        fresh : bool, default False
            Discard the results in ``out``.
        progress : bool, class, bar or function, optional
            Display of the progress, in runs.
        task_seconds : float, default 10
            Estimated size of a task, in seconds of one core.

        Returns
        -------
        Results

        Raises
        ------
        StudyError
            If a cell yields no valid scenario, or results cannot be stored.
        """
        if not 0 <= threads <= 1024:
            raise OptionError("`threads` must be from 0 to 1024")
        folder = None if out is None else Path(out)
        with Reporter(progress, self.name) as report:
            if executor is None:
                core = self._core.run(threads, runs, folder, fresh, report.function)
            else:
                from . import _executors

                core = _executors.run(
                    *self._origin,
                    executor,
                    folder,
                    runs=runs,
                    fresh=fresh,
                    seconds=task_seconds,
                    progress=report.function,
                )
        return Results(core, folder)

    def __repr__(self) -> str:
        name, title, _, axes, cells, replications = self._core.facts()
        sizes = " x ".join(f"{len(points)} {axis}" for axis, points in axes)
        return f"<study {name}: {title}; {sizes or cells} x {replications} replications>"


#: How to have a row for each run.
_OUT = "run it with `out`, and `runs()` has a row for each run"


class Results(Tabular):
    """The results of a study or a paper: tables, figures and claims.

    Printed, it is what the command prints. It has the Arrow PyCapsule interface of
    its :attr:`cells`; where the study says no tables, figures or claims, of its
    :meth:`runs`.
    """

    def __init__(self, core: _bentpipe.Reproduction, out: Path | None = None) -> None:
        self._core = core
        #: The folder that holds the results, if any.
        self.out = out

    @cached_property
    def cells(self) -> Table:
        """A row for each cell of each table: our number and the published one."""
        return Table(self._core.cells())

    @cached_property
    def claims(self) -> Table:
        """A row for each claim with its verdict."""
        return Table(self._core.claims())

    @cached_property
    def points(self) -> Table:
        """A row for each point of each curve of the figures."""
        return Table(self._core.points())

    def runs(self, study: str | None = None) -> Table:
        """A row for each run: the points of its axes, and all metrics.

        It is the file ``results.parquet`` in the folder of the study.

        Parameters
        ----------
        study : str, optional
            Which, where there are several, as in a paper.

        Returns
        -------
        Table

        Raises
        ------
        OptionError
            If results are in memory only, as without ``out``, or there is no such study.
        """
        if self.out is None:
            raise OptionError(f"there are no rows of runs: {_OUT}")
        stored = {path.parent.name: path for path in sorted(self.out.glob("**/results.parquet"))}
        if study is None and len(stored) > 1:
            raise OptionError(f"there are several studies: expected {', '.join(stored)}")
        name = study if study is not None else next(iter(stored), "")
        if name not in stored:
            raise OptionError(unknown("study", name, stored))
        return Table(_bentpipe.stored_results(stored[name]))

    @property
    def figures(self) -> list[str]:
        """The names of the figures: see :meth:`plot`."""
        return [name for _, name, _ in self._core.figures()]

    @property
    def as_recorded(self) -> bool:
        """False if a cell or claim is worse than its recorded verdict."""
        return not self._core.regression()

    def plot(
        self, figure: str | None = None, path: str | os.PathLike[str] | None = None
    ) -> Picture:
        """Draws a figure.

        Parameters
        ----------
        figure : str, optional
            Its name; the first by default.
        path : str or path, optional
            Where to write it: ``.svg``, ``.png`` or ``.pdf``.

        Returns
        -------
        Picture
        """
        names = self.figures
        if not names:
            raise OptionError("there are no figures")
        if figure is not None and figure not in names:
            raise OptionError(unknown("figure", figure, names))
        number = 0 if figure is None else names.index(figure)
        return picture(lambda kind: self._core.plot(number, kind), path)

    def _main(self) -> Table:
        return self.runs() if self._says_nothing() else self.cells

    def _text(self, width: int) -> str:
        if not self._says_nothing():
            return self._core.text(width)
        have = _OUT if self.out is None else f"a row for each run is in runs(), from {self.out}"
        return f"no tables, figures or claims; {have}"

    def _says_nothing(self) -> bool:
        """True of a study without tables, figures and claims."""
        return not (len(self.cells) or len(self.claims) or self.figures)

    def _repr_html_(self) -> str:
        text = super()._repr_html_()
        figures = (self._core.plot(i, "svg").decode() for i in range(len(self.figures)))
        return text + "".join(figures)


def papers() -> list[dict[str, Any]]:
    """The papers whose results are reproduced, with their tables, figures and claims.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> import bentpipe
    >>> "marchese-2006" in [paper["paper"] for paper in bentpipe.papers()]
    True
    """
    _papers.announce()
    found: list[dict[str, Any]] = json.loads(_bentpipe.papers())
    return found


def reproduce(
    paper: str,
    item: str | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    runs: int | None = None,
    threads: int = 0,
    fresh: bool = False,
    progress: Progress = None,
) -> Results:
    """Repeats the measurements of a paper, and compares our results with its numbers.

    Parameters
    ----------
    paper : str
        Its name: see :func:`papers`.
    item : str, optional
        A table, figure, claim or study of it; all of it by default.
    out : str or path, optional
        Folder for results; by default they are in memory only.
    runs : int, optional
        Runs of each cell at most, where that is fewer than the study says.
    threads : int, default 0
        Runs at the same time; zero is one per core.
    fresh : bool, default False
        Discard the results in ``out``.
    progress : bool, class, bar or function, optional
        Display of the progress, in runs.

    Returns
    -------
    Results

    Raises
    ------
    StudyError
        If there is no such paper or item.

    Examples
    --------
    >>> import bentpipe
    >>> table = bentpipe.reproduce("marchese-2001", "table-1", runs=1)
    >>> table.cells["published"][0] is not None
    True
    """
    _papers.announce()
    folder = None if out is None else Path(out)
    with Reporter(progress, paper) as report:
        core = _bentpipe.reproduce(paper, item, threads, runs, folder, fresh, report.function)
    return Results(core, folder)
