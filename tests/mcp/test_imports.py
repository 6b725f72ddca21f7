"""What does the server cost those who do not use it, and what are those told who lack its package?"""

import subprocess
import sys

import pytest

from tests.mcp.sessions import environment


def run(folder, program):
    return subprocess.run(
        [sys.executable, "-c", program], env=environment(folder), capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("module", ["brain", "brain.cli.app", "brain.mcp.page", "brain.mcp.fence", "brain.mcp.budget"])
def test_the_protocol_is_loaded_by_the_server_alone(tmp_path, module):
    heavy = '{"mcp", "mcp_types", "anyio", "starlette", "uvicorn", "opentelemetry"}'
    done = run(
        tmp_path, f"import sys, {module}; print(sorted({heavy} & {{name.split('.')[0] for name in sys.modules}}))"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_without_the_package_the_command_says_what_to_install(tmp_path):
    program = "import sys; sys.modules['mcp'] = None; sys.argv = ['brain', 'mcp']; from brain.cli import main; main()"
    done = run(tmp_path, program)
    assert done.returncode == 3
    assert 'pip install "brain[mcp]"' in done.stderr
    assert len(done.stderr.splitlines()) == 1
