"""How does experience get in? `brain learn` and `brain feedback`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from brain.cli.ending import NO
from brain.cli.files import STDIN, Execution, as_object, parse_json, read_executions
from brain.cli.layout import expiry, pairs, score, transfers, visible
from brain.cli.opening import mention_unused_vectors, opened
from brain.cli.options import AsJson, EmbedderName, Location, Namespace, Quiet, SkillId
from brain.cli.output import Output, complain
from brain.errors import BrainError, InputError

if TYPE_CHECKING:
    from brain.engine.sync import SyncBrain
    from brain.model.receipts import FeedbackReceipt, LearnReceipt


def learn(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE.json",
            help="Files that hold an execution or a list of them, - for standard input. An execution is an object "
            "with execution_trace, context and outcome, optionally skill_name, trace_id, skill_id and derived_from.",
            show_default=False,
        ),
    ],
    name: Annotated[str | None, typer.Option("--name", metavar="TEXT", help="Name of a new skill.")] = None,
    trace_id: Annotated[
        str | None,
        typer.Option("--trace-id", metavar="ID", help="Id of this execution: learning it again changes nothing."),
    ] = None,
    skill_id: Annotated[str | None, typer.Option("--skill-id", metavar="ID", help="Id of a new skill.")] = None,
    derived_from: Annotated[
        list[str] | None,
        typer.Option("--derived-from", metavar="ID", help="A skill that was recalled and used. May be repeated."),
    ] = None,
    store: Location = None,
    namespace: Namespace = "default",
    embedder: EmbedderName = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn skills from executions, or reinforce the ones that do the same."""
    output = Output(as_json, quiet)
    executions, listed = _read_all(sources)
    _complete(executions, {"skill_name": name, "trace_id": trace_id, "skill_id": skill_id}, derived_from or [])
    _mention_ignored_keys(executions, output)
    with opened(store, namespace, embedder, loading=output.loading) as memory:
        mention_unused_vectors(memory, embedder, output)
        receipts = _learned(memory.brain, executions)
        if as_json and listed:
            output.stream(_learn_data(receipt) for receipt in receipts)
            return
        for i, receipt in enumerate(receipts):
            output.data(_learn_data(receipt), *([""] if i else []), _learn_text(receipt))


def feedback(
    skill_id: SkillId,
    success: Annotated[
        bool,
        typer.Option("--success", metavar="", help="The skill worked. This or --failure is needed."),
    ] = False,
    failure: Annotated[bool, typer.Option("--failure", metavar="", help="The skill did not work.")] = False,
    domain: Annotated[str, typer.Option("--domain", metavar="TEXT", help="Domain it was applied in.")] = "",
    task: Annotated[str, typer.Option("--task", metavar="TEXT", help="Task it was applied to.")] = "",
    adaptations: Annotated[
        str | None,
        typer.Option("--adaptations", metavar="JSON", help="What was changed to apply it, as a JSON object."),
    ] = None,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say how a recalled skill did; its confidence, history and expiry move."""
    output = Output(as_json, quiet)
    if success == failure:
        raise InputError("Say how it went: either --success or --failure.")
    changed = as_object(parse_json(adaptations, "--adaptations"), "--adaptations") if adaptations is not None else {}
    with opened(store, namespace) as memory:
        receipt = memory.brain.feedback(skill_id, {"domain": domain, "task": task}, success, changed)
    output.data(_feedback_data(receipt), *([_feedback_text(receipt)] if receipt.skill else []))
    if not receipt.recorded:
        raise typer.Exit(NO)  # the brain has logged why


def _read_all(sources: list[str]) -> tuple[list[Execution], bool]:
    """Every execution of every source, and whether they are to be printed as a list."""
    if sources.count(STDIN) > 1:
        raise InputError("Standard input (-) can be read only once.")
    found = [read_executions(source) for source in sources]
    return [execution for part, _ in found for execution in part], len(found) > 1 or found[0][1]


def _mention_ignored_keys(executions: list[Execution], output: Output) -> None:
    ignored = dict.fromkeys(key for execution in executions for key in execution.ignored)
    if ignored:
        output.notice(f"Keys that are not read: {', '.join(ignored)}.")


def _complete(executions: list[Execution], given: dict[str, Any], derived_from: list[str]) -> None:
    """Puts what the options say over what the files say."""
    for key, value in given.items():
        if value is not None and len(executions) != 1:
            option = "--name" if key == "skill_name" else f"--{key.replace('_', '-')}"
            raise InputError(f"{option} is for one execution, and {len(executions)} are given. Put it into the file.")
        if value is not None:
            executions[0].arguments[key] = value
    for execution in executions if derived_from else []:
        used = execution.arguments.get("derived_from", [])
        if isinstance(used, list):  # else the brain says what is wrong with it
            execution.arguments["derived_from"] = [*used, *derived_from]


def _learned(brain: SyncBrain, executions: list[Execution]) -> Iterable[LearnReceipt]:
    """Learns one after the other; at an error it says what came before."""
    for i, execution in enumerate(executions):
        try:
            yield brain.observe(**execution.arguments)
        except BrainError as error:
            if len(executions) > 1:
                before = ", ".join(done.where for done in executions[:i]) or "nothing"
                complain(f"Stopped at {execution.where}. Learned before it: {before}.")
            if isinstance(error, InputError):
                raise InputError(f"{execution.where}: {error}") from error
            raise


def _learn_data(receipt: LearnReceipt) -> dict[str, Any]:
    return {
        "outcome": receipt.outcome.value,
        "reason": receipt.reason,
        "version": receipt.version,
        "skill": receipt.skill.to_dict() if receipt.skill else None,
    }


def _learn_text(receipt: LearnReceipt) -> Table:
    rows: list[tuple[str, Any]] = [("outcome", Text(receipt.outcome.value, "bold")), ("reason", receipt.reason)]
    if receipt.skill:
        rows += [
            ("name", visible(receipt.skill.name)),
            ("id", receipt.skill.id),
            ("confidence", score(receipt.skill.confidence)),
            ("expires", expiry(receipt.skill)),
        ]
    return pairs(rows)


def _feedback_data(receipt: FeedbackReceipt) -> dict[str, Any]:
    return {
        "recorded": receipt.recorded,
        "reason": receipt.reason,
        "version": receipt.version,
        "skill": receipt.skill.to_dict() if receipt.skill else None,
    }


def _feedback_text(receipt: FeedbackReceipt) -> Table:
    assert receipt.skill
    return pairs(
        [
            ("recorded", receipt.reason),
            ("confidence", score(receipt.skill.confidence)),
            ("transfers", f"{transfers(receipt.skill)} successful"),
            ("expires", expiry(receipt.skill)),
        ]
    )
