"""How do skills move to another place? `brain copy`, and the report that `brain redis import` gives too."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from brain.cli.layout import pairs, visible
from brain.cli.opening import opened_store
from brain.cli.options import AsJson, Namespace, Quiet
from brain.cli.output import Output
from brain.errors import InputError

if TYPE_CHECKING:
    from brain.engine.moving import Moved, Skipped

SHOWN = 5
"""Ids that are shown of one reason; --report has all."""

ToNamespace = Annotated[
    str | None,
    typer.Option("--to-namespace", metavar="NAME", help="Namespace of the target. By default the same."),
]
WithoutVectors = Annotated[
    bool, typer.Option("--without-vectors", metavar="", help="Leave the vectors; brain reembed makes new ones.")
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write all that was skipped there, one JSON object a line."),
]


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The location to copy from.", show_default=False)],
    target: Annotated[str, typer.Argument(metavar="TO", help="The location to copy to.", show_default=False)],
    namespace: Namespace = "default",
    to_namespace: ToNamespace = None,
    without_vectors: WithoutVectors = False,
    report: ReportFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Copy all skills to another place, with edges, history, versions, expiry, vectors and traces.

    What is newer in the target stays. Cut short, the same command goes on.
    """
    move(source, target, namespace, to_namespace, without_vectors, report, Output(as_json, quiet))


def move(
    source: str,
    target: str | None,
    namespace: str,
    to_namespace: str | None,
    without_vectors: bool,
    report: Path | None,
    output: Output,
) -> None:
    """Copies, and tells what became of it."""
    from brain.engine.moving import copy as copied

    with (
        opened_store(source, namespace, existing=True) as here,
        opened_store(target, to_namespace or namespace) as there,
        telling(report) as told,
        output.progress("Copying", here.count()) as advance,
    ):
        moved = copied(here, there, vectors=not without_vectors, progress=advance, tell=told.tell)
        names = {"from": here.location, "to": there.location}
    tell_of(moved, told, names, output)


class Telling:
    """What was skipped in a copy, as it is told: every one to a file, some of each reason to be shown."""

    def __init__(self, write: Callable[[Skipped], Any]) -> None:
        self._write = write
        self._examples: dict[tuple[str, str], list[Skipped]] = {}

    def tell(self, one: Skipped) -> None:
        """Notes one that was skipped."""
        self._write(one)
        some = self._examples.setdefault((one.kind, one.reason), [])
        if len(some) < SHOWN:
            some.append(one)

    def groups(self, skipped: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
        """How many were skipped by kind and reason, with some of each."""
        return [
            {"kind": kind, "reason": reason, "count": n, "examples": list(map(asdict, self._examples[kind, reason]))}
            for (kind, reason), n in skipped.items()
        ]


@contextmanager
def telling(report: Path | None) -> Iterator[Telling]:
    """What notes all that is skipped, one JSON object a line, in `report` if there is to be one."""
    if report is None:
        yield Telling(lambda _: None)
        return
    try:
        file = report.open("w", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{report} cannot be written ({error.strerror}). Name another file.") from error
    with file:
        yield Telling(lambda one: file.write(json.dumps(asdict(one)) + "\n"))


def tell_of(moved: Moved, told: Telling, names: dict[str, str], output: Output) -> None:
    """Says what was written and what was not."""
    skipped = told.groups(moved.skipped)
    data = {
        **names,
        "written": moved.written,
        "unchanged": moved.unchanged,
        "edges": moved.edges,
        "skipped": skipped,
    }
    rows: list[tuple[str, Any]] = [
        ("from", names["from"]),
        ("to", names["to"]),
        ("skills written", Text(str(moved.written), "bold")),
        ("as they were", moved.unchanged),
        ("edges written", moved.edges),
        ("skipped", sum(moved.skipped.values())),
    ]
    output.data(data, pairs(rows), *map(skipped_lines, skipped))


def skipped_lines(group: dict[str, Any]) -> Text:
    """One reason, how many were skipped for it, and some of them."""
    lines = Text(f"{group['count']} × ", "bold").append(f"{group['kind']} skipped: {group['reason']}", "none")
    for one in group["examples"]:
        lines.append(f"\n    {visible(one['subject'])[:200]}", "none")
        if one["detail"]:
            lines.append(f"  {visible(one['detail'])[:200]}", "dim")
    if group["count"] > len(group["examples"]):
        lines.append(f"\n    and {group['count'] - len(group['examples'])} more; --report FILE lists them all", "dim")
    return lines
