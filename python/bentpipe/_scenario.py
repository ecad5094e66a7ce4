"""Scenarios and their runs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from . import _bentpipe
from ._errors import OptionError
from ._options import text as typed
from ._options import unknown
from ._picture import Picture, picture
from ._progress import Progress, Reporter
from ._table import Table, Tabular
from ._toml import dumps


class Scenario:
    """A network, its transports and its traffic, in the language of scenario files.

    Parameters
    ----------
    source : str, path or mapping
        TOML text, the path of a file, or the same as a dictionary.
    folder : str or path, optional
        Folder of the files that a text or dictionary names; by default the current
        folder.

    Raises
    ------
    ScenarioError
        If it is invalid; with file, line, column and a suggestion. The meaning is
        checked by :meth:`check` and before a run.

    Examples
    --------
    >>> import bentpipe
    >>> network = bentpipe.Scenario({
    ...     "duration": "300 s",
    ...     "node": {"server": {}, "client": {}},
    ...     "link": {"satellite": {"between": ["server", "client"], "rate": "2 Mbit/s",
    ...                            "round_trip_delay": "511 ms", "queue": "1 BDP"}},
    ...     "flow": {"download": {"from": "server", "to": "client", "transport": "hybla",
    ...                           "application": {"kind": "transfer", "size": "3 MB"}}},
    ... })
    >>> outcome = bentpipe.run(network)
    >>> 12 < outcome.flows["transfer_time_s"][0] < 30
    True
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if isinstance(source, Mapping):
            self._core = _parse("scenario", dumps(source), folder)
        elif isinstance(source, str) and ("\n" in source or "=" in source):
            self._core = _parse("scenario", source, folder)
        else:
            self._core = _bentpipe.Scenario.open(os.fspath(source))

    @classmethod
    def _of(cls, core: _bentpipe.Scenario) -> Scenario:
        made = cls.__new__(cls)
        made._core = core
        return made

    def set(self, path: str, value: object) -> Scenario:
        """A copy with a different value at a dotted path.

        Parameters
        ----------
        path : str
            Where it is: ``link.satellite.rate``.
        value : object
            The value as it is typed, such as ``"5 Mbit/s"``; lists and tables are
            written as TOML.

        Returns
        -------
        Scenario

        Examples
        --------
        >>> import bentpipe
        >>> geo = bentpipe.Scenario.template()
        >>> fast = geo.set("link.satellite.rate", "10 Mbit/s")
        >>> fast.hash == geo.hash
        False
        """
        return Scenario._of(self._core.set(path, value_text(value)))

    @staticmethod
    def template() -> Scenario:
        """The commented example that ``bentpipe new`` writes.

        Returns
        -------
        Scenario
        """
        return Scenario(_bentpipe.template())

    @staticmethod
    def builder(**values: Any) -> ScenarioBuilder:
        """Begins a scenario that is built table by table.

        Parameters
        ----------
        **values
            Values of the file's top: ``duration="300 s"``, ``seed=1``.

        Returns
        -------
        ScenarioBuilder
        """
        return ScenarioBuilder(**values)

    def check(self) -> Scenario:
        """Checks everything.

        Returns
        -------
        Scenario
            This object.

        Raises
        ------
        ScenarioError
            With all errors.
        """
        self._core.facts()
        return self

    def to_toml(self) -> str:
        """The text of a file that says the same, without comments.

        Returns
        -------
        str

        Raises
        ------
        ScenarioError
            If it is wrong, or if no file can say it.
        """
        return self._core.toml()

    @property
    def name(self) -> str:
        """Its name."""
        return self._core.facts()[0]

    @property
    def description(self) -> str:
        """Its description."""
        return self._core.facts()[1]

    @property
    def duration_s(self) -> float:
        """Latest end of a run."""
        return self._core.facts()[2]

    @property
    def seed(self) -> int:
        """The seed of a run, unless the run has another."""
        return self._core.facts()[3]

    @property
    def hash(self) -> str:
        """Its identifier: scenarios with the same hash have the same outcomes."""
        return self._core.facts()[4]

    @property
    def flows(self) -> list[str]:
        """The names of its flows."""
        return self._core.facts()[5]

    @property
    def links(self) -> list[str]:
        """The names of its links."""
        return self._core.facts()[6]

    def __repr__(self) -> str:
        name, description, duration, _, _, flows, links = self._core.facts()
        about = f": {description}" if description else ""
        return (
            f"<scenario {name}{about}; {_count(len(links), 'link')}, "
            f"{_count(len(flows), 'flow')}, at most {duration:g} s>"
        )


