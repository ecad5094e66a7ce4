"""Tasks of a study, in the form that is sent to workers."""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import tempfile
import threading
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.util import Finalize
from pathlib import Path

from ._bentpipe import Campaign
from ._controls import register, registered
from ._errors import OptionError


@dataclass(frozen=True)
class Package:
    """A study with the files that it consists of, for workers that have
    neither the files nor the folder in which they are.

    Attributes
    ----------
    study
        The study's file, relative to the folder of all.
    files
        Name and compressed content of each file.
    runs
        Replications of each cell in place of the study's own number.
    controls
        The Python congestion controls, serialised by `cloudpickle`.
    """

    study: str
    files: tuple[tuple[str, bytes], ...] = field(repr=False)
    runs: int | None = None
    controls: bytes = field(default=b"", repr=False)

    @staticmethod
    def of(
        study: Path, text: str | None, inputs: Iterable[Path], runs: int | None = None
    ) -> Package:
        """Reads the files of a study.

        Parameters
        ----------
        study
            Its file.
        text
            Content of the file, if that differs from the disk.
        inputs
            All files.
        runs
            Replications of each cell in place of the study's own number.
        """
        study = Path(os.path.abspath(study))
        paths = sorted({Path(os.path.abspath(path)) for path in inputs} | {study})
        folder = Path(os.path.commonpath([path.parent for path in paths]))
        contents = {path: path.read_bytes() for path in paths if path != study or text is None}
        if text is not None:
            contents[study] = text.encode()
        files = tuple(
            (path.relative_to(folder).as_posix(), zlib.compress(contents[path])) for path in paths
        )
        return Package(study.relative_to(folder).as_posix(), files, runs, _controls())

    @functools.cached_property
    def digest(self) -> str:
        """Identifier of the package."""
        digest = hashlib.sha256(f"{self.study} {self.runs}".encode())
        for name, content in self.files:
            digest.update(f"\0{name}\0{len(content)}\0".encode())
            digest.update(content)
        digest.update(self.controls)
        return digest.hexdigest()

    def unpack(self, folder: Path) -> Path:
        """Writes the files and returns the path of the study."""
        for name, content in self.files:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(zlib.decompress(content))
        return folder / self.study


def _controls() -> bytes:
    """The classes that are registered here, for other processes."""
    found = [(each.name, each.cls, each.fingerprint) for each in registered()]
    if not found:
        return b""
    try:
        import cloudpickle
    except ImportError:
        raise OptionError(
            "workers need the congestion controls that are Python classes, and to send them needs "
            "cloudpickle: pip install cloudpickle"
        ) from None
    dumped: bytes = cloudpickle.dumps(found)
    return dumped


def _register(controls: bytes) -> None:
    """Registers the controls that `_controls` of another process has dumped."""
    if not controls:
        return
    here = {each.name: each.fingerprint for each in registered()}
    found: list[tuple[str, type, str]] = pickle.loads(controls)
    for name, cls, fingerprint in found:
        # In a thread of the process that has them they are here.
        if here.get(name) != fingerprint:
            register(name, cls, fingerprint=fingerprint)


#: The campaigns of this process with the folders of their files, by digest.
_campaigns: dict[str, tuple[Campaign, tempfile.TemporaryDirectory[str]]] = {}
_lock = threading.Lock()


def run_packed(package: Package, index: int, of: int) -> bytes:
    """Run a task on this process, on one core.

    Parameters
    ----------
    package
        The study.
    index
        The task, from 1.
    of
        Number of tasks of the study.

    Returns
    -------
    bytes
        The results, for the collector.
    """
    return _campaign(package).run_task(index, of, 1)


def stop(package: Package) -> None:
    """Stop the tasks of a study that threads of this process run."""
    with _lock:
        kept = _campaigns.pop(package.digest, None)
    if kept is not None:
        kept[0].stop()


def _campaign(package: Package) -> Campaign:
    with _lock:
        kept = _campaigns.get(package.digest)
        if kept is None:
            _register(package.controls)
            folder = tempfile.TemporaryDirectory(prefix="bentpipe-")
            # The processes of a pool end without the other ways to clean up.
            Finalize(None, folder.cleanup, exitpriority=10)
            kept = Campaign(package.unpack(Path(folder.name)), None, package.runs), folder
            _campaigns[package.digest] = kept
        return kept[0]
