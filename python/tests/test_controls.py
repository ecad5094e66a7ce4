"""Congestion controls that are Python classes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bentpipe

GEO = """
duration = "300 s"
[node.server]
[node.client]
[link.satellite]
between = ["server", "client"]
rate = "2 Mbit/s"
round_trip_delay = "511 ms"
queue = "1 BDP"
channel = { kind = "uniform", packet_error_rate = "0.1%" }
[flow.download]
from = "server"
to = "client"
transport = "mine"
application = { kind = "transfer", size = "1 MB" }
"""


class Reno:
    """The standard rules, in Python."""

    def __init__(self, gain: float = 1.0, label: str = "x") -> None:
        self.gain = gain

    def on_ack(self, ack: bentpipe.Ack, window: bentpipe.Window) -> None:
        if not ack.cwnd_limited:
            return
        if window.in_slow_start:
            window.cwnd += self.gain
        else:
            window.cwnd += self.gain / window.cwnd


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    for known in bentpipe.registered():
        bentpipe.unregister(known.name)


def times(transport: str, **more: Any) -> list[float]:
    found = bentpipe.run(bentpipe.Scenario(GEO).set("flow.download.transport", transport), **more)
    return list(found.flows["transfer_time_s"])


def test_a_class_runs_by_its_name_everywhere(tmp_path: Path) -> None:
    bentpipe.register("mine", Reno)
    assert "mine" in bentpipe.transports()
    assert bentpipe.transport("mine")["summary"] == "The standard rules, in Python."
    assert times("mine") == times("mine")
    answer = bentpipe.compare(
        rate="2 Mbit/s", size="300 kB", runs=1, transport=["cubic", "mine", "mine + gain=2"]
    )
    assert set(answer.rows["transport"]) == {"cubic", "mine", "mine + gain=2"}
    assert answer.plot() is not None
    (tmp_path / "geo.toml").write_text(GEO)
    study = bentpipe.Study(
        {
            "name": "own",
            "title": "Own",
            "scenario": "geo.toml",
            "axis": [
                {
                    "name": "transport",
                    "path": "flow.download.transport",
                    "values": ["cubic", "mine"],
                }
            ],
            "table": [
                {
                    "slug": "times",
                    "title": "Times",
                    "rows": ["transport"],
                    "metric": "time",
                    "unit": "s",
                }
            ],
        }
    )
    assert study.run(runs=2).cells["row"] == ["cubic", "mine"]


def test_it_does_what_the_same_rules_in_rust_do() -> None:
    bentpipe.register("mine", Reno)
    scenario = bentpipe.Scenario(GEO)
    text = GEO.replace('transport = "mine"', 'transport = "same"')
    text += '[transport.same]\nbase = "mine"\ncongestion_control = "newreno"\n'
    mine = bentpipe.run(scenario).flows.to_dict()
    rust = bentpipe.run(bentpipe.Scenario(text)).flows.to_dict()
    for column in ("transfer_time_s", "packets_sent", "retransmissions", "max_cwnd_segments"):
        if column in mine:
            assert mine[column] == rust[column], column


def test_parameters_are_the_numbers_of_init() -> None:
    known = bentpipe.register("mine", Reno) and bentpipe.registered()[0]
    assert known.parameters == (("gain", 1.0),)
    slow, fast = times("mine"), None
    text = GEO.replace('transport = "mine"', 'transport = "eager"')
    text += '[transport.eager]\nbase = "mine"\ngain = 3\n'
    fast = bentpipe.run(bentpipe.Scenario(text)).flows["transfer_time_s"][0]
    assert fast != slow[0]
    with pytest.raises(bentpipe.ScenarioError, match="did you mean `gain`"):
        bentpipe.Scenario(text.replace("gain = 3", "gian = 3")).check()


def test_a_version_has_a_hash_of_its_own() -> None:
    def of(cls: type) -> str:
        bentpipe.register("mine", cls)
        return bentpipe.Scenario(GEO).hash

    class Other(Reno):
        def on_loss(self, loss: bentpipe.Loss, window: bentpipe.Window) -> None:
            window.ssthresh = window.cwnd = max(2.0, 0.9 * loss.flight)

    first = of(Reno)
    assert first == of(Reno) and first != of(Other)
    # A prompt keeps no source.
    scope: dict[str, Any] = {}
    code = "class P:\n def on_ack(self, ack, window): window.cwnd += {}\n"
    hashes = []
    for step in ("0.5", "0.5", "0.25"):
        exec(code.format(step), scope)
        hashes.append(of(scope["P"]))
    assert hashes[0] == hashes[1] != hashes[2]


def test_every_event_arrives() -> None:
    seen: dict[str, Any] = {}

    class Watcher(Reno):
        rate_samples = True

        def on_established(self, rtt_s: float | None, window: bentpipe.Window) -> None:
            seen["established"] = rtt_s

        def on_ack(self, ack: bentpipe.Ack, window: bentpipe.Window) -> None:
            super().on_ack(ack, window)
            seen["ack"] = (ack.rtt_s, ack.min_rtt_s, ack.rate_sample_bps, ack.mss_bytes)
            seen["kept"] = ack

        def on_loss(self, loss: bentpipe.Loss, window: bentpipe.Window) -> None:
            seen["loss"] = loss.flight
            window.ssthresh = window.cwnd = max(2.0, loss.flight / 2)

        def on_recovery_exit(self, window: bentpipe.Window) -> None:
            seen["exit"] = window.cwnd

    bentpipe.register("mine", Watcher)
    times("mine")
    assert seen["loss"] > 1 and seen["exit"] >= 1
    rtt, least, rate, mss = seen["ack"]
    assert 0.5 < least <= rtt < 3 and 1e5 < rate < 3e6 and mss > 500
    assert seen["established"] is None or seen["established"] > 0.5


def test_an_exception_ends_the_run_with_its_traceback() -> None:
    class Broken(Reno):
        def on_ack(self, ack: bentpipe.Ack, window: bentpipe.Window) -> None:
            if ack.now_s > 2:
                raise LookupError("the table is empty")

    bentpipe.register("mine", Broken)
    with pytest.raises(
        bentpipe.RunError, match="`mine` failed at 2.* in `on_ack`.*empty"
    ) as caught:
        times("mine")
    cause = caught.value.__cause__
    assert isinstance(cause, LookupError) and cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_name == "on_ack"
    with pytest.raises(bentpipe.RunError, match="the table is empty"):
        bentpipe.compare(rate="2 Mbit/s", size="300 kB", runs=4, transport="mine")


@pytest.mark.parametrize("value", [float("nan"), 0.0, -3.0, "many"])
def test_a_window_that_makes_no_sense_is_refused(value: Any) -> None:
    class Wrong(Reno):
        def on_ack(self, ack: bentpipe.Ack, window: bentpipe.Window) -> None:
            window.cwnd = value

    bentpipe.register("mine", Wrong)
    with pytest.raises(bentpipe.RunError) as caught:
        times("mine")
    assert isinstance(caught.value.__cause__, (ValueError, TypeError))


def test_what_init_raises_is_the_error_of_the_run() -> None:
    class Unready(Reno):
        def __init__(self) -> None:
            raise OSError("no model file")

    bentpipe.register("mine", Unready)
    with pytest.raises(bentpipe.Error, match="no model file"):
        times("mine")


def test_names_and_classes_are_checked() -> None:
    with pytest.raises(bentpipe.OptionError, match="cubic"):
        bentpipe.register("cubic", Reno)
    with pytest.raises(bentpipe.OptionError, match="name"):
        bentpipe.register("two words", Reno)
    with pytest.raises(bentpipe.OptionError, match="has no method `on_ack"):
        bentpipe.register("mine", dict)
    with pytest.raises(bentpipe.ScenarioError, match="mine"):
        bentpipe.Scenario(GEO).check()


def test_a_paced_sender_keeps_the_queue_empty() -> None:
    class Paced(Reno):
        def on_ack(self, ack: bentpipe.Ack, window: bentpipe.Window) -> None:
            window.cwnd = 400.0
            window.pacing_rate_bps = 1.5e6

    bentpipe.register("mine", Paced)
    outcome = bentpipe.run(bentpipe.Scenario(GEO).set("link.satellite.channel", "perfect"))
    assert outcome.links["queue_drops"][0] == 0
    assert outcome.flows["transfer_time_s"][0] < 10


def test_it_is_fast_enough() -> None:
    calls = 0

    class Fixed:
        def on_ack(self, ack: bentpipe.Ack, window: bentpipe.Window) -> None:
            nonlocal calls
            calls += 1
            window.cwnd = 3000.0 if ack.rtt_s else 2000.0

    bentpipe.register("mine", Fixed)
    network = bentpipe.Scenario(GEO).set("link.satellite.rate", "1 Gbit/s")
    network = network.set("link.satellite.channel", "perfect").set(
        "flow.download.application.size", "300 MB"
    )
    # Of this process: the machine may be busy.
    began = time.process_time()
    bentpipe.run(network)
    rate = calls / (time.process_time() - began)
    print(f"{calls} calls, {rate:.0f} a second")
    # The release build makes some times as many.
    assert calls > 50_000 and rate > 40_000


def test_threads_of_the_program_go_on_meanwhile() -> None:
    bentpipe.register("mine", Reno)
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.wait(0.005):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    bentpipe.compare(rate="10 Mbit/s", size="10 MB", runs=4, transport=["cubic", "mine"])
    stop.set()
    thread.join()
    assert ticks > 3


def test_a_control_in_c_comes_along_by_its_file(tmp_path: Path) -> None:
    made = [sys.executable, "-m", "bentpipe", "cc", "new", "of_c", "--c"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    answer = bentpipe.compare(
        cc=tmp_path / "of_c.c", transport=["cubic", "of_c"], size="300 kB", runs=2
    )
    assert "of_c" in answer.rows["transport"]
    # It stays registered, and changes nothing for studies that do not use it.
    with pytest.raises(bentpipe.Error, match="missing.c"):
        bentpipe.compare(cc=tmp_path / "missing.c", transport="cubic")
