"""A study, its results on one machine, and clusters to run it on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from common import SCENARIO, STUDY, files, skip  # noqa: E402
from slurm import Slurm, Unavailable  # noqa: E402
from sshd import sshd  # noqa: E402


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of 2,000 runs."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "link.toml").write_text(SCENARIO)
    path = folder / "sweep.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="session")
def local(study: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files that a run on this machine writes."""
    bentpipe = pytest.importorskip("bentpipe")
    out = tmp_path_factory.mktemp("local")
    bentpipe.Study(study).run(out=out)
    found = files(out)
    assert any(name.endswith("results.parquet") for name in found)
    return found


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slurm]:
    """A Slurm of two nodes with two CPUs each, for this process, too."""
    try:
        with Slurm(tmp_path / "slurm", nodes=2, cpus=2) as cluster:
            monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
            yield cluster
    except Unavailable as error:
        skip(f"a private Slurm: {error}")


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[dict[str, object]]:
    """How asyncssh connects to an SSH server of this machine."""
    try:
        with sshd(tmp_path / "ssh") as connection:
            yield connection
    except Unavailable as error:
        skip(f"an SSH server: {error}")
