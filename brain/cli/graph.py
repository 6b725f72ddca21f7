"""What is in the graph? `brain skills`, `brain show`, `brain related`, `brain link`, `brain delete`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from brain.cli.ending import NO
from brain.cli.files import as_object, parse_json
from brain.cli.layout import expiry, moment, pairs, plain, score, skill_row, skill_table, table, transfers, visible
from brain.cli.opening import no_skills, opened
from brain.cli.options import AsJson, Location, Namespace, Quiet, SkillId
from brain.cli.output import Output
from brain.errors import SkillNotFoundError

if TYPE_CHECKING:
    from brain.engine.sync import SyncBrain
    from brain.model.relations import Edge
    from brain.model.skill import Skill, SkillCondition

SCREENFUL = 100
"""Rows that are laid out together."""
SHOWN_TRANSFERS = 10
"""Applications that `brain show` lists, the latest; --json gives all that are kept."""


def skills(
    tag: Annotated[str | None, typer.Option("--tag", metavar="TEXT", help="Only skills with exactly this tag.")] = None,
    words: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="WORDS",
            help="Only skills with all these words in name, id, domain or tags, in any case.",
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="FIELD",
            help="By id (the default), name, domain, tags or expires_at, or with the largest first by confidence, "
            "usage_count, success_rate, transfer_count or updated_at.",
        ),
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", metavar="", help="The other way round.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=0, metavar="N", help="How many at most.")] = None,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """List the stored skills."""
    output = Output(as_json, quiet)
    with opened(store, namespace) as brain:
        found: Iterator[Skill] = islice(brain.iter_skills(tag), limit)
        if order is not None or words or reverse:
            found = _in_order(brain, order or "id", reverse, words or "", tag, limit)
        if as_json:
            output.stream(skill.to_dict() for skill in found)
            return
        first = next(found, None)
        if first is None:
            none = "No skill has these words." if words else "No skill has this tag." if tag else ""
            output.notice(none or ("No skills." if limit == 0 else no_skills(brain, store)))
            return
        _print_listing(output, chain([first], found))


def show(
    skill_id: SkillId,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show one skill whole: steps, conditions, history, edges, lifetime."""
    output = Output(as_json, quiet)
    with opened(store, namespace) as brain:
        skill = _found(brain, skill_id)
        edges = brain.skill_graph.get_edges(skill_id)
        names = {other.id: other.name for other in brain.skill_graph.get_many(edge.target for edge in edges)}
    if as_json:
        output.data({"skill": skill.to_dict(), "edges": [edge.to_dict() for edge in edges]})
        return
    output.text(Text(visible(skill.name), "bold"), "", pairs(_facts(skill)))
    for part in (_steps(skill), _conditions(skill), _edges(edges, names), _history(skill)):
        if part.row_count:
            output.text("", part)


