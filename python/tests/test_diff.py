"""`diff` finds what the command does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import bentpipe

Command = Callable[..., "subprocess.CompletedProcess[str]"]
SMALL = {"rate": "2 Mbit/s", "rtt": "511 ms", "size": "100 kB", "runs": 2, "transport": "cubic"}


@pytest.fixture
def geo() -> bentpipe.Scenario:
    return bentpipe.Scenario.template()


def test_scenarios_and_their_files(
    geo: bentpipe.Scenario, tmp_path: Path, command: Command
) -> None:
    assert bentpipe.diff(geo, geo).is_same
    faster = geo.set("seed", 99)
    found = bentpipe.diff(geo, faster)
    assert found.kind == "scenario" and not found.is_same
    assert found.settings.to_dict()["path"] == ["seed"]
    assert found.settings["after"] == ["99"] and len(found.results) == 0
    (tmp_path / "a.toml").write_text(geo.to_toml())
    (tmp_path / "b.toml").write_text(faster.to_toml())
    of_files = bentpipe.diff(tmp_path / "a.toml", "b.toml")
    assert of_files.to_dict() == found.to_dict()
    printed = command("diff", str(tmp_path / "a.toml"), "b.toml")
    assert printed.returncode == 1 and printed.stdout.rstrip() == repr(of_files)
    assert json.loads(command("diff", "a.toml", "b.toml", "--json").stdout) == found.to_dict()


def test_outcomes_and_the_folder_of_a_run(
    geo: bentpipe.Scenario, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "a.toml").write_text(geo.to_toml())
    command("run", "a.toml", "--out", "one")
    outcome = bentpipe.run(geo)
    assert bentpipe.diff("one", outcome).is_same
    found = bentpipe.diff(outcome, bentpipe.run(geo, seed=99))
    assert found.kind == "outcome" and found.settings["path"] == ["seed"]
    assert repr(found).startswith("A: the first")


def test_answers(tmp_path: Path) -> None:
    one = bentpipe.compare(loss="0", **SMALL)  # type: ignore[arg-type]
    other = bentpipe.compare(loss="3%", **SMALL)  # type: ignore[arg-type]
    found = bentpipe.diff(one, other)
    assert "link.packet_error_rate" in found.settings["path"]
    assert "time_s" in found.results["metric"]
    sizes = [abs(share) for share in found.results["change_share"] if share is not None]
    assert sizes, "numbers changed"
    (tmp_path / "one.json").write_text(json.dumps(one.to_dict()))
    assert bentpipe.diff("one.json", one).is_same


def test_what_cannot_be_compared(geo: bentpipe.Scenario, tmp_path: Path) -> None:
    outcome = bentpipe.run(geo)
    with pytest.raises(bentpipe.OptionError, match="an outcome cannot be compared with a scenario"):
        bentpipe.diff(outcome, geo)
    with pytest.raises(bentpipe.InputError, match="none.json"):
        bentpipe.diff("none.json", geo)
    with pytest.raises(bentpipe.InputError, match="has no outcome.json"):
        bentpipe.diff(tmp_path, geo)
    (tmp_path / "list.json").write_text("{}")
    with pytest.raises(bentpipe.InputError, match="neither"):
        bentpipe.diff("list.json", geo)
    with pytest.raises(bentpipe.OptionError, match="not dict"):
        bentpipe.diff({}, geo)  # type: ignore[arg-type]
