"""A link that is fitted to a capture of the simulator."""

import json
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT

import bentpipe


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    pcap = tmp_path_factory.mktemp("capture") / "case.pcapng"
    # Of 8 Mbit/s, 120 ms and 100 kB: the case of the command's tests.
    case = ROOT / "crates/cli/tests/cli/fit.toml"
    command = [sys.executable, "-m", "bentpipe", "run", str(case), "--pcap", str(pcap)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return pcap


def test_a_fit_finds_the_link(capture: pathlib.Path) -> None:
    fit = bentpipe.fit(capture)
    assert fit.rate_bps.low <= 8e6 <= (fit.rate_bps.high or 0)
    assert abs(fit.rtt_s.value / 0.12 - 1) < 0.02
    assert fit.loss_share.value == 0.0
    assert abs(fit.queue_bytes.value / 100_000 - 1) < 0.05
    assert fit.control == "reno"
    assert next(iter(fit.scores)) == "reno"
    assert "reno" in str(fit)
    assert fit.to_dict() == json.loads(json.dumps(fit.to_dict()))
    assert bentpipe.fit(capture, flow=1).rate_bps == fit.rate_bps


def test_its_scenario_runs(capture: pathlib.Path) -> None:
    outcome = bentpipe.run(bentpipe.Scenario(bentpipe.fit(capture).scenario))
    assert outcome.flows["transfer_time_s"][0] is not None


def test_what_is_no_capture_is_refused_with_the_place(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "text.pcap"
    path.write_text("this is no capture")
    with pytest.raises(bentpipe.InputError, match="offset 0: this is no capture"):
        bentpipe.fit(path)


def test_a_connection_that_is_not_there_is_refused(capture: pathlib.Path) -> None:
    with pytest.raises(bentpipe.InputError, match="expected 1 to 1"):
        bentpipe.fit(capture, flow=7)
