"""Congestion controls that are Python classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any, Protocol, TypeVar, overload

from . import _bentpipe
from ._errors import OptionError


class _Event(Protocol):
    """What is known at every event."""

    @property
    def outstanding(self) -> float:
        """Segments sent and not acknowledged cumulatively."""
        ...

    @property
    def min_rtt_s(self) -> float | None:
        """Smallest RTT sample of the connection."""
        ...

    @property
    def mss_bytes(self) -> int:
        """Segment size."""
        ...


class Ack(_Event, Protocol):
    """One received acknowledgement; valid during the call that it is passed to.

    Times are in seconds, rates in bit/s of payload, volumes in segments.
    """

    @property
    def now_s(self) -> float:
        """Time of arrival."""
        ...

    @property
    def acked(self) -> float:
        """Segments newly acknowledged cumulatively; zero for a duplicate."""
        ...

    @property
    def delivered(self) -> float:
        """Segments newly known to have arrived, selectively or cumulatively."""
        ...

    @property
    def duplicate(self) -> bool:
        """True if nothing is newly acknowledged cumulatively."""
        ...

    @property
    def rtt_s(self) -> float | None:
        """RTT sample of this ACK, where it gives one."""
        ...

    @property
    def smoothed_rtt_s(self) -> float | None:
        """Smoothed RTT of the retransmission timer."""
        ...

    @property
    def delivery_rate_bps(self) -> float | None:
        """Delivery rate over the round trip that ended with this ACK."""
        ...

    @property
    def rate_sample_bps(self) -> float | None:
        """Delivery rate sample of the newest packet that it covers.

        Only where the class has ``rate_samples = True``.
        """
        ...

    @property
    def app_limited(self) -> bool:
        """True if the application limited the sending that the sample measures."""
        ...

    @property
    def lost(self) -> float:
        """Segments newly found lost."""
        ...

    @property
    def congestion_echo(self) -> bool:
        """True when the receiver echoes an ECN mark."""
        ...

    @property
    def flight_before(self) -> float:
        """Segments in flight before this ACK was taken into account."""
        ...

    @property
    def flight(self) -> float:
        """Segments in flight after it."""
        ...

    @property
    def cwnd_limited(self) -> bool:
        """True when the sender had filled cwnd; one that had not must not grow it."""
        ...

    @property
    def round_start(self) -> bool:
        """True for the first ACK of a new round trip."""
        ...

    @property
    def in_recovery(self) -> bool:
        """True while a loss is being repaired."""
        ...

    @property
    def receive_window(self) -> float:
        """The receive window, segments."""
        ...


class Loss(_Event, Protocol):
    """A loss was detected and recovery begins: once per window of data."""

    @property
    def now_s(self) -> float:
        """Time of the event."""
        ...

    @property
    def flight(self) -> float:
        """Segments in flight when it was found."""
        ...

    @property
    def ecn(self) -> bool:
        """True when the receiver echoed an ECN mark and nothing was lost."""
        ...

    @property
    def smoothed_rtt_s(self) -> float | None:
        """Smoothed RTT."""
        ...


class Timeout(_Event, Protocol):
    """The retransmission timer ran out."""

    @property
    def now_s(self) -> float:
        """Time of the event."""
        ...

    @property
    def flight(self) -> float:
        """Segments in flight."""
        ...

    @property
    def first(self) -> bool:
        """True for the first timeout of a segment."""
        ...


class Window(Protocol):
    """The window that a control sets; valid during the call that it is passed to."""

    #: Congestion window, segments; at least 1.
    cwnd: float
    #: Slow start threshold, segments; infinite until something sets it.
    ssthresh: float
    #: Rate to pace at; ``None`` leaves pacing to the transport.
    pacing_rate_bps: float | None

    @property
    def mss_bytes(self) -> int:
        """Segment size."""
        ...

    @property
    def in_slow_start(self) -> bool:
        """True below ssthresh."""
        ...


class CongestionControl(Protocol):
    """The interface of a congestion control, which requires :meth:`on_ack`.

    Every other method may be left out: the sender follows RFC 5681 then. The
    methods and what they are for:

    ``on_ack(ack, window)``
        An ACK that advances, outside recovery: grow the window.
    ``on_established(rtt_s, window)``
        The connection is established; ``rtt_s`` is the sample of the handshake.
    ``on_loss(loss, window)``
        A loss was detected: set ssthresh and cwnd. By default half of the data in
        flight.
    ``on_timeout(timeout, window)``
        The retransmission timer ran out. By default cwnd is one segment.
    ``on_recovery_exit(window)``
        Recovery ended; cwnd is ssthresh.
    ``on_spurious(before, window)``
        The last loss was none; ``before`` has cwnd and ssthresh from before it. By
        default they are restored.
    ``after_idle(initial_window, window)``
        The sender was idle. By default cwnd is at most the initial window.

    ``rate_samples = True`` in the class asks for :attr:`Ack.rate_sample_bps`.
    """

    def on_ack(self, ack: Ack, window: Window, /) -> object:
        """An ACK that advances: grow the window."""
        ...


C = TypeVar("C", bound=type[Any])


@dataclass(frozen=True)
class Registered:
    """A class that was registered.

    Attributes
    ----------
    name : str
        The name under which scenarios find it.
    cls : type
        The class.
    fingerprint : str
        A hash of its source and its parameters.
    parameters : tuple
        The parameters with their defaults.
    """

    name: str
    cls: type[Any]
    fingerprint: str
    parameters: tuple[tuple[str, float], ...]


_REGISTERED: dict[str, Registered] = {}


def register(name: str, cls: C, *, fingerprint: str | None = None) -> C:
    """Registers a class as a congestion control under a name.

    The name can then be used wherever that of a built-in one can: in scenarios,
    :func:`compare`, studies and figures. The arguments of ``__init__`` that have a
    number as default are its parameters: ``"mine + gain=2"`` in :func:`compare`, a
    key of ``[transport.x]`` in a scenario. To register a name again replaces it.

    Parameters
    ----------
    name : str
        A letter, then letters, digits, ``-``, ``_`` and ``.``.
    cls : type
        A class with ``on_ack(ack, window)``: see :class:`CongestionControl`. One
        object of it is made for each end of each connection.
    fingerprint : str, optional
        Identifier of its source; by default its hash. It is part of the hash
        of scenarios that use the control, so results of two versions never mix.

    Returns
    -------
    type
        The class.

    Raises
    ------
    OptionError
        If a built-in transport has the name, or the class has no ``on_ack``.

    Examples
    --------
    >>> import bentpipe
    >>> class Steady:
    ...     "Two segments more each round trip."
    ...     def __init__(self, step=2.0):
    ...         self.step = step
    ...     def on_ack(self, ack, window):
    ...         window.cwnd += self.step * ack.acked / window.cwnd
    >>> _ = bentpipe.register("steady", Steady)
    >>> answer = bentpipe.compare(rate="2 Mbit/s", size="300 kB", runs=1,
    ...                           transport=["cubic", "steady", "steady + step=4"])
    >>> sorted(answer.rows["transport"])
    ['cubic', 'steady', 'steady + step=4']
    """
    if not isinstance(cls, type):
        raise OptionError(f"`{name}` must be a class, not {type(cls).__name__}")
    if not callable(getattr(cls, "on_ack", None)):
        raise OptionError(f"class `{cls.__name__}` has no method `on_ack(ack, window)`")
    parameters = _parameters(cls)
    if fingerprint is None:
        fingerprint = _fingerprint(cls, parameters)
    about = (inspect.getdoc(cls) or "").strip().splitlines()
    facts = {
        "name": name,
        "summary": about[0] if about else "",
        "origin": f"class {cls.__qualname__} of {cls.__module__}",
        "fingerprint": fingerprint,
        "parameters": list(parameters),
        "rate_samples": bool(getattr(cls, "rate_samples", False)),
    }
    _bentpipe.register(cls, facts)
    _REGISTERED[name] = Registered(name, cls, fingerprint, parameters)
    return cls


def unregister(name: str) -> None:
    """Forgets a class that was registered under a name.

    Parameters
    ----------
    name : str
        The name.
    """
    _REGISTERED.pop(name, None)
    _bentpipe.unregister(name)


def registered() -> list[Registered]:
    """The classes that were registered in this process.

    Returns
    -------
    list of Registered
    """
    return list(_REGISTERED.values())


@overload
def control(name: C) -> C: ...
@overload
def control(name: str) -> Callable[[C], C]: ...
def control(name: str | C) -> C | Callable[[C], C]:
    """Registers the class below, under a name or that of the class in lower case.

    Parameters
    ----------
    name : str or type
        The name, or the class where the decorator has no brackets.

    Examples
    --------
    >>> import bentpipe
    >>> @bentpipe.control("one-by-one")
    ... class OneByOne:
    ...     def on_ack(self, ack, window):
    ...         window.cwnd += ack.acked / window.cwnd
    >>> "one-by-one" in bentpipe.transports()
    True
    """
    if isinstance(name, str):
        known = name
        return lambda cls: register(known, cls)
    return register(name.__name__.lower(), name)


def _parameters(cls: type[Any]) -> tuple[tuple[str, float], ...]:
    """The arguments of `__init__` that have a number as default."""
    if cls.__init__ is object.__init__:
        return ()
    found = inspect.signature(cls.__init__).parameters.values()
    return tuple(
        (parameter.name, float(parameter.default))
        for parameter in found
        if isinstance(parameter.default, (int, float)) and not isinstance(parameter.default, bool)
    )


def _fingerprint(cls: type[Any], parameters: tuple[tuple[str, float], ...]) -> str:
    """A hash of the sources of a class and its bases, or of their code."""
    import hashlib

    digest = hashlib.sha256(repr(parameters).encode())
    for base in cls.__mro__:
        if base is object or base.__module__ in ("typing", "abc"):
            continue
        try:
            digest.update(inspect.getsource(base).encode())
        except (OSError, TypeError):
            # Typed at a prompt that keeps no source.
            for name, member in sorted(vars(base).items()):
                digest.update(_code(name, member).encode())
    return digest.hexdigest()[:16]


def _code(name: str, member: object) -> str:
    """The code of a member of a class, without its position."""
    code = getattr(getattr(member, "__func__", member), "__code__", None)
    if isinstance(code, CodeType):
        constants = [
            _code("", each) if isinstance(each, CodeType) else each for each in code.co_consts
        ]
        return f"{name} {code.co_code.hex()} {code.co_names} {constants}"
    if isinstance(member, property):
        return "".join(_code(name, each) for each in (member.fget, member.fset) if each)
    if isinstance(member, (bool, int, float, str, tuple)) and not name.startswith("__"):
        return f"{name} {member!r}"
    return ""