def _parse(name: str, text: str, folder: str | os.PathLike[str] | None) -> _bentpipe.Scenario:
    at = Path(folder) / name if folder is not None else Path(name)
    return _bentpipe.Scenario.parse(at, text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def value_text(value: object) -> str:
    """A value as written after `--set`."""
    if isinstance(value, (list, tuple, Mapping, bool)):
        from ._toml import value as toml

        return toml(value)
    return typed("value", value)


#: The tables of a scenario that have names: `[node.server]`.
_TABLES = ("node", "link", "flow", "transport", "middlebox", "medium", "constellation", "terminal")


class ScenarioBuilder:
    """Builds a scenario table by table, in the words of scenario files.

    Each method adds a table with the name and the keys that are given; a key that
    Python has for itself has an underscore behind it (``from_``). What is wrong is
    found by :meth:`build`.

    Examples
    --------
    >>> import bentpipe
    >>> network = (
    ...     bentpipe.Scenario.builder(duration="300 s")
    ...     .node("server").node("client")
    ...     .link("satellite", between=["server", "client"], rate="2 Mbit/s",
    ...           round_trip_delay="511 ms", queue="1 BDP")
    ...     .flow("download", from_="server", to="client", transport="cubic",
    ...           application={"kind": "transfer", "size": "300 kB"})
    ...     .build()
    ... )
    >>> network.links
    ['satellite', 'satellite.reverse']
    """

    def __init__(self, **values: Any) -> None:
        self._tables: dict[str, Any] = {_key(name): value for name, value in values.items()}

    def add(self, table: str, name: str, /, **values: Any) -> ScenarioBuilder:
        """Adds a table of any kind.

        Parameters
        ----------
        table : str
            Its kind: ``link`` for ``[link.NAME]``.
        name : str
            Its name.
        **values
            Its keys.

        Returns
        -------
        ScenarioBuilder
            This object.
        """
        tables = self._tables.setdefault(table, {})
        if name in tables:
            raise OptionError(f"there are two {table}s named `{name}`")
        tables[name] = {_key(key): value for key, value in values.items()}
        return self

    def node(self, name: str, /, **values: Any) -> ScenarioBuilder:
        """Adds a node."""
        return self.add("node", name, **values)

    def link(self, name: str, /, **values: Any) -> ScenarioBuilder:
        """Adds a link: ``between``, ``rate``, ``one_way_delay``, ``queue``, ``channel``."""
        return self.add("link", name, **values)

    def flow(self, name: str, /, **values: Any) -> ScenarioBuilder:
        """Adds a flow: ``from_``, ``to``, ``transport``, ``application``."""
        return self.add("flow", name, **values)

    def transport(self, name: str, /, **values: Any) -> ScenarioBuilder:
        """Adds a transport that refines another: ``base``, and the differences."""
        return self.add("transport", name, **values)

    def middlebox(self, name: str, /, **values: Any) -> ScenarioBuilder:
        """Adds a middlebox: ``kind``, ``at``."""
        return self.add("middlebox", name, **values)

    def build(self, *, folder: str | os.PathLike[str] | None = None) -> Scenario:
        """The scenario, checked.

        Parameters
        ----------
        folder : str or path, optional
            Folder of the files that it names.

        Returns
        -------
        Scenario

        Raises
        ------
        ScenarioError
            With all errors.
        """
        return Scenario(self._tables, folder=folder).check()

    def to_toml(self) -> str:
        """The scenario as the text of a file.

        Returns
        -------
        str
        """
        return dumps(self._tables)


def _key(name: str) -> str:
    return name[:-1] if name.endswith("_") else name


def run(
    scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any],
    *,
    seed: int | None = None,
    series: bool | str = False,
    start_jitter: str | None = None,
    skip_steady: bool = False,
    progress: Progress = None,
) -> Outcome:
    """Runs a scenario once in the simulator.

    The same scenario and seed give the same outcome, bit for bit.

    Parameters
    ----------
    scenario : Scenario, str, path or mapping
        The scenario, or a source of one.
    seed : int, optional
        Seed of every random process; the scenario's by default.
    series : bool or str, default False
        Record time series; a text is their interval, such as ``"100 ms"``.
    start_jitter : str, optional
        Shift the start of each flow by a random time below this one.
    skip_steady : bool, default False
        Simulate until the packets repeat exactly, and count the rest in such periods where nothing
        else is to happen: the figures are within 0.1%. Otherwise all of the run is simulated.
    progress : bool, class, bar or function, optional
        Display of the progress, in simulated seconds.

    Returns
    -------
    Outcome

    Raises
    ------
    ScenarioError
        If the scenario is wrong.
    RunError
        If the run hits a bound of the scenario.

    Examples
    --------
    >>> import bentpipe
    >>> outcome = bentpipe.run(bentpipe.Scenario.template(), seed=7)
    >>> outcome.seed, len(outcome.flows)
    (7, 1)
    """
    network = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    interval = series if isinstance(series, str) else ("auto" if series else None)
    with Reporter(progress, "run") as report:
        core = _bentpipe.run(
            network._core, seed, interval, start_jitter, skip_steady, report.function
        )
    return Outcome(core)


