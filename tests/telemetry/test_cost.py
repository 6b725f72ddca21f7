"""What does telemetry cost where nobody set it up? Nothing is imported, and recall takes as long as without it."""

import subprocess
import sys
import time
from contextlib import nullcontext

from brain import SyncBrain
from brain.engine import telemetry
from tests.mcp.sessions import ROOT, environment
from tests.telemetry.test_spans_and_metrics import CONTEXT, LESSON, TASK

PROGRAM = """
import sys
from brain import SyncBrain
with SyncBrain.open("sqlite://:memory:") as brain:
    skill = brain.learn({"steps": ["look", "think", "act"]}, {"task": "solve it"}, {"success": True})
    brain.recall({"task": "solve it"})
    brain.feedback(skill.id, {"task": "solve it"}, True)
    brain.cleanup_expired_skills()
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
WITH_SDK = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=lambda span: span.name + chr(10))))
trace.set_tracer_provider(provider)
"""
PAIRS = 400


def run(tmp_path, program, **more):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment(tmp_path, **more),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_imported_where_nobody_set_it_up(tmp_path):
    assert run(tmp_path, PROGRAM).strip() == "[]"


def test_it_speaks_where_a_program_set_it_up(tmp_path):
    told = run(tmp_path, WITH_SDK + PROGRAM).splitlines()
    assert told[:3] == ["upsert_memory", "search_memory", "delete_memory"]
    assert "update_memory" in told


def test_without_the_package_everything_works(tmp_path):
    hidden = "import sys\nsys.modules['opentelemetry'] = None\n"
    assert "opentelemetry.trace" not in run(tmp_path, hidden + PROGRAM)


def test_recall_takes_as_long_as_without_it(tmp_path, monkeypatch):
    """One recall with and one without, in changing order, so that what else the machine does hits both alike."""
    with SyncBrain.open(f"sqlite:///{tmp_path / 'skills.db'}", cache=False) as brain:
        for number in range(50):
            brain.learn(LESSON[0], {**CONTEXT, "task": f"{CONTEXT['task']} in case {number}"}, {"success": True})
        silent = telemetry.Telemetry.operation
        seconds = {True: [], False: []}
        for turn in range(PAIRS):
            for present in (turn % 2 == 0, turn % 2 == 1):
                used = silent if present else lambda self, verb, context=None: nullcontext(lambda result: None)
                monkeypatch.setattr(telemetry.Telemetry, "operation", used)
                begun = time.perf_counter()
                brain.recall(TASK)
                seconds[present].append(time.perf_counter() - begun)
    undisturbed = {present: sorted(found)[PAIRS // 10] for present, found in seconds.items()}
    ratio = undisturbed[True] / undisturbed[False]
    print(f"recall with silent telemetry: {ratio:.3f} of the time without")
    assert ratio < 1.1
