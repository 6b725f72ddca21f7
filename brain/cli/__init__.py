"""What can be done from a shell? `brain`: learn, recall, run, serve, look around, exchange, keep in order.

Data goes to stdout, everything else to stderr. With `--json` stdout is one JSON document,
or nothing at an error. Exit status:

    0    done
    1    the answer is no: the demo is wrong, a skill is unknown, an agent of a workflow failed, a server does not run
    2    wrong usage or input; of what was refused nothing was written
    3    the store, the embedder or the local server failed
    130  ended by Ctrl-C
    141  whoever read the output went away, as `| head` does
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """The command `brain`."""
    try:
        from brain.cli.app import app

        app(prog_name="brain")
    except KeyboardInterrupt:
        sys.exit(130)
