"""`brain run` as a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = str(Path(__file__).parents[2])
HIDDEN = ("BRAIN_STORE", "BRAIN_EMBEDDER", "OPENAI_API_KEY", "OPENAI_BASE_URL", "BASE_OPENAI_MODEL", "BRAIN_LIMITS")
"""Variables of whoever runs the tests that would change what a command does."""


def shell(**more):
    """The environment of a command."""
    own = {key: value for key, value in os.environ.items() if key not in HIDDEN}
    return own | {"PYTHONPATH": SOURCE, "COLUMNS": "100", "TERM": "dumb", "PYTHONWARNINGS": "error"} | more


def started(*arguments, env=None, **options):
    """The running command."""
    command = [sys.executable, "-m", "brain", "run", *map(str, arguments)]
    kept = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"encoding": "utf-8"}
    return subprocess.Popen(command, env=env or shell(), **(kept | options))


def finished(*arguments, stdin="", env=None):
    """Exit status, stdout and stderr of the command."""
    process = started(*arguments, env=env)
    out, err = process.communicate(stdin, timeout=120)
    return process.returncode, out, err


def brain_run(*arguments, code=0, **options):
    """The document that the command prints, and nothing beside it."""
    status, out, err = finished(*arguments, **options)
    assert status == code, (status, err, out)
    return json.loads(out)
