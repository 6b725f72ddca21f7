"""Is a store as it should be? `brain doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from brain.cli.ending import NO
from brain.cli.layout import visible
from brain.cli.opening import opened
from brain.cli.options import AsJson, Location, Namespace, Quiet
from brain.cli.output import Output

if TYPE_CHECKING:
    from brain.engine.doctor import Diagnosis
    from brain.store.checks import Fault

SHOWN = 10
"""Ids that are shown of one kind of fault; --json gives all."""


def doctor(
    repair: Annotated[
        bool, typer.Option("--repair", metavar="", help="Mend what can be mended without losing skills.")
    ] = False,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check every rule that a store keeps, and say what is wrong; the exit status is 1 if something is, and is left."""
    output = Output(as_json, quiet)
    with opened(store, namespace) as brain:
        with output.progress("Looking", 2 * brain.stats().total_skills) as advance:
            found = brain.examine(repair=repair, progress=advance)
        location = brain.location
    faults, notes = _grouped(found.faults), _grouped(found.notes)
    data = {
        "location": location,
        "namespace": namespace,
        "skills": found.skills,
        "faults": faults,
        "notes": notes,
        "left": found.left,
    }
    output.data(data, *_shown(faults), *_shown(notes), _summed(found, repair))
    if found.left:
        raise typer.Exit(NO)


def _grouped(faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """One object for each check that found something."""
    groups: dict[str, list[Fault]] = {}
    for fault in faults:
        groups.setdefault(fault.check, []).append(fault)
    return [
        {
            "check": check,
            "says": group[0].says,
            "repair": group[0].repair,
            "mended": sum(fault.mended for fault in group),
            "found": [{"id": f.subject, "detail": f.detail, "mended": f.mended} for f in group],
        }
        for check, group in groups.items()
    ]


def _shown(groups: Sequence[dict[str, Any]]) -> list[Text]:
    return [line for group in groups for line in _lines(group)]


def _lines(group: dict[str, Any]) -> list[Text]:
    found = group["found"]
    lines = [Text(f"{len(found)} × ", "bold").append(visible(group["says"]), "none")]
    for one in found[:SHOWN]:
        detail = f"  {visible(one['detail'])}" if one["detail"] else ""
        mended = "  mended" if one["mended"] else ""
        lines.append(Text(f"    {visible(one['id'])}").append(detail, "dim").append(mended, "green"))
    if len(found) > SHOWN:
        lines.append(Text(f"    and {len(found) - SHOWN} more; --json lists them all", "dim"))
    if not group["mended"]:
        lines.append(Text(f"  repair: {visible(group['repair'])}"))
    return lines


def _summed(found: Diagnosis, repair: bool) -> str:
    looked = f"{_counted(found.skills, 'skill')} looked at"
    if not found.faults:
        return f"Nothing is wrong: {looked}."
    total, left = _counted(len(found.faults), "fault"), found.left
    if repair:
        return f"{total} found, {len(found.faults) - left} mended, {left} left; {looked}."
    return f"{total} found; {looked}. brain doctor --repair mends what can be mended."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