class Outcome(Tabular):
    """The results of a run.

    Printed, it is what the command prints. It has the Arrow PyCapsule interface of
    its :attr:`flows`.
    """

    def __init__(self, core: _bentpipe.Outcome) -> None:
        self._core = core

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self._core.facts()[0]

    @property
    def ended_at_s(self) -> float:
        """Simulated time at which the run ended."""
        return self._core.facts()[1]

    @property
    def events(self) -> int:
        """Events that were simulated."""
        return self._core.facts()[2]

    @property
    def tables(self) -> list[str]:
        """The names of its tables: see :meth:`table`."""
        return self._core.tables()

    def table(self, name: str) -> Table:
        """A table of the run, with the columns of the files of the same name.

        Parameters
        ----------
        name : str
            ``runs`` (a row for each flow), ``links``, ``crossings``,
            ``middleboxes``, ``legs`` or ``series``.

        Returns
        -------
        Table
        """
        return Table(self._core.table(name))

    @cached_property
    def flows(self) -> Table:
        """A row for each flow."""
        return self.table("runs")

    @cached_property
    def links(self) -> Table:
        """A row for each link and direction."""
        return self.table("links")

    @cached_property
    def series(self) -> Table:
        """A row for each sample of the time series, where they were recorded."""
        return self.table("series")

    def rates(self, window: str = "1 s") -> Table:
        """What each flow received, over windows of time.

        Without series the run is made again, which gives the same. A window begins and
        ends at a delivery, so that no rate is above that at which data arrived; a pause
        is a window of its own.

        Parameters
        ----------
        window : str, default "1 s"
            Least length of a window, such as two round trips.

        Returns
        -------
        Table
            ``flow``, ``from_s``, ``until_s`` and ``goodput_bps``.

        Examples
        --------
        >>> import bentpipe
        >>> rates = bentpipe.run(bentpipe.Scenario.template()).rates("2 s")
        >>> rates.columns
        ['flow', 'from_s', 'until_s', 'goodput_bps']
        """
        return Table(self._core.table("rates", window=window))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``bentpipe run --json`` prints it.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = json.loads(self._core.json())
        return found

    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture:
        """Draws received bytes, rate and window of each flow against time.

        Without series the run is made again, which gives the same.

        Parameters
        ----------
        path : str or path, optional
            Where to write it: ``.svg``, ``.png`` or ``.pdf``.

        Returns
        -------
        Picture
        """
        return picture(lambda kind: self._core.plot(kind) or b"", path)

    def _main(self) -> Table:
        return self.flows

    def _text(self, width: int) -> str:
        return self._core.text(width)


__all__ = ["Outcome", "Scenario", "ScenarioBuilder", "run", "unknown"]
