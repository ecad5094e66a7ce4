"""The catalogue of transports."""

from __future__ import annotations

import json
from typing import Any

from . import _bentpipe
from ._errors import OptionError
from ._options import unknown


def transports() -> list[str]:
    """The names of all transports.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import bentpipe
    >>> {"cubic", "bbr", "hybla"} <= set(bentpipe.transports())
    True
    """
    return [entry["name"] for entry in _catalogue()["transports"]]


def transport(name: str) -> dict[str, Any]:
    """Describes a transport: its congestion control, windows, recovery and source.

    Parameters
    ----------
    name : str
        One of :func:`transports`.

    Returns
    -------
    dict

    Raises
    ------
    OptionError
        If there is none of that name.
    """
    for entry in _catalogue()["transports"]:
        if entry["name"] == name:
            found: dict[str, Any] = entry
            return found
    raise OptionError(unknown("transport", name, transports()))


def _catalogue() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_bentpipe.transports())
    return found
