"""How a satellite link changes with time: orbits and traces.

>>> from bentpipe import link
>>> delays = link.orbit("iridium", from_="Anchorage", to="Oslo", over="1 h", points=60)
>>> len(delays)
60
>>> 0.02 < min(delays["rtt_s"]) < max(delays["rtt_s"]) < 0.3
True
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from . import _bentpipe
from ._errors import OptionError
from ._options import words
from ._table import Table

#: A place: a city, degrees north and east as a text, or as a pair.
Place = str | tuple[float, float]


class Course(Table):
    """A link over time: a row for each step.

    Attributes
    ----------
    text : str
        Description in words.
    notes : list of str
        Remarks about it.
    """

    def __init__(self, batch: _bentpipe.Batch, said: list[str]) -> None:
        super().__init__(batch)
        self.text = said[0]
        self.notes = said[1:]


def _course(points: int, given: dict[str, object]) -> Course:
    if points < 1:
        raise OptionError("`points` must be above zero")
    batch, said = _bentpipe.course(words(given), points)
    return Course(batch, said)


def orbit(
    name: str | os.PathLike[str],
    *,
    from_: Place,
    to: Place,
    over: str | None = None,
    points: int = 360,
    slot: float | None = None,
) -> Course:
    """The path over satellites between two places, at regular steps over a time.

    Parameters
    ----------
    name : str or path
        ``geo``, ``iridium``, ``teledesic``, ``starlink``, or a file of TLE or OMM.
    from_, to : str or tuple of float
        The places: a city, or degrees north and east.
    over : str, optional
        The time, such as ``"24 h"``; an hour by default.
    points : int, default 360
        Number of steps.
    slot : float, optional
        Longitude of a geostationary satellite, degrees east.

    Returns
    -------
    Course
        With the columns ``time_s``, ``step_s``, ``rtt_s``, ``rate_bps``,
        ``availability`` and ``path_changes``.
    """
    given: dict[str, object] = {"orbit": name, "from_": from_, "to": to, "over": over, "slot": slot}
    return _course(points, given)


def trace(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rtt: str | None = None,
    over: str | None = None,
    points: int = 360,
) -> Course:
    """Rates and delays of a trace, at regular steps over its time.

    Parameters
    ----------
    files : str, path or list of them
        A file of mahimahi or TheaterQ, or LeoReplayer's two: rates and delays.
    rtt : str, optional
        Round-trip propagation time, for a trace without delays.
    over : str, optional
        The time; that of the trace by default.
    points : int, default 360
        Number of steps.

    Returns
    -------
    Course
        With the columns ``time_s``, ``step_s``, ``rtt_s``, ``rate_bps``,
        ``availability`` and ``path_changes``.
    """
    return _course(points, {"trace": files, "rtt": rtt, "over": over})
