"""How does experience get in? `brain learn` and `brain feedback`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from brain.cli.ending import NO, WRONG_INPUT
from brain.cli.files import as_object, parse_json
from brain.cli.intake import Found, Lesson, Verdict, Wanted, files_in, in_words, lessons
from brain.cli.layout import expiry, pairs, score, transfers, visible
from brain.cli.opening import mention_unused_vectors, opened
from brain.cli.options import AsJson, EmbedderName, Location, Namespace, Quiet, SkillId
from brain.cli.output import Output
from brain.cli.reporting import Learning, Report, row_of
from brain.errors import InputError

if TYPE_CHECKING:
    from brain.engine.sync import SyncBrain
    from brain.model.receipts import FeedbackReceipt, LearnReceipt

FORMATS = (
    "anthropic_managed_events, anthropic_message, autogen_core, claude_code, codex, guide, langgraph_stream, "
    "langsmith_run, mini_swe_agent, openai_chat, openai_responses, openhands_events, orka_trace, otlp_json, "
    "swe_agent_traj, who_and_when"
)


def learn(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Traces in files and folders, - for standard input: JSON or JSON Lines, of one run or of many. What "
            "agents and their hosts write is told by what stands in it; an execution of your own is an object with "
            "execution_trace, context and outcome, optionally skill_name, trace_id, skill_id and derived_from.",
            show_default=False,
        ),
    ],
    format: Annotated[
        str, typer.Option("--format", metavar="NAME", help=f"How all of them are written: auto, or {FORMATS}.")
    ] = "auto",
    outcome: Annotated[
        Verdict,
        typer.Option(
            "--outcome",
            help="How the runs went that do not say so themselves. A run's own verdict stands. With auto, those "
            "without one teach nothing.",
        ),
    ] = Verdict.AUTO,
    domain: Annotated[str | None, typer.Option("--domain", metavar="TEXT", help="The field that all are of.")] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", metavar="", help="Show what would be learned by an empty memory; store nothing."),
    ] = False,
    no_redact: Annotated[
        bool,
        typer.Option("--no-redact", metavar="", help="Store keys, tokens, passwords and e-mail addresses as they are."),
    ] = False,
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
    """Learn skills from executions, or reinforce the ones that do the same.

    Whatever is wrong with one file, the others are learned from; the exit
    status is 2 then.
    """
    output = Output(as_json, quiet)
    wanted = Wanted(None if format == "auto" else format, outcome, domain, not no_redact)
    named = {"skill_name": name, "trace_id": trace_id, "skill_id": skill_id}
    given = {key: value for key, value in named.items() if value is not None}
    files = list(files_in(sources))
    with output.progress("Reading", len(files) if len(files) > 1 else None) as advance:
        found = _each(files, wanted, advance)
        head = list(islice(found, 2))
        alone = head[0] if len(head) == 1 and head[0].alone and files[0].named else None
        _complete(head, given, alone)
        every = _derived(chain(head, found), derived_from or [])
        with _memory(dry_run, store, namespace, embedder, output) as brain:
            if not dry_run:
                mention_unused_vectors(brain, embedder, output)
            if alone is not None:
                _learn_one(brain, next(every), output, dry_run)
            else:
                _learn_all(brain, every, output, dry_run)


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
    feedback_id: Annotated[
        str | None,
        typer.Option("--feedback-id", metavar="ID", help="Id of this feedback: given again, it counts once."),
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
    with opened(store, namespace) as brain:
        context = {"domain": domain, "task": task}
        receipt = brain.feedback(skill_id, context, success, changed, feedback_id=feedback_id)
    output.data(receipt.to_dict(), *([_feedback_text(receipt)] if receipt.skill else []))
    if not receipt.recorded:
        raise typer.Exit(NO)  # the brain has logged why


def _memory(
    dry_run: bool, store: str | None, namespace: str, embedder: str | None, output: Output
) -> AbstractContextManager[SyncBrain]:
    """The memory to learn into; for a dry run one that is gone afterwards."""
    if dry_run:
        return opened("sqlite://:memory:", namespace)
    return opened(store, namespace, embedder, loading=output.loading)


def _each(files: list[Found], wanted: Wanted, advance: Any) -> Iterator[Lesson]:
    for found in files:
        for lesson in lessons(found, wanted):
            yield lesson
            if len(files) == 1:
                advance(1)
        if len(files) > 1:
            advance(1)


def _complete(head: list[Lesson], given: dict[str, str], alone: Lesson | None) -> None:
    """Puts what the options say over what the one trace says."""
    if not given:
        return
    if len(head) > 1:
        option = "--name" if "skill_name" in given else f"--{next(iter(given)).replace('_', '-')}"
        raise InputError(f"{option} is for one execution, and there are more. Put it into the file.")
    if head and head[0].arguments:
        head[0].arguments |= given


def _derived(every: Iterator[Lesson], derived_from: list[str]) -> Iterator[Lesson]:
    for lesson in every:
        used = lesson.arguments.get("derived_from", [])
        if derived_from and lesson.arguments and isinstance(used, list):  # else the brain says what is wrong with it
            lesson.arguments["derived_from"] = [*used, *derived_from]
        yield lesson


def _learn_one(brain: SyncBrain, lesson: Lesson, output: Output, dry_run: bool) -> None:
    """Learns the one trace there is; whatever is wrong with it is the command's error."""
    if lesson.refused is not None:
        raise lesson.refused
    if lesson.unread:
        output.notice(f"Keys that are not read: {', '.join(lesson.unread)}.")
    if lesson.skipped:
        output.data(row_of(lesson), pairs([("outcome", Text("skipped", "bold")), ("reason", lesson.skipped)]))
        return
    try:
        receipt = brain.observe(**_renamed(lesson.arguments))
    except InputError as error:
        raise InputError(f"{lesson.where}: {error}") from error
    if lesson.redacted:
        output.notice(f"Replaced before it was stored: {in_words(lesson.redacted)}.")
    output.data(receipt.to_dict(), _learn_text(receipt, dry_run))


