"""`compare` answers as the command does."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import bentpipe

SMALL = {"rate": "2 Mbit/s", "rtt": "511 ms", "size": "300 kB", "runs": 2}
COMMAND = ["compare", "--rate=2 Mbit/s", "--rtt=511 ms", "--size=300 kB", "--runs=2"]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def answer() -> bentpipe.Answer:
    return bentpipe.compare(transport=["cubic", "cubic + IW 32"], **SMALL)


def test_the_answer_is_that_of_the_command(answer: bentpipe.Answer, command: Command) -> None:
    chosen = "--transport=cubic,cubic + IW 32"
    assert json.loads(command(*COMMAND, chosen, "--json").stdout) == answer.to_dict()
    assert command(*COMMAND, chosen).stdout.rstrip() == repr(answer)


def test_what_is_recommended(answer: bentpipe.Answer) -> None:
    assert answer.transport == "cubic + IW 32"
    assert answer.pep == "none"
    assert answer.baseline == "cubic"
    assert "cubic + IW 32" in answer.headline and answer.headline in answer.verdict


def test_the_table_has_units_in_its_names(answer: bentpipe.Answer) -> None:
    rows = answer.rows
    assert rows["transport"] == ["cubic + IW 32", "cubic"]
    assert rows["recommended"] == [True, False]
    first = answer.to_dict()["rows"][0]["cells"][0]
    assert rows["time_s"][0] == first["time_s"]["mean"]
    assert rows["goodput_bps"][0] == first["goodput_bps"]
    assert rows["size_bytes"] == [300_000, 300_000]
    with pytest.raises(KeyError, match="there is no column 'time'"):
        rows["time"]
    assert len(answer.runs) == 4
    assert [row["seed"] for row in answer.runs] == [1, 2, 1, 2]


def test_pictures_and_pages(answer: bentpipe.Answer, tmp_path: Path) -> None:
    drawn = answer.plot()
    assert drawn is not None and drawn.svg.startswith("<svg")
    assert answer.plot(tmp_path / "a.png") is not None
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    curves = answer.curves(tmp_path / "c.pdf")
    assert curves is not None and (tmp_path / "c.pdf").read_bytes().startswith(b"%PDF")
    answer.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert answer.command.split()[0] == "bentpipe" and "rate=2 Mbit/s" in page
    html = answer._repr_html_()
    assert "<svg" in html and "cubic + IW 32" in html
    with pytest.raises(bentpipe.OptionError, match="must end in .svg, .png or .pdf"):
        answer.plot("figure.txt")


def test_the_command_in_the_answer_repeats_it(answer: bentpipe.Answer, command: Command) -> None:
    import shlex

    words = shlex.split(answer.command)[1:]
    assert command(*words).stdout.rstrip() == repr(answer)


def test_the_scenario_of_an_answer_can_be_run(answer: bentpipe.Answer) -> None:
    outcome = bentpipe.run(answer.scenario("cubic"), seed=1)
    alone = [row["time_s"] for row in answer.runs if row["transport"] == "cubic"]
    assert outcome.flows["transfer_time_s"][0] == pytest.approx(alone[0])
    with pytest.raises(bentpipe.OptionError, match="did you mean `cubic`"):
        answer.scenario("cubik")


def test_why_is_that_of_the_command(answer: bentpipe.Answer, command: Command) -> None:
    chosen = "--transport=cubic,cubic + IW 32"
    why = answer.why()
    assert why.rows == ["cubic", "cubic + IW 32"]
    printed = command(*COMMAND, chosen, "--why", "--json").stdout
    assert json.loads(printed)["why"] == why.to_dict()
    assert command(*COMMAND, chosen, "--why").stdout.rstrip().endswith(str(why))
    assert why.difference and why.difference[0] in " ".join(str(why).split())
    other_way = answer.why("cubic", beside="cubic + IW 32")
    assert other_way.rows == ["cubic + IW 32", "cubic"]
    assert answer.why("cubic").rows == ["cubic"] and answer.why("cubic").difference == []
    with pytest.raises(bentpipe.OptionError, match="did you mean `cubic`"):
        answer.why("cubik")
    with pytest.raises(bentpipe.OptionError, match="give `row` as well"):
        answer.why(beside="cubic")


def test_the_scenario_of_a_row_has_its_outcome(answer: bentpipe.Answer, command: Command) -> None:
    scenario = answer.scenario_of("cubic + IW 32")
    rows = answer.runs
    times = sorted(row["time_s"] for row in rows if row["transport"] == "cubic + IW 32")
    outcome = bentpipe.run(scenario)
    assert outcome.flows["transfer_time_s"][0] in times
    chosen = "--transport=cubic,cubic + IW 32"
    written = command(*COMMAND, chosen, "--scenario-of", "cubic + IW 32").stdout
    assert bentpipe.Scenario(written).hash == scenario.hash
    assert bentpipe.Scenario(scenario.to_toml()).hash == scenario.hash
    # Unlike that of `scenario`, its values can be set.
    (link, *_) = scenario.links
    assert scenario.set(f"link.{link}.rate", "4 Mbit/s").hash != scenario.hash
    with pytest.raises(bentpipe.OptionError, match="did you mean `cubic`"):
        answer.scenario_of("cubik")


def test_only_the_command_measures_real_hosts() -> None:
    with pytest.raises(bentpipe.OptionError, match="bentpipe compare --on linux"):
        bentpipe.compare(on="linux")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"user": 3}, "there is no option `user`; did you mean `users`?"),
        ({"rate": "50"}, "'50' for 'rate'"),
        ({"rate": 50e6}, "for 'rate'"),
        ({"transport": "cubik"}, "did you mean `cubic`?"),
        ({"pep": "splt"}, "did you mean `split`?"),
        ({"users": 0}, "users"),
        ({"users": 3, "terminals": 8}, "users must be at least 8, one at each of the 8 terminals"),
        ({"orbit": "iridium"}, "from_ must be set for orbit, and so must to"),
        ({"rtt": "1 s", "orbit": "geo", "from_": "Oslo", "to": "Rome"}, "rtt is not for an orbit"),
        ({"threads": 0}, "'0' for 'threads'"),
        ({"over": "1 h"}, "over needs an orbit or a trace"),
        ({"trace": "missing.trace"}, "missing.trace"),
        ({"return_rate": object()}, "`return_rate` must be a text"),
    ],
)
def test_mistakes_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(bentpipe.Error) as caught:
        bentpipe.compare(**options)  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert "--" not in str(caught.value), "it speaks of keywords"


def test_terminals_are_one_unless_they_are_named(command: Command) -> None:
    chosen = {"users": 4, "size": "100 kB", "runs": 1, "transport": "cubic"}
    several = bentpipe.compare(terminals=2, **chosen)  # type: ignore[arg-type]
    assert several.to_dict()["terminals"] == 2
    assert "link.return-2" in several.scenario("cubic").to_toml()
    words = ["compare", "--users=4", "--size=100 kB", "--runs=1", "--transport=cubic", "--json"]
    assert json.loads(command(*words, "--terminals=2").stdout) == several.to_dict()
    one = bentpipe.compare(terminals=1, **chosen)  # type: ignore[arg-type]
    assert one.to_dict() == bentpipe.compare(**chosen).to_dict()  # type: ignore[arg-type]


def test_the_signature_has_the_options_of_the_command() -> None:
    parameters = inspect.signature(bentpipe.compare).parameters
    assert {"rate", "from_", "transport", "threads", "cc", "progress"} <= set(parameters)


def test_a_place_may_be_a_pair_of_degrees() -> None:
    given = {"orbit": "geo", "size": "100 kB", "runs": 1, "transport": "cubic"}
    pair = bentpipe.compare(from_=(52.5, 13.4), to="Oslo", **given)  # type: ignore[arg-type]
    text = bentpipe.compare(from_="52.5,13.4", to="Oslo", **given)  # type: ignore[arg-type]
    assert pair.to_dict() == text.to_dict()


def test_the_import_is_light() -> None:
    code = (
        "import sys, bentpipe; print([m for m in ('numpy', 'pandas', 'tqdm') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_numbers_of_users_stand_side_by_side(command: Command) -> None:
    chosen = {"transport": ["cubic", "cubic + IW 32"], **SMALL}
    found = bentpipe.compare_by_users([4, 1], **chosen)
    assert list(found.answers) == [1, 4]
    assert found[1].to_dict() == bentpipe.compare(users=1, **chosen).to_dict()
    assert found.rows["users"] == [1, 1, 4, 4]
    words = [*COMMAND, "--transport=cubic,cubic + IW 32", "--users=1,4"]
    assert command(*words).stdout.rstrip() == repr(found)
    assert json.loads(command(*words, "--json").stdout)["by_users"][1]["users"] == 4
    with pytest.raises(bentpipe.OptionError, match="an answer takes one"):
        bentpipe.compare(users=[1, 4], **chosen)
    with pytest.raises(bentpipe.OptionError, match="whole numbers"):
        bentpipe.compare_by_users(["many"], **chosen)


def test_the_table_as_a_file_is_that_of_the_command(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    chosen = [*COMMAND, "--transport=cubic,bbr", "--queue=1 BDP,codel"]
    printed = command(*chosen, "--csv=-").stdout
    command(*chosen, f"--csv={file}")
    assert file.read_text() == printed
    lines = printed.splitlines()
    assert lines[0].startswith("users,pep,transport,queue,") and len(lines) == 5
    assert any("bbr with codel,codel" in line for line in lines)


def test_a_queue_is_recommended_with_its_commands() -> None:
    found = bentpipe.compare(queue=["1 BDP", "fq-codel"], transport="cubic", **SMALL)
    assert found.queue in ("1 BDP", "fq-codel")
    rows = found.to_dict()["rows"]
    lines = {row["queue"]: row["switch_on_queue"]["commands"] for row in rows}
    assert lines["1 BDP"] == [] and "fq_codel limit" in lines["fq-codel"][-1]
