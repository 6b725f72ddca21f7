"""How is a workflow run from a shell? `brain run`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brain.cli.ending import FAILED, NO, WRONG_INPUT
from brain.cli.files import STDIN
from brain.cli.layout import one_line, visible
from brain.cli.opening import mention_unused_vectors, opened
from brain.cli.options import EMBEDDER_VARIABLE, EmbedderName, Location, Namespace, Quiet
from brain.cli.output import Output, complain, new_console
from brain.config import STORE_VARIABLE
from brain.errors import InputError, WorkflowError

if TYPE_CHECKING:
    from rich.console import Console

    from brain.engine.sync import SyncBrain
    from brain.workflow.plan import Plan
    from brain.workflow.run import AgentResult, RunResult

_LOOKS_LIKE_A_FILE = (".json", ".jsonl", ".txt", ".md", ".yml", ".yaml")
_MOST_BYTES = 10_000_000  # more than the input may have, so that it is refused there
_SIGNS = {"ok": ("✓", "green"), "failed": ("✗", "bold red"), "skipped": ("–", "yellow"), "not_run": ("·", "dim")}


WorkflowFile = Annotated[
    str, typer.Argument(metavar="WORKFLOW.yml", help="The workflow, a YAML file.", show_default=False)
]
Input = Annotated[
    str | None,
    typer.Argument(
        metavar="INPUT",
        help="What to run it on: text, a file, or - for standard input. Text that is JSON has fields besides.",
        show_default=False,
    ),
]
JsonInput = Annotated[
    bool, typer.Option("--json-input", metavar="", help="INPUT must be JSON; templates see its value, not its text.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", metavar="", help="Check the workflow, print the plan, and run nothing.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Put over what the file says: model=NAME for all agents, AGENT.model=NAME for one. May be repeated.",
    ),
]
EnvFile = Annotated[
    str | None,
    typer.Option("--env-file", metavar="FILE", help="Variables such as OPENAI_API_KEY; those that are set hold."),
]
TraceFolder = Annotated[
    str | None,
    typer.Option("--trace", metavar="DIR", help="Write what was done to a file there, which brain learn can read."),
]


def run(
    workflow: WorkflowFile,
    given: Input = None,
    json_input: JsonInput = False,
    dry_run: DryRun = False,
    settings: Overrides = None,
    env_file: EnvFile = None,
    trace: TraceFolder = None,
    store: Location = None,
    namespace: Namespace = "default",
    embedder: EmbedderName = None,
    quiet: Quiet = False,
) -> None:
    """Run a YAML workflow of brain and LLM agents, and print what became of it as one JSON document.

    The exit status is 0 if all went well, 1 if an agent failed, 2 if the workflow or the input is wrong.
    """
    output = Output(as_json=True, quiet=quiet)
    if env_file is not None:
        _set_variables(env_file)
        store, embedder = store or os.environ.get(STORE_VARIABLE), embedder or os.environ.get(EMBEDDER_VARIABLE)
    plan = _checked(workflow, settings or [], output)
    if dry_run:
        output.data(_plan_data(plan, workflow))
        return
    value = _input(given, json_input, plan)
    _make_folder(trace)
    result, location = _ran(plan, value, (store, namespace, embedder), output)
    path = _written(plan, result, trace)
    output.data(_result_data(result, workflow, location, path))
    if result.status == "interrupted":
        raise KeyboardInterrupt
    if result.store_error is not None:
        complain(str(result.store_error), "error")
        raise typer.Exit(FAILED)
    if result.status == "failed":
        raise typer.Exit(NO)


def _set_variables(path: str) -> None:
    from brain.workflow.environment import read_variables

    for name, value in read_variables(path).items():
        os.environ.setdefault(name, value)


def _checked(path: str, settings: list[str], output: Output) -> Plan:
    """The plan of a workflow; each problem is one line on stderr."""
    _check_extra()
    from brain.workflow.check import load

    try:
        plan = load(path, settings)
    except WorkflowError as error:
        for problem in error.problems:
            complain(str(problem), "error")
        raise typer.Exit(WRONG_INPUT) from error
    for warning in plan.warnings if not output.quiet else ():
        complain(str(warning), "warning")
    return plan


def _check_extra() -> None:
    """Workflows need packages that the brain does not."""
    missing = [name for name in ("jinja2", "json_repair", "openai") if find_spec(name) is None]
    if missing:
        raise InputError(f"{missing[0]} is not installed. Workflows need it: pip install 'brain[workflow]'.")


def _input(given: str | None, as_json: bool, plan: Plan) -> Any:
    from brain.workflow.values import input_value

    if given is None:
        if plan.reads_input or as_json:
            raise InputError("The workflow reads its input, and there is none. Give INPUT, a file, or - for stdin.")
        return ""
    text = sys.stdin.buffer.read(_MOST_BYTES) if given == STDIN else _file(given)
    if isinstance(text, bytes):
        try:
            given = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"The input is not UTF-8 text (byte {error.start}). Convert it to UTF-8.") from error
    return input_value(given, as_json=as_json)


def _file(given: str) -> bytes | None:
    """What is in a file of this name; None if there is none, so that it is text."""
    if len(given) > 4_000 or "\n" in given:
        return None
    try:
        path = Path(given)
        if path.exists() and not path.is_dir():  # a pipe of the shell's is none of the usual files either
            with path.open("rb") as file:
                return file.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        if isinstance(error, PermissionError):
            raise InputError(f"{given} cannot be read: {error.strerror}. Check who may read it.") from error
    if given.lower().endswith(_LOOKS_LIKE_A_FILE) and len(given.split()) == 1:
        raise InputError(f"There is no file {given!r}. Check the path; text that only looks like one goes to stdin.")
    return None


def _ran(
    plan: Plan, given: Any, place: tuple[str | None, str, str | None], output: Output
) -> tuple[RunResult, str | None]:
    """What became of the run, and where its skills are, if it has to do with any."""
    if not plan.has_brain:
        return _run(plan, given, None, output), None
    with opened(*place, loading=output.loading) as brain:
        mention_unused_vectors(brain, place[2], output)
        return _run(plan, given, brain, output), brain.location


def _run(plan: Plan, given: Any, brain: SyncBrain | None, output: Output) -> RunResult:
    from brain.workflow.run import Interrupted, run_plan

    with _shown(len(plan.steps), output) as observer:

        async def runs() -> RunResult:
            try:
                return await run_plan(plan, given, brain=brain, observer=observer)
            except Interrupted as interrupted:
                return interrupted.result

        return asyncio.run(runs())


@contextmanager
def _shown(total: int, output: Output) -> Iterator[Any]:
    """Gives the observer that tells of each agent on stderr: a line as it ends, on a terminal also what runs now."""
    console = new_console(stderr=True)
    running: dict[str, None] = {}
    ended = 0
    status = console.status("") if console.is_terminal and not output.quiet else None

    def observer(event: str, result: AgentResult) -> None:
        nonlocal ended
        if event == "started":
            running[result.id] = None
        else:
            running.pop(result.id, None)
            ended += 1
            if not output.quiet:
                _tell(console, result, ended, total)
        if status:
            status.update(f"{ended}/{total} {', '.join(map(visible, running))}")

    if status:
        status.start()
    try:
        yield observer
    finally:
        if status:
            status.stop()


def _tell(console: Console, result: AgentResult, ended: int, total: int) -> None:
    from rich.text import Text

    sign, style = _SIGNS[result.status]
    kind = f"{result.type} {result.operation}".strip()
    tokens = _tokens(result)
    line = Text(f"{ended:>{len(str(total))}}/{total} ").append(sign, style).append(f" {visible(result.id)}", "bold")
    line.append(f"  {kind}  {result.duration_ms / 1000:.1f} s", "dim")
    if tokens:
        line.append(f"  {tokens['prompt'] or 0}+{tokens['answer'] or 0} tokens", "dim")
    console.print(line, soft_wrap=True)
    for text, kind in [(result.error, style)] * bool(result.error) + [(said, "yellow") for said in result.warnings]:
        console.print(Text(f"  {one_line(str(text))}", kind), soft_wrap=True)


def _make_folder(folder: str | None) -> None:
    """What cannot be kept is better told before a model is asked than after."""
    from brain.workflow.trace import make_folder

    if folder is not None:
        make_folder(folder)


def _written(plan: Plan, result: RunResult, folder: str | None) -> str | None:
    if folder is None:
        return None
    from brain.workflow.trace import write_trace

    try:
        return str(write_trace(plan, result, folder))
    except InputError as error:  # what was done must still be told
        complain(str(error), "error")
        return None


def _tokens(result: AgentResult) -> dict[str, int | None] | None:
    if result.prompt_tokens is None and result.answer_tokens is None:
        return None
    return {"prompt": result.prompt_tokens, "answer": result.answer_tokens}


def _result_data(result: RunResult, path: str, location: str | None, trace: str | None) -> dict[str, Any]:
    from brain.workflow.values import plain

    known = [tokens for tokens in map(_tokens, result.agents) if tokens]
    total = {key: sum(tokens[key] or 0 for tokens in known) for key in ("prompt", "answer")} if known else None
    return {
        "workflow": result.workflow,
        "file": path,
        "run_id": result.run_id,
        "status": result.status,
        "answer": plain(result.answer),
        "answer_from": result.answer_from or None,
        "duration_ms": result.duration_ms,
        "tokens": total,
        "store": location,
        "trace": trace,
        "agents": [_agent_data(one) for one in result.agents],
    }


def _agent_data(result: AgentResult) -> dict[str, Any]:
    from brain.workflow.values import plain

    return {
        "id": result.id,
        "type": result.type,
        "operation": result.operation or None,
        "status": result.status,
        "error": result.error,
        "duration_ms": result.duration_ms,
        "tokens": _tokens(result),
        "repaired": result.is_repaired,
        "truncated": result.is_truncated,
        "warnings": result.warnings,
        "output": plain(result.output),
    }


def _plan_data(plan: Plan, path: str) -> dict[str, Any]:
    return {
        "workflow": plan.workflow.id,
        "file": path,
        "strategy": plan.workflow.strategy,
        "on_error": plan.workflow.on_error,
        "reads_input": plan.reads_input,
        "groups": plan.groups if plan.workflow.strategy == "parallel" else [[step.agent.id] for step in plan.steps],
        "agents": [
            {
                "id": step.agent.id,
                "type": step.agent.type,
                "operation": step.agent.operation or None,
                "reads": list(dict.fromkeys(read.agent for read in step.reads.agents)),
                "waits_for": sorted(plan.waits[step.agent.id]),
                **_endpoint_data(step.agent),
            }
            for step in plan.steps
        ],
        "warnings": [str(warning) for warning in plan.warnings],
    }


def _endpoint_data(agent: Any) -> dict[str, Any]:
    from brain.workflow.llm import endpoint_of

    if not agent.is_llm:
        return {}
    return {"endpoint": endpoint_of(agent, agent.settings).shown, "model": agent.settings.model or None}
