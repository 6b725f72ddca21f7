"""How do skills come as SKILL.md folders, and go as such? `brain export`, `brain import`, `brain approve`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from brain.cli.backup import DryRun, Replace, Skip, chosen
from brain.cli.ending import WRONG_INPUT
from brain.cli.layout import pairs, skill_row, skill_table, visible
from brain.cli.opening import mention_unused_vectors, opened
from brain.cli.options import AsJson, EmbedderName, Location, Namespace, Quiet
from brain.cli.output import Output, complain
from brain.errors import InputError

if TYPE_CHECKING:
    from brain.engine.sync import SyncBrain
    from brain.model.skill import Skill
    from brain.skillfiles.importing import Imported, ImportReport, Refused
    from brain.skillfiles.rules import Finding

Folder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="A folder of skills, one skill's folder, or its SKILL.md.", show_default=False),
]


def export(
    skill_ids: Annotated[
        list[str],
        typer.Argument(
            metavar="SKILL_ID",
            help="The ids of skills; else --all, or --tag.",
            default_factory=list,
            show_default=False,
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write to.", show_default=False)],
    everything: Annotated[bool, typer.Option("--all", metavar="", help="Every skill.")] = False,
    tag: Annotated[str | None, typer.Option("--tag", metavar="TEXT", help="The skills with exactly this tag.")] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Write into folders that are there.")] = False,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write skills as SKILL.md folders, one each, for every agent that reads Agent Skills.

    What the format has no field for travels in its metadata, and brain import brings it back. A skill that came from a
    SKILL.md and was not used since is written as it was.
    """
    from brain.skillfiles.exporting import export_skills

    output = Output(as_json, quiet)
    if bool(skill_ids) + everything + (tag is not None) != 1:
        raise InputError("Say which skills: their ids before the folder, or --all, or --tag TEXT; one of the three.")
    with opened(store, namespace) as brain, output.progress("Exporting", len(skill_ids) or None) as advance:
        done = export_skills(brain, folder, skill_ids or None, tag=tag, force=force, progress=advance)
    for one in done:
        for warning in one.warnings:
            complain(f"{one.folder}: {warning}", "warning")
    if not done:
        output.notice("No skills." if tag is None else "No skill has this tag.")
    data = [{"id": one.skill_id, "folder": str(folder / one.folder), "warnings": one.warnings} for one in done]
    output.data(data, *([_folders(data)] if data else []))


