"""`fit`: the link behind a captured connection."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from . import _bentpipe


@dataclass(frozen=True)
class Estimate:
    """An estimate with its interval of 95%.

    Attributes
    ----------
    value : float
        The estimate.
    low : float
        The lower end of its interval.
    high : float or None
        The upper end; ``None`` where the capture shows only that it is at least
        the value.
    """

    value: float
    low: float
    high: float | None


class Fit:
    """What a capture shows of a connection, its link and its sender.

    Printed, it is what the command ``bentpipe fit`` prints. Rates and sizes are at the
    IP layer.
    """

    def __init__(self, core: _bentpipe.Fit) -> None:
        self._core = core
        self._found: dict[str, Any] = json.loads(core.json())

    def _estimate(self, name: str) -> Estimate:
        return Estimate(**self._found[name])

    @property
    def rate_bps(self) -> Estimate:
        """Rate of the link, bit/s."""
        return self._estimate("rate_bps")

    @property
    def rtt_s(self) -> Estimate:
        """Round trip without queues, seconds."""
        return self._estimate("rtt_s")

    @property
    def loss_share(self) -> Estimate:
        """Share of the packets that the channel loses, those that the queue dropped aside."""
        return self._estimate("loss_share")

    @property
    def burst_packets(self) -> Estimate | None:
        """Packets lost in a row on average; ``None`` where they are lost independently."""
        return None if self._found["burst_packets"] is None else self._estimate("burst_packets")

    @property
    def queue_bytes(self) -> Estimate:
        """What the queue before the link holds, bytes."""
        return self._estimate("queue_bytes")

    @property
    def control(self) -> str | None:
        """The sender's congestion control by its name in Linux; ``None`` if it is unknown."""
        name: str | None = self._found["control"]
        return name

    @property
    def doubt(self) -> str | None:
        """Why the control is unknown."""
        text: str | None = self._found["doubt"]
        return text

    @property
    def scores(self) -> dict[str, float]:
        """How far candidates are from the capture, the nearest first.

        A distance is the mean ratio by which the packets in flight differ over time, as a
        natural logarithm: 0.1 is about a tenth.
        """
        return {score["control"]: score["distance"] for score in self._found["scores"]}

    @property
    def notes(self) -> list[str]:
        """What there is to know about the capture."""
        return list(self._found["notes"])

    @property
    def scenario(self) -> str:
        """The link and the transfer as a scenario (TOML), with the intervals as comments."""
        return self._core.scenario()

    def to_dict(self) -> dict[str, Any]:
        """Everything that ``bentpipe fit --json`` prints.

        Returns
        -------
        dict
        """
        return dict(self._found)

    def __str__(self) -> str:
        return self._core.text(100)

    def __repr__(self) -> str:
        return self._core.text(100)


def fit(path: str | os.PathLike[str], *, flow: int | str | None = None) -> Fit:
    """Estimates the link behind a captured connection, and what its sender runs.

    Parameters
    ----------
    path : str or path
        A capture (pcap or pcapng) that was made at the sender.
    flow : int or str, optional
        The connection: its number by the payload that connections carried, from 1, or an
        end such as ``192.0.2.1:443``. The one with the most payload by default.

    Returns
    -------
    Fit
        The estimates with their intervals.

    Raises
    ------
    InputError
        If the file cannot be read, is no capture, or does not show enough.

    Examples
    --------
    >>> import bentpipe, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> try:
    ...     bentpipe.fit(folder / "absent.pcap")
    ... except bentpipe.InputError as error:
    ...     print("No such file" in str(error))
    True
    """
    return Fit(_bentpipe.fit(os.fspath(path), None if flow is None else str(flow)))
