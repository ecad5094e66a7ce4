"""`compare`: which transport for a link and its users?"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _bentpipe
from ._asked import Asked, Given, Question
from ._errors import InputError, OptionError
from ._keywords import QUESTION
from ._options import signature
from ._picture import Picture, picture
from ._progress import Progress, Reporter
from ._table import Table, Tabular

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CompareOptions
    from ._scenario import Scenario


def compare(
    *,
    threads: int | None = None,
    cc: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    progress: Progress = None,
    **options: Unpack[CompareOptions],
) -> Answer:
    """Simulates users of a link with each transport, and says which to switch on.

    The arguments are the options of the command ``bentpipe compare``. Quantities
    are texts with their unit. Without any they describe one user of a broadband
    terminal under a geostationary satellite who downloads 10 MB.

    Parameters
    ----------
    threads : int, optional
        Runs at the same time; does not change results. One per core by default.
    cc : str or path, or several, optional
        Congestion controls of your own to bring along: a .c file of the kernel's
        form, the folder of a crate that ``bentpipe cc new`` made, or the shared
        library of one; ``NAME=`` in front gives it another name.
    progress : bool, class, bar or function, optional
        What shows how far it is: ``True`` for a bar of tqdm, a class or bar like
        tqdm's, or a function of what is done and all there is.
    **options
        See :class:`bentpipe.CompareOptions`.

    Returns
    -------
    Answer
        The advice, and what it rests on.

    Raises
    ------
    OptionError
        If an option is unknown or makes no sense.

    Examples
    --------
    >>> import bentpipe
    >>> answer = bentpipe.compare(rate="2 Mbit/s", rtt="511 ms", loss="0", size="300 kB",
    ...                           transport=["cubic", "cubic + IW 32", "bbr"])
    >>> answer.transport
    'cubic + IW 32'
    >>> len(answer.rows)
    3
    """
    question = Question(options, cc, threads)
    with Reporter(progress, "compare") as report:
        core = _bentpipe.compare(question.options, question.controls, threads, report.function)
    return Answer(core, question.given)


# What `help` and completion show.
compare.__signature__ = signature(compare, QUESTION)  # type: ignore[attr-defined]


def compare_by_users(
    users: Sequence[int] | str,
    /,
    *,
    threads: int | None = None,
    cc: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    progress: Progress = None,
    **options: Unpack[CompareOptions],
) -> ByUsers:
    """Asks :func:`compare` for several numbers of users.

    Parameters
    ----------
    users : sequence of int or str
        The numbers of users: ``[1, 5, 20]`` or ``"1,5,20"``.
    threads, cc, progress
        As for :func:`compare`.
    **options
        See :class:`bentpipe.CompareOptions`.

    Returns
    -------
    ByUsers
        An answer for each number of users, and the verdicts side by side.

    Raises
    ------
    OptionError
        If an option is unknown or makes no sense.

    Examples
    --------
    >>> import bentpipe
    >>> found = bentpipe.compare_by_users([1, 3], rate="2 Mbit/s", loss="0", size="60 kB",
    ...                                   transport=["cubic", "cubic + IW 32"])
    >>> found[3].transport
    'cubic + IW 32'
    """
    given = users.split(",") if isinstance(users, str) else list(users)
    try:
        numbers = sorted({int(number) for number in given})
    except (TypeError, ValueError):
        raise OptionError(
            f"`users` must be whole numbers, such as [1, 5, 20], not {users!r}"
        ) from None
    if not numbers:
        raise OptionError("`users` names no number of users")
    answers = {}
    for number in numbers:
        asked = options.copy()
        asked["users"] = number
        answers[number] = compare(threads=threads, cc=cc, progress=progress, **asked)
    return ByUsers(answers)


class ByUsers(Tabular):
    """Answers to the same question for several numbers of users.

    Printed, it is what the command prints for ``--users 1,5,20``. It has the Arrow
    PyCapsule interface of its :attr:`rows`.

    Attributes
    ----------
    answers : dict of int to Answer
        The answer for each number of users.
    """

    _widest = 100

    def __init__(self, answers: dict[int, Answer]) -> None:
        self.answers = answers

    def __getitem__(self, users: int) -> Answer:
        """The answer for that many users.

        Parameters
        ----------
        users : int
            One of the numbers that were asked about.
        """
        return self.answers[users]

    @property
    def headline(self) -> str:
        """What is advised for which number of users, in a sentence."""
        return _bentpipe.by_users_headline(self._cores())

    @cached_property
    def rows(self) -> Table:
        """A row for each number of users, transport, proxy, queue and size."""
        return Table(_bentpipe.by_users_rows(self._cores()))

    def _cores(self) -> list[_bentpipe.Answer]:
        return [answer._core for answer in self.answers.values()]

    def _main(self) -> Table:
        return self.rows

    def _text(self, width: int) -> str:
        return _bentpipe.by_users_text(self._cores(), width, False)


class Answer(Asked):
    """What a comparison found.

    Printed, it is what the command prints. It has the Arrow PyCapsule interface of
    its :attr:`rows`: ``polars.DataFrame(answer)``.
    """

    _command = ("bentpipe", "compare")

    def __init__(self, core: _bentpipe.Answer, given: Given) -> None:
        super().__init__(given)
        self._core = core

    @property
    def headline(self) -> str:
        """The advice in a sentence."""
        return self._core.headline()

    @property
    def verdict(self) -> str:
        """The advice, whom it hurts and how sure it is, in words."""
        return " ".join(self._core.sentences())

    @property
    def transport(self) -> str | None:
        """The recommended transport; ``None`` if no traffic ended.

        Where several queues were compared, with the queue unless it is the first.
        """
        found = self._core.recommended()
        return found[0] if found else None

    @property
    def pep(self) -> str | None:
        """The proxy to run it with: ``none``, ``split``, ``snoop`` or ``gateway``."""
        found = self._core.recommended()
        return found[1] if found else None

    @property
    def queue(self) -> str | None:
        """The queue before the link to run it with, as it was given."""
        found: dict[str, Any] | None = next((row for row in self.rows if row["recommended"]), None)
        return found["queue"] if found else None

    @property
    def baseline(self) -> str:
        """The transport that gains are held against."""
        return self._core.baseline()[0]

    @cached_property
    def rows(self) -> Table:
        """A row for each transport, proxy and size: the means over the runs."""
        return Table(self._core.rows())

    @cached_property
    def runs(self) -> Table:
        """A row for each run and user of each transport."""
        return Table(self._core.runs())

    def why(self, row: str | None = None, beside: str | None = None) -> Why:
        """Explains why rows take as long as they do, as ``bentpipe compare --why`` does.

        The run of median time of each is made again.

        Parameters
        ----------
        row : str, optional
            The row to explain, as the table prints it: ``"bbr"``, or ``"split bbr"``
            where there are several proxies. The recommended one by default.
        beside : str, optional
            The row that it is held against; the baseline by default.

        Returns
        -------
        Why

        Raises
        ------
        OptionError
            If there is no such row.
        RunError
            If the run is too long to be recorded.

        Examples
        --------
        >>> import bentpipe
        >>> answer = bentpipe.compare(rate="2 Mbit/s", loss="0", size="300 kB", runs=1,
        ...                           transport=["cubic", "cubic + IW 32"])
        >>> answer.why("cubic + IW 32").rows
        ['cubic', 'cubic + IW 32']
        """
        if beside is not None and row is None:
            raise OptionError("`beside` is what `row` is held against; give `row` as well")
        return Why(self._core.why([name for name in (row, beside) if name is not None]))

    def scenario_of(self, row: str) -> Scenario:
        """The run of median time of a row as a scenario, as ``--scenario-of`` writes it.

        With its seed and the starts that it drew for its users: run on its own, it has
        the same outcome. :meth:`Scenario.to_toml` has its text.

        Parameters
        ----------
        row : str
            The row, as the table prints it.

        Returns
        -------
        Scenario

        Raises
        ------
        OptionError
            If there is no such row, or no file can say what it runs, such as a
            congestion control in Python.
        """
        from ._scenario import Scenario

        return Scenario(self._core.scenario_of(row))

    def scenario(self, transport: str | None = None) -> Scenario:
        """The scenario that a transport was simulated in, to run it with seeds of your own.

        Parameters
        ----------
        transport : str, optional
            A transport that was compared; the recommended one by default.

        Returns
        -------
        Scenario
        """
        from ._scenario import Scenario

        name = transport or self.transport or self.baseline
        return Scenario._of(self._core.scenario(name, 0))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``bentpipe compare --json`` prints it.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = json.loads(self._core.json())
        return found

    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture | None:
        """Draws the time of each transport as a bar with its 95% interval.

        Over an orbit or a trace with ``over`` it draws link and times by the time
        of the beginning.

        Parameters
        ----------
        path : str or path, optional
            Where to write it: ``.svg``, ``.png`` or ``.pdf``.

        Returns
        -------
        Picture or None
            ``None`` if no traffic ended.
        """
        if self._core.recommended() is None:
            return None
        return picture(lambda kind: self._core.plot(kind) or b"", path)

    def curves(
        self, path: str | os.PathLike[str] | None = None, *, all: bool = False
    ) -> Picture | None:
        """Draws received bytes, rate and window against time.

        Parameters
        ----------
        path : str or path, optional
            Where to write it: ``.svg``, ``.png`` or ``.pdf``.
        all : bool, default False
            Draw every transport, and not only those that matter most.

        Returns
        -------
        Picture or None
            ``None`` if no traffic ended.
        """
        if self._core.recommended() is None:
            return None
        return picture(lambda kind: self._core.curves(all, kind), path)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the answer as a page to hand on, which works offline and on paper.

        Parameters
        ----------
        path : str or path
            The file, HTML.
        """
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self._core.page(self.command))
        except OSError as error:
            raise InputError(f"cannot write `{os.fspath(path)}`: {error.strerror}") from error

    def _main(self) -> Table:
        return self.rows

    def _text(self, width: int) -> str:
        return self._core.text(width, False)

    def details(self) -> str:
        """What ``bentpipe compare --details`` prints."""
        return self._core.text(160, True).rstrip()

    def _repr_html_(self) -> str:
        sentences = [html.escape(sentence) for sentence in self._core.sentences()]
        head, rest = (sentences[0], sentences[1:]) if sentences else ("", [])
        drawn = self._core.plot("svg")
        figure = drawn.decode() if drawn else self.rows._repr_html_()
        text = html.escape(self._core.text(120, False).rstrip())
        return (
            f"<p><strong>{head}</strong></p><p>{' '.join(rest)}</p>{figure}"
            f"<details><summary>All that was compared</summary><pre>{text}</pre></details>"
        )


class Why:
    """Why rows of an answer take as long as they do.

    Printed, it is what ``bentpipe compare --why`` prints: where the time of a run of
    each went, what its sender did, and why they differ.
    """

    def __init__(self, core: _bentpipe.Why) -> None:
        self._core = core

    @property
    def rows(self) -> list[str]:
        """The rows: what is held against, and what is explained."""
        return self._core.rows()

    @property
    def difference(self) -> list[str]:
        """Sentences on why the second takes another time than the first; none of one row."""
        sentences: list[str] = self.to_dict()["difference"]
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """What ``bentpipe compare --why --json`` prints as ``why``.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = json.loads(self._core.json())
        return found

    def __str__(self) -> str:
        return self._core.text(100).rstrip()

    def __repr__(self) -> str:
        return str(self)
