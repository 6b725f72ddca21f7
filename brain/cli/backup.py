"""How are all skills kept in one file? `brain dump` and `brain load`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from brain.cli.files import STDIN
from brain.cli.layout import pairs
from brain.cli.moving import ReportFile, WithoutVectors, skipped_lines, tell_of, telling
from brain.cli.opening import opened_store
from brain.cli.options import AsJson, Location, Namespace, Quiet
from brain.cli.output import Output
from brain.errors import InputError

if TYPE_CHECKING:
    from brain.engine.moving import Existing

Replace = Annotated[
    bool, typer.Option("--replace", metavar="", help="Put what comes in place of what has its id and differs.")
]
Skip = Annotated[bool, typer.Option("--skip", metavar="", help="Leave what is there, and what comes out.")]
DryRun = Annotated[bool, typer.Option("--dry-run", metavar="", help="Only check, and write nothing.")]


def dump(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The file to write; it is compressed if its name ends with .gz.", show_default=False
        ),
    ],
    store: Location = None,
    namespace: Namespace = "default",
    report: ReportFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write all skills to one file, with edges, history, versions, expiry, vectors and traces.

    The file is there when it is whole, and only you may read it. An earlier dump is replaced, another file is not.
    """
    from brain.engine.dump import dump as dumped

    output = Output(as_json, quiet)
    if str(file) == STDIN:
        raise InputError("A dump is a file that stands there when it is whole. Name one, such as skills.jsonl.gz.")
    with opened_store(store, namespace, existing=True) as source, telling(report) as told:
        source.migrate()
        with output.progress("Dumping", source.count()) as advance:
            done = dumped(source, file, progress=advance, tell=told.tell)
        location = source.location
    counts = {"skills": done.skills, "traces": done.traces, "edges": done.edges}
    skipped = told.groups(done.skipped)
    data = {"from": location, "namespace": namespace, "file": str(file), **counts, "skipped": skipped}
    rows: list[tuple[str, Any]] = [("from", location), ("file", file), ("skills", Text(str(done.skills), "bold"))]
    rows += [("traces", done.traces), ("edges", done.edges), ("skipped", sum(done.skipped.values()))]
    output.data(data, pairs(rows), *map(skipped_lines, skipped))


def load(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that brain dump wrote.", show_default=False)],
    replace: Replace = False,
    skip: Skip = False,
    renew: Annotated[
        bool,
        typer.Option("--renew", metavar="", help="Let what has expired since live on from now, instead of leaving it."),
    ] = False,
    without_vectors: WithoutVectors = False,
    dry_run: DryRun = False,
    store: Location = None,
    namespace: Namespace = "default",
    report: ReportFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Bring back the skills of a file that brain dump wrote.

    The file is checked to its end before anything is written: one that is damaged, or has other skills of an id that is
    taken, changes nothing. Cut short, the same command goes on.
    """
    from brain.engine.dump import check
    from brain.engine.dump import load as loaded
    from brain.engine.dumpfile import DumpFile

    output, existing = Output(as_json, quiet), chosen(replace, skip)
    with (
        DumpFile(file) as source,
        opened_store(store, namespace) as target,
        telling(report) as told,
    ):
        with output.progress("Checking", source.size) as advance:
            contents = check(source, target, existing=existing, renew=renew, progress=advance)
        names = {"from": str(file), "to": target.location}
        if dry_run:
            counts = asdict(contents)
            output.data({**names, **counts}, pairs([*names.items(), *counts.items()]))
            return
        with output.progress("Loading", contents.skills) as advance:
            moved = loaded(
                source,
                target,
                existing=existing,
                vectors=not without_vectors,
                renew=renew,
                progress=advance,
                tell=told.tell,
            )
    tell_of(moved, told, names, output)


def chosen(replace: bool, skip: bool) -> Existing | None:
    """What is to become of a skill that has the id of one that comes; None if nobody said."""
    from brain.engine.moving import Existing

    if replace and skip:
        raise InputError("--replace and --skip exclude each other. Leave one out.")
    return Existing.REPLACE if replace else Existing.SKIP if skip else None