def related(
    skill_id: SkillId,
    relation: Annotated[
        str | None,
        typer.Option(
            "--relation",
            metavar="RELATION",
            help="Only along DERIVES_FROM, COMPOSED_OF, SPECIALIZES, TRANSFERRED_TO, CONFLICTS_WITH or COMPLEMENTS.",
        ),
    ] = None,
    depth: Annotated[int, typer.Option("--depth", metavar="N", help="How many edges away at most, 1 to 10.")] = 2,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """List the skills around one, nearest first, along edges in either direction."""
    output = Output(as_json, quiet)
    with opened(store, namespace) as brain:
        _found(brain, skill_id)
        found = brain.skill_graph.related_with_distance(skill_id, relation, depth)
    if not found:
        output.notice("No related skills.")
    if as_json:
        output.data([{"distance": distance, "skill": skill.to_dict()} for skill, distance in found])
    elif found:
        made = skill_table(output.width, [">distance"], [">conf", ">uses"])
        for skill, distance in found:
            after = [score(skill.confidence), str(skill.usage_count)]
            made.add_row(*skill_row(output.width, skill, [str(distance)], after))
        output.text(made)


def link(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Id of the skill that the edge starts at.")],
    relation: Annotated[
        str,
        typer.Argument(
            metavar="RELATION",
            help="DERIVES_FROM, COMPOSED_OF, SPECIALIZES, TRANSFERRED_TO, CONFLICTS_WITH or COMPLEMENTS.",
        ),
    ],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Id of the skill that it ends at.")],
    metadata: Annotated[
        str | None, typer.Option("--metadata", metavar="JSON", help="What to note on the edge, as a JSON object.")
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", metavar="", help="Take the edge away; the exit status is 1 if there is none.")
    ] = False,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Connect two skills. Doing it again replaces the metadata."""
    if remove:
        _unlink(source, relation, target, store, namespace, Output(as_json, quiet))
        return
    noted = as_object(parse_json(metadata, "--metadata"), "--metadata") if metadata is not None else {}
    with opened(store, namespace) as brain:
        brain.skill_graph.add_edge(source, relation, target, noted)
    edge = {"source": source, "relation": relation, "target": target, "metadata": noted}
    Output(as_json, quiet).data(edge, f"{visible(source)} {relation} {visible(target)}")


def delete(
    skill_id: SkillId,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Remove one skill with its steps, history and edges, for good."""
    with opened(store, namespace) as brain:
        skill = _found(brain, skill_id)
        deleted = brain.skill_graph.delete_skill(skill_id)
    Output(as_json, quiet).data({"id": skill_id, "deleted": deleted}, f"{visible(skill.name)!r} was deleted.")


def _unlink(source: str, relation: str, target: str, store: str | None, namespace: str, output: Output) -> None:
    with opened(store, namespace) as brain:
        removed = brain.skill_graph.delete_edge(source, relation, target)
    edge = {"source": source, "relation": relation, "target": target, "removed": removed}
    output.data(edge, f"{visible(source)} {relation} {visible(target)} {'was removed' if removed else 'is not there'}")
    if not removed:
        raise typer.Exit(NO)


def _found(brain: SyncBrain, skill_id: str) -> Skill:
    skill = brain.get_skill(skill_id)
    if skill is None:
        raise SkillNotFoundError(skill_id, brain.namespace)
    return skill


def _in_order(
    brain: SyncBrain, order: str, reverse: bool, words: str, tag: str | None, limit: int | None
) -> Iterator[Skill]:
    """Whole skills as `Brain.listing` orders them."""
    from brain.engine.listing import known_order

    descending = known_order(order).starts_descending != reverse
    ids = [row.id for row in brain.listing(order, descending=descending, text=words, tag=tag, limit=limit).rows]
    pages = (ids[start : start + SCREENFUL] for start in range(0, len(ids), SCREENFUL))
    return chain.from_iterable(map(brain.skill_graph.get_many, pages))


def _print_listing(output: Output, found: Iterator[Skill]) -> None:
    """Prints a table a screenful at a time, its columns the same from the first to the last."""
    columns = (">conf", ">uses", "=transfers", "=expires (UTC)   ")
    made = skill_table(output.width, [], columns)
    while rows := list(islice(found, SCREENFUL)):
        for skill in rows:
            numbers = (score(skill.confidence), str(skill.usage_count), transfers(skill), moment(skill.expires_at))
            made.add_row(*skill_row(output.width, skill, [], numbers))
        output.text(made)
        made = skill_table(output.width, [], columns)
        made.show_header = False


def _facts(skill: Skill) -> list[tuple[str, Any]]:
    features = skill.features
    lifetime = f" (lives {skill.ttl_hours:.0f} h from its last success)" if skill.expires_at else ""
    rows: list[tuple[str, Any]] = [
        ("id", skill.id),
        ("description", skill.description),
        ("learned from", skill.task),
        ("domain", skill.domain),
        ("structures", ", ".join(features.task_structures)),
        ("patterns", ", ".join(features.cognitive_patterns)),
        ("shape", f"{features.input_shape} to {features.output_shape}, complexity {features.complexity} of 10"),
        ("tags", ", ".join(skill.tags)),
        ("confidence", score(skill.confidence)),
        ("uses", f"{skill.usage_count}, {skill.success_rate:.0%} successful"),
        ("transfers", f"{transfers(skill)} successful" if skill.transfer_count else "none yet"),
        ("created", f"{moment(skill.created_at)} UTC"),
        ("updated", f"{moment(skill.updated_at)} UTC, version {skill.version}"),
        ("expires", f"{expiry(skill)}{lifetime}"),
        ("type", f"{skill.skill_type}, in namespace {skill.namespace}"),
    ]
    return [(label, value) for label, value in rows if value]


def _steps(skill: Skill) -> Table:
    made = table(">#", "step")
    for i, step in enumerate(skill.procedure, 1):
        cell = Text(visible(step.action, lines=True))
        if step.is_optional:
            cell.append(" (optional)", "dim")
        if step.description and step.description != step.action:
            cell.append(f"\n{visible(step.description, lines=True)}", "dim")
        if step.parameters:
            cell.append(f"\n{plain(step.parameters)}", "dim")
        for name, value in (step.model_extra or {}).items():
            cell.append(f"\n{visible(name)}: {plain(value)}", "dim")
        made.add_row(str(i), cell)
    return made


def _conditions(skill: Skill) -> Table:
    made = table("when", "condition", "")
    conditions: list[tuple[str, SkillCondition]] = [("before", condition) for condition in skill.preconditions]
    conditions += [("after", condition) for condition in skill.postconditions]
    for when, condition in conditions:
        made.add_row(when, visible(condition.predicate), "required" if condition.required else "")
    return made


def _edges(edges: list[Edge], names: dict[str, str]) -> Table:
    made = table("edge", "skill", "metadata")
    for edge in edges:
        arrow = f"{edge.relation} to" if edge.direction == "out" else f"{edge.relation} from"
        cell = Text(visible(names.get(edge.target, ""))).append(f"\n{visible(edge.target)}", "dim")
        made.add_row(arrow, cell, plain(edge.metadata) if edge.metadata else "")
    return made


def _history(skill: Skill) -> Table:
    made = table("=applied (UTC)", "domain", "worked", ">conf", "adaptations")
    for record in skill.transfer_history[-SHOWN_TRANSFERS:]:
        metadata = record.target_context.get("metadata")
        domain = metadata.get("domain", "") if isinstance(metadata, dict) else ""
        made.add_row(
            moment(record.timestamp),
            visible(str(domain)),
            "yes" if record.success else "no",
            score(record.confidence),
            plain(record.adaptations) if record.adaptations else "",
        )
    return made
