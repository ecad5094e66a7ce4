"""The options of the command as keyword arguments.

Generated from their declaration by a test of crates/present, with BENTPIPE_GENERATE=write.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypedDict

QUESTION = (
    "rate", "rtt", "orbit", "from_", "to", "capture", "trace", "over", "slot", "loss",
    "jitter", "fade", "modcod", "margin", "coding", "queue", "return_rate", "users",
    "terminals", "traffic", "size", "page_objects", "dns", "stagger", "beside",
    "background", "transport", "hosts", "pep", "server_rtt", "runs", "time", "robust",
    "seed",
)

#: Those that take several values.
SEVERAL = (
    "trace", "queue", "users", "size", "transport", "pep",
)

#: Those that are true or false.
FLAGS = (
    "dns", "robust",
)


class CompareOptions(TypedDict, total=False):
    """The keyword arguments of :func:`bentpipe.compare` that make its question.

    Parameters
    ----------
    rate : str
        Rate of the satellite link towards the users [default: 10 Mbit/s, or what a
        terminal of the constellation has]
    rtt : str
        Round-trip propagation time, without queueing [default: 600 ms]
    orbit : str | os.PathLike[str]
        Satellites of the path, instead of rtt: geo, iridium, teledesic, starlink
        (with slots as measured), starlink-2023 (with the delays over
        inter-satellite links, too), starlink-geometry, or a file of TLE or OMM
    from_ : str | tuple[float, float]
        Where the server is: a city, such as Berlin, ``Portland, Oregon`` or
        ``London, Canada``, or degrees north and east, such as 37.9,-122.3
    to : str | tuple[float, float]
        Where the users are
    capture : str | os.PathLike[str]
        A capture (pcap, pcapng) of a connection over the link, made at its sender:
        rate, rtt, loss and queue are what ``bentpipe fit`` estimates from it,
        unless they are set, and what the sender runs is compared as well
    trace : str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
        A trace of the link, instead of rate: a file of mahimahi or TheaterQ, or
        LeoReplayer's two, ``RATE,DELAYS``
    over : str
        Start at regular intervals over this much of the orbit or the trace, such as
        24h, and show rate, delay and times by start time
    slot : float | str
        Longitude of the geo satellite, degrees east [default: midway between the
        two places]
    loss : str
        Packets that the channel loses: ``0.1%``, each independently, or ``5% in
        bursts of 8 packets`` on average [default: 0.1%; over an orbit or a trace 0]
    jitter : str
        Deviation of the one-way delay, each way: ``5 ms``, with a shape, as in
        ``pareto 5 ms`` or ``uniform 5 ms``, and how long a draw holds, as in ``5 ms
        held 15 ms``. Packets keep their order
    fade : str
        A fade: its depth, how long it stays, when it begins after the first start
        and how long it rises and falls, as in ``10 dB for 30 s at 20 s, ramps of 5
        s``
    modcod : str
        ModCod of DVB-S2 under a clear sky, at which the link has its rate [default:
        16APSK 3/4]
    margin : str
        What the clear sky leaves above what the ModCod needs [default: 1 dB]
    coding : str
        What the modem does in a fade: acm (steps down to a ModCod that closes the
        link) or ccm (keeps its ModCod: beyond the margin the link is down)
        [default: acm]
    queue : str | Sequence[str]
        Queue before the link: ``1 BDP``, ``100 packets``, ``64 kB``, ``100 ms``, or
        codel, fq-codel, pie or red, set for the link, or ``codel 1000 packets
        target 30 ms``. Several to compare; the first is the one that the link has
        today [default: 1 BDP]
    return_rate : str
        Rate of the way back, for acknowledgements [default: a fifth of rate]
    users : int | Sequence[int]
        Users that share the link; several numbers to see where the advice changes
        [default: one at each terminal; with mixed traffic as few as have each
        activity]
    terminals : int
        Terminals that the users are spread over evenly: all share the link towards
        them, and each has a return link of its own, with return_rate [default: 1]
    traffic : str
        What each user does: download, web (reads pages), video (watches a minute),
        mixed (a third each), or a mix of these, upload and call: ``web 60%,video
        30%,download 10%`` [default: download]
    size : str | Sequence[str]
        Size of a download, or of a page on average; several to see where the advice
        changes [default: 10 MB; a page 2 MB]
    page_objects : int
        Objects that a page divides into: the document, and when that is there all
        that it names at once; the first fifth of them is what a browser waits for
        to draw [default: 1]
    dns : bool
        A name is looked up before each connection: a query over UDP to a resolver
        beside the server, and its answer. The times of users count it [default: no]
    stagger : str
        Time over which the users' starts are spread [default: half of what the link
        needs for all downloads; 10 s for web and video]
    beside : str
        What others run: half of the users run it, the other half the compared
        transport
    background : str
        Other traffic without congestion control: ``20%`` of the rate, ``2 Mbit/s``,
        or ``20% in bursts``
    transport : str | Sequence[str]
        Transports to compare, by the names in the table; ``all`` for every one
        [default: a selection]
    hosts : str
        Whose TCP: linux, or rfc for the papers' variants on idealised hosts, which
        no real host offers [default: linux]
    pep : str | Sequence[str]
        Proxies at the gateway to compare: none, split (the transports run from the
        gateway to the users), snoop (repairs losses of the link), gateway (one on
        each side of the satellite; a prediction) [default: none]
    server_rtt : str
        Round-trip time between server and gateway [default: 50 ms where proxies are
        compared; else the server is at the link]
    runs : int
        Runs of each transport, each with different losses [default: as many as the
        decision needs; 4 in real time]
    time : str
        How long to look for an answer that holds, about: it is counted in packets,
        8 million for a second, so that the same question has the same answer
        everywhere [default: 5 s]
    robust : bool
        Ask as well for half and twice the loss, the queue and the users, and from
        which value on the advice turns; takes up to ten times as long [default: no]
    seed : int
        Seed of the first run; the same seed gives the same output [default: 1]
    """

    rate: str | None
    rtt: str | None
    orbit: str | os.PathLike[str] | None
    from_: str | tuple[float, float] | None
    to: str | tuple[float, float] | None
    capture: str | os.PathLike[str] | None
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
    over: str | None
    slot: float | str | None
    loss: str | None
    jitter: str | None
    fade: str | None
    modcod: str | None
    margin: str | None
    coding: str | None
    queue: str | Sequence[str] | None
    return_rate: str | None
    users: int | Sequence[int] | None
    terminals: int | None
    traffic: str | None
    size: str | Sequence[str] | None
    page_objects: int | None
    dns: bool | None
    stagger: str | None
    beside: str | None
    background: str | None
    transport: str | Sequence[str] | None
    hosts: str | None
    pep: str | Sequence[str] | None
    server_rtt: str | None
    runs: int | None
    time: str | None
    robust: bool | None
    seed: int | None
