"""What the tests of clusters share: a study, and ways to look at results."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NoReturn

import pytest

SCENARIO = """\
description = "A download over a satellite link with errors"
duration = "3000 s"

[node.server]
[node.client]

[link.satellite]
between = ["server", "client"]
rate = "10 Mbit/s"
round_trip_delay = "600 ms"
queue = "1 BDP"
channel = { kind = "uniform", packet_error_rate = "0.1%" }

[flow.download]
from = "server"
to = "client"
transport = "cubic"
application = { kind = "transfer", size = "20 MB" }
"""

STUDY = """\
name = "sweep"
title = "Downloads over lossy links"
scenario = "link.toml"
replications = 100

[[axis]]
name = "loss"
path = "link.satellite.channel.packet_error_rate"
values = ["0%", "0.01%", "0.1%", "1%", "2%"]

[[axis]]
name = "transport"
path = "flow.download.transport"
values = ["cubic", "bbr", "hybla", "newreno"]

[[table]]
slug = "times"
title = "Time of a download"
rows = ["loss"]
columns = ["transport"]
metric = "transfer_time"
unit = "s"

[[figure]]
slug = "by-loss"
title = "Time of a download"
kind = "line"
x = "loss"
series = "transport"
y = "transfer_time"
"""


def skip(wants: str) -> NoReturn:
    """Skips a test for want of something, or fails it where everything is required."""
    if os.environ.get("BENTPIPE_REQUIRE") == "all":
        pytest.fail(f"needs {wants}, and BENTPIPE_REQUIRE is `all`")
    pytest.skip(f"needs {wants}")


def files(folder: Path) -> dict[str, str]:
    """A hash of each file of a study's results; pictures, which only the command draws,
    journals and scripts are no results."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".parquet", ".csv", ".json")
        and not {"shards", "slurm"} & set(path.parts[:-1])
    }
