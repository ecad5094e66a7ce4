"""Shared by all tests: a folder of one's own, and the command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

#: The checkout.
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command that the package brings along."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bentpipe", *arguments],
            capture_output=True,
            text=True,
            check=False,
            **options,  # type: ignore[call-overload]
        )

    return run


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documentation and tests write files where they are."""
    monkeypatch.chdir(tmp_path)
    # Text is as wide as without a terminal.
    monkeypatch.setenv("COLUMNS", "100")


def needs(module: str) -> pytest.MarkDecorator:
    """Skips a test whose library is not installed, unless everything must be there."""
    from importlib.util import find_spec

    missing = find_spec(module) is None and os.environ.get("BENTPIPE_REQUIRE") != "all"
    return pytest.mark.skipif(missing, reason=f"{module} is not installed")


def on_path(program: str) -> bool:
    return shutil.which(program) is not None
