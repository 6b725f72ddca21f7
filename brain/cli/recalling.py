"""How is a skill found again, and why is one not? `brain recall`, `brain why`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from brain.cli.explaining import explanation
from brain.cli.files import STDIN, read_object, read_text
from brain.cli.layout import pairs, score, skill_row, skill_table, visible
from brain.cli.opening import mention_unused_vectors, no_skills, opened
from brain.cli.options import AsJson, EmbedderName, Location, Namespace, Quiet, SkillId
from brain.cli.output import Output
from brain.config import DEFAULT_MIN_SCORE as MIN_SCORE
from brain.config import DEFAULT_TOP_K as TOP_K
from brain.errors import InputError

if TYPE_CHECKING:
    from brain.model.candidate import TransferCandidate


Task = Annotated[
    str | None,
    typer.Argument(metavar="TASK", help="What is to be done, in words; - for standard input.", show_default=False),
]
Domain = Annotated[str | None, typer.Option("--domain", metavar="TEXT", help="The field that the task is of.")]
Steps = Annotated[
    list[str] | None,
    typer.Option("--step", metavar="TEXT", help="A planned step. May be repeated, in order."),
]
ContextFile = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="FILE.json",
        help="A whole context as a JSON object, - for standard input. What else is given replaces its keys.",
    ),
]
TopK = Annotated[int, typer.Option("--top-k", metavar="N", help="Skills to return at most.")]
MinScore = Annotated[
    float, typer.Option("--min-score", metavar="0..1", help="Least combined score of a returned skill.")
]

SkillTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TEXT",
        help="Only skills of this type. May be repeated. By default all but anti_pattern, which is no advice.",
    ),
]


def recall(
    task: Task = None,
    domain: Domain = None,
    step: Steps = None,
    context: ContextFile = None,
    top_k: TopK = TOP_K,
    min_score: MinScore = MIN_SCORE,
    skill_type: SkillTypes = None,
    explain: Annotated[bool, typer.Option("--explain", metavar="", help="Show what every score rests on.")] = False,
    store: Location = None,
    namespace: Namespace = "default",
    embedder: EmbedderName = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the stored skills that fit a task, best first."""
    output = Output(as_json, quiet)
    wanted, nothing = _context(task, domain, step or [], context), "No stored skill fits this task."
    with opened(store, namespace, embedder, loading=output.loading, redact=True) as brain:  # as what it learned was
        mention_unused_vectors(brain, embedder, output)
        found = brain.recall(wanted, top_k, min_score, skill_types=skill_type or None)
        if not found and not brain.get_skill_summary()["total_skills"]:
            nothing = no_skills(brain, store)
    _print(output, found, explain, nothing)


def why(
    skill_id: SkillId,
    task: Task = None,
    domain: Domain = None,
    step: Steps = None,
    context: ContextFile = None,
    top_k: TopK = TOP_K,
    min_score: MinScore = MIN_SCORE,
    skill_type: SkillTypes = None,
    store: Location = None,
    namespace: Namespace = "default",
    embedder: EmbedderName = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say why recall returns one skill for a task, or does not."""
    output = Output(as_json, quiet)
    wanted = _context(task, domain, step or [], context)
    with opened(store, namespace, embedder, loading=output.loading, redact=True) as brain:  # as what it learned was
        mention_unused_vectors(brain, embedder, output)
        verdict = brain.why(skill_id, wanted, top_k, min_score, skill_types=skill_type or None)
    if output.as_json:
        output.data(verdict.explain() | {"adaptations": verdict.candidate.adaptations})
    else:
        output.text(visible(verdict.reason), "", explanation(verdict.candidate))


def _print(output: Output, found: list[TransferCandidate], explain: bool, nothing: str) -> None:
    if not found:
        output.notice(nothing)
    if output.as_json:
        output.data([_data(candidate, explain) for candidate in found])
    elif found:
        output.text(_table(found, output.width), "", _reasons(found))
        for candidate in found if explain else []:
            output.text("", explanation(candidate))


def _context(task: str | None, domain: str | None, steps: list[str], file: str | None) -> dict[str, Any]:
    if task == STDIN and file == STDIN:
        raise InputError("Standard input (-) can be read only once: as the task, or as the context.")
    context = read_object(file) if file is not None else {}
    if task is not None:
        context["task"] = read_text(STDIN).removesuffix("\n") if task == STDIN else task
    if domain is not None:
        context["domain"] = domain
    if steps:
        context["steps"] = steps
    said = context.get("task")
    if not context.get("steps") and (said is None or (isinstance(said, str) and not said.strip())):
        raise InputError(
            "Say what is to be done: TASK in words, a planned --step, or --context with a file that has 'task' or "
            "'steps'."
        )
    return context


def _data(candidate: TransferCandidate, explain: bool) -> dict[str, Any]:
    return candidate.to_dict() | ({"explanation": candidate.explain()} if explain else {})


def _table(found: list[TransferCandidate], width: int) -> Table:
    scores = (">struct", ">seman", ">trans", ">conf", ">comb")
    made = skill_table(width, [">#"], scores)
    for rank, candidate in enumerate(found, 1):
        numbers = (
            candidate.structural_score,
            candidate.semantic_score,
            candidate.transfer_score,
            candidate.confidence_score,
            candidate.combined_score,
        )
        made.add_row(*skill_row(width, candidate.skill, [str(rank)], [score(number) for number in numbers]))
    return made


def _reasons(found: list[TransferCandidate]) -> Table:
    return pairs((str(rank), candidate.reasoning) for rank, candidate in enumerate(found, 1))
