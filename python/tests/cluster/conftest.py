"""What the tests of clusters share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Iterator, NoReturn

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from slurm import Slurm, Unavailable  # noqa: E402


def skip(wants: str) -> NoReturn:
    """Skips a test for want of something, or fails it where everything is required."""
    if os.environ.get("BENTPIPE_REQUIRE") == "all":
        pytest.fail(f"needs {wants}, and BENTPIPE_REQUIRE is `all`")
    pytest.skip(f"needs {wants}")


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Slurm]:
    """A Slurm of two nodes with a CPU each."""
    try:
        with Slurm(tmp_path / "slurm", nodes=2, cpus=1) as cluster:
            yield cluster
    except Unavailable as error:
        skip(f"a private Slurm: {error}")
