"""The command `bentpipe`."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command with the arguments of the process.

    Returns
    -------
    int
        The exit status: 0 done, 1 ran but a check changed for the worse, 2 could not run.
    """
    import json
    import os
    import shlex
    import signal

    from . import _bentpipe, _papers

    # Python's handler would wait for the command to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What scripts for Slurm call the command by: its own file is Python's interpreter.
    os.environ["BENTPIPE_COMMAND"] = f"{shlex.quote(sys.executable)} -m bentpipe"
    os.environ["BENTPIPE_PROGRAM"] = json.dumps([sys.executable, "-m", "bentpipe"])
    _papers.announce()
    status = _bentpipe.main(["bentpipe", *sys.argv[1:]])
    if status is None:
        print("error: this build of the package has no command", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
