"""What the pages show of Python holds. `BENTPIPE_GUIDE=write` writes the outputs again."""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

import pytest
from conftest import ROOT

import bentpipe

FENCE = re.compile(r"(```pycon\n)(.*?)(```)", re.DOTALL)
PAGES = ["docs/guide/9-python.md"]


class Recorder(doctest.OutputChecker):
    """Remembers what was printed in the place of what is shown."""

    def __init__(self) -> None:
        self.printed: list[str] = []

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        self.printed.append(got)
        return super().check_output(want, got, optionflags)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_is_printed(name: str) -> None:
    path = ROOT / name
    text = path.read_text()
    scope: dict[str, object] = {}
    failed: list[str] = []
    writes = os.environ.get("BENTPIPE_GUIDE") == "write"

    def hold(match: re.Match[str]) -> str:
        body = match[2]
        test = doctest.DocTestParser().get_doctest(body, scope, name, name, 0)
        for example in test.examples:
            checker = Recorder()
            one = doctest.DocTest([example], scope, name, name, 0, "")
            doctest.DocTestRunner(checker, verbose=False).run(
                one, out=failed.append, clear_globs=False
            )
            # Runs keep names in their own copy.
            scope.update(one.globs)
            if writes and example.want and "Traceback" not in example.want and checker.printed:
                body = body.replace(example.want, checker.printed[0], 1)
        return f"{match[1]}{body}{match[3]}"

    written = FENCE.sub(hold, text)
    bentpipe.unregister("steady")
    if writes:
        path.write_text(written)
    else:
        assert not failed, "".join(failed)


def test_the_readme_runs(tmp_path: Path) -> None:
    text = (ROOT / "python" / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    # What needs files of the reader's is not run.
    scope: dict[str, object] = {}
    for block in blocks[:2]:
        exec(block.replace("50 Mbit/s", "5 Mbit/s").replace("users=20", "users=2"), scope)
    assert len(blocks) == 3
    bentpipe.unregister("steady")