def _learn_all(brain: SyncBrain, every: Iterator[Lesson], output: Output, dry_run: bool) -> None:
    """Learns all traces that can be, and reports on every one."""
    report = Report(output)
    results = Learning(brain, report).results(every)
    if output.as_json:
        output.stream(result.to_dict() for result in results)
    else:
        deque(results, maxlen=0)
        output.text(report.table())
    report.tell_the_rest()
    if report.refused:
        raise typer.Exit(WRONG_INPUT)


def _renamed(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `observe`, which calls the trace by its whole name. Raises `InputError`."""
    from brain.model.inputs import PARTS, Execution

    execution = Execution.read(arguments)
    parts: dict[str, Any] = {name: getattr(execution, name) for name in PARTS}
    return parts | {key: item for key, item in arguments.items() if key not in (*PARTS, "trace")}


def _learn_text(receipt: LearnReceipt, dry_run: bool) -> Table:
    rows: list[tuple[str, Any]] = [("outcome", Text(receipt.outcome.value, "bold")), ("reason", receipt.reason)]
    if dry_run:
        rows[0] = ("outcome", Text("dry run, nothing was stored", "bold"))
    if receipt.skill:
        rows += [
            ("name", visible(receipt.skill.name)),
            ("id", receipt.skill.id),
            ("confidence", score(receipt.skill.confidence)),
            ("expires", expiry(receipt.skill)),
        ]
    if receipt.skill and dry_run:
        rows[-3:] = [("task", receipt.skill.task), *_steps(receipt)]
    return pairs(rows)


def _steps(receipt: LearnReceipt) -> list[tuple[str, Any]]:
    """The steps that would be learned, each with what was noted of it."""
    rows: list[tuple[str, Any]] = []
    for i, step in enumerate(receipt.skill.procedure if receipt.skill else (), 1):
        cell = Text(visible(step.action, lines=True))
        more = step.model_extra or {}
        for note in filter(None, [step.description, more.get("repeats"), *more.get("pitfalls", [])]):
            cell.append(f"\n{visible(str(note), lines=True)}", "dim")
        rows.append((f"step {i}", cell))
    return rows


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