def import_(
    folder: Folder,
    quarantine: Annotated[
        bool, typer.Option("--quarantine", metavar="", help="Keep them out of recall until brain approve.")
    ] = False,
    replace: Replace = False,
    skip: Skip = False,
    no_redact: Annotated[
        bool, typer.Option("--no-redact", metavar="", help="Store keys, tokens, passwords and addresses as they are.")
    ] = False,
    any_name: Annotated[
        bool,
        typer.Option("--any-name", metavar="", help="Take names with capitals, spaces and the like, with a warning."),
    ] = False,
    dry_run: DryRun = False,
    store: Location = None,
    namespace: Namespace = "default",
    embedder: EmbedderName = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make a skill of every SKILL.md in a folder and below.

    Each is checked against the Agent Skills specification: what breaks it is refused with line and rule and the others
    are imported; what is odd is told. The text stays word for word, but for secrets, and comes back by brain export.
    """
    from brain.skillfiles.importing import import_skills

    output, existing = Output(as_json, quiet), chosen(replace, skip)
    with _import_into(store, namespace, embedder, quarantine, dry_run, output) as (brain, target):
        with output.progress("Importing") as advance:
            report = import_skills(
                brain,
                folder,
                waiting_for=target,
                existing=existing,
                redact=not no_redact,
                any_name=any_name,
                progress=advance,
            )
        waits_in = brain.namespace if quarantine and not dry_run else None
    data = _import_data(report, waits_in, dry_run)
    output.data(data, *_import_text(report, waits_in, dry_run))
    if report.refused:
        raise typer.Exit(WRONG_INPUT)


def approve(
    skill_ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="SKILL_ID", help="The ids of skills that wait.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", metavar="", help="Every skill that waits.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", metavar="", help="Put it in place of another skill that has its id.")
    ] = False,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Let imported skills out of quarantine, so that they are recalled; without an id, list those that wait.

    They wait in the namespace NAME.quarantine: brain show --namespace looks at one there, brain delete removes it.
    """
    from brain.skillfiles.quarantine import approve as approved
    from brain.skillfiles.quarantine import quarantine_of

    output, waits_in = Output(as_json, quiet), quarantine_of(namespace)
    if skill_ids and everything:
        raise InputError("Give ids, or --all, not both.")
    with opened(store, waits_in) as waiting, opened(store, namespace) as brain:
        if not skill_ids and not everything:
            _list_waiting(waiting, output)
            return
        wanted = skill_ids or [skill.id for skill in waiting.iter_skills()]
        with output.progress("Approving", len(wanted)) as advance:
            moved = approved(waiting, brain, wanted, replacing=replace, progress=advance)
    for skill_id in sorted(set(wanted) - set(moved)):
        output.notice(f"{visible(skill_id)} does not wait; a skill with this id is in {namespace}.")
    output.data(
        {"approved": moved, "namespace": namespace}, f"{len(moved)} approved: {visible(', '.join(moved)) or 'none'}"
    )


@contextmanager
def _import_into(
    store: str | None, namespace: str, embedder: str | None, quarantine: bool, dry_run: bool, output: Output
) -> Iterator[tuple[SyncBrain, SyncBrain | None]]:
    """The brain to import into, and the one that quarantined skills are for. A dry run has one that is thrown away."""
    from brain.skillfiles.quarantine import quarantine_of

    waits_in = quarantine_of(namespace) if quarantine else namespace
    if dry_run:
        with opened("sqlite://:memory:", waits_in) as brain:
            yield brain, None
        return
    with opened(store, waits_in, embedder) as brain:
        mention_unused_vectors(brain, embedder, output)
        if not quarantine:
            yield brain, None
            return
        with opened(store, namespace) as target:
            yield brain, target


def _import_data(report: ImportReport, waits_in: str | None, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "quarantine": waits_in,
        "imported": [
            {
                "path": one.path,
                "status": one.status.value,
                "id": one.skill_id,
                "name": one.name,
                "warnings": list(map(_finding, one.warnings)),
            }
            for one in report.imported
        ],
        "refused": [{"path": one.path, "faults": list(map(_finding, one.faults))} for one in report.refused],
        "passed_over": [{"what": what, "reason": reason} for what, reason in report.passed_over],
        "redacted": dict(report.redacted),
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {"line": found.line, "rule": found.rule, "message": found.message}


def _import_text(report: ImportReport, waits_in: str | None, dry_run: bool) -> Iterator[Table | Text | str]:
    for one in report.imported:
        yield _of_imported(one)
    for refused in report.refused:
        yield _of_refused(refused)
    for what, reason in report.passed_over:
        yield Text("passed over  ", "yellow").append(visible(what), "bold").append(f"\n    {reason}", "none")
    counts = dict.fromkeys(("new", "replaced", "unchanged", "skipped"), 0)
    for one in report.imported:
        counts[one.status.value] += 1
    told = [f"{count} {status}" for status, count in counts.items() if count or status == "new"]
    secrets = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in report.redacted.items())
    rows: list[tuple[str, Any]] = [
        ("skills", Text(", ".join(told), "bold")),
        ("refused", len(report.refused)),
        ("secrets replaced", secrets or "none"),
    ]
    if waits_in:
        rows.append(("waiting in", f"{waits_in}, until brain approve"))
    if dry_run:
        rows.append(("dry run", "nothing was written"))
    yield ""
    yield pairs(rows)


def _of_imported(one: Imported) -> Text:
    text = Text(f"{one.status.value:<11}  ", "green").append(visible(one.name), "bold")
    text.append(f"  {one.path}", "dim")
    text.append(f"  as {visible(one.skill_id)}" if one.skill_id != one.name else "", "dim")
    return _with_findings(text, one.warnings, "yellow")


def _of_refused(one: Refused) -> Text:
    return _with_findings(Text("refused      ", "red").append(visible(one.path), "bold"), one.faults, "red")


def _with_findings(text: Text, findings: tuple[Finding, ...], style: str) -> Text:
    for found in findings:
        text.append(f"\n    line {found.line}: ", style).append(visible(found.message), "none")
        text.append(f"  ({found.rule})", "dim")
    return text


def _folders(data: list[dict[str, Any]]) -> Table:
    return pairs((one["id"], one["folder"]) for one in data)


def _list_waiting(waiting: SyncBrain, output: Output) -> None:
    found: list[Skill] = list(waiting.iter_skills())
    if not found:
        output.notice(f"Nothing waits in {waiting.namespace}.")
    if output.as_json:
        output.data([skill.to_dict() for skill in found])
    elif found:
        made = skill_table(output.width, [], [">steps"])
        for skill in found:
            made.add_row(*skill_row(output.width, skill, [], [str(len(skill.procedure))]))
        output.text(made)
