"""How is a store kept in order? `brain stats`, `brain sweep`, `brain migrate`, `brain reembed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from brain.cli.layout import moment, pairs, score, table, visible
from brain.cli.opening import opened, opened_store
from brain.cli.options import AsJson, EmbedderName, Location, Namespace, Quiet
from brain.cli.output import Output
from brain.errors import InputError

if TYPE_CHECKING:
    from brain.model.stats import MirrorState, SchemaChange, Stats
    from brain.store.base import Store
    from brain.store.values import Migration


def stats(
    store: Location = None, namespace: Namespace = "default", as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Sum up a store: its skills, the most used ones, its embeddings and its schema."""
    output = Output(as_json, quiet)
    with opened(store, namespace) as brain:
        found = brain.stats()
    output.data(found.to_dict(), pairs(_totals(found)))
    if found.top_skills and not as_json:
        output.text("", _most_used(found.top_skills))


def sweep(
    store: Location = None, namespace: Namespace = "default", as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Remove the skills that have expired."""
    output = Output(as_json, quiet)
    with opened(store, namespace) as brain, output.progress("Removing expired skills") as advance:
        done = brain.cleanup_expired_skills(advance)
    output.data(done, f"{done['deleted']} of {done['checked']} skills had expired and were removed.")


def migrate(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="List what would be applied, and apply nothing.")
    ] = False,
    vector_index: Annotated[
        bool,
        typer.Option(
            "--vector-index",
            metavar="",
            help="On Neo4j, also make a vector index, for questions in Cypher. Learning gets several times slower.",
        ),
    ] = False,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Bring a store's schema up to date. Every command that opens a brain does so too."""
    from brain.store.migrations import check_usable

    output = Output(as_json, quiet)
    with opened_store(store, namespace) as place:
        if dry_run:
            known = place.migrations()
            check_usable(known, place.location)
            found = [migration for migration in known if migration.state == "pending"]
        else:
            found = place.migrate()
            if vector_index:
                _make_vector_index(place, output)
    if not found:
        output.notice("Nothing is pending: the schema is up to date.")
    if as_json:
        output.data([_migration_data(migration) for migration in found])
    elif found:
        made = table("migration", "state")
        for migration in found:
            made.add_row(_named(migration), migration.state)
        output.text(made)


def _make_vector_index(place: Store, output: Output) -> None:
    make = getattr(place, "make_vector_index", None)
    if make is None:
        raise InputError(f"{place.location} has no vector indexes; Neo4j does. Recall needs none.")
    with output.progress("Copying vectors", place.count()) as advance:
        made = make(advance)
    output.notice(f"{made} vectors are in the vector index skill_embedding_vector.")


def reembed(
    embedder: EmbedderName = None,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Embed every skill anew, with another model or after learning without one."""
    output = Output(as_json, quiet)
    if embedder is None:
        raise InputError("Say which model: --embedder MODEL, or BRAIN_EMBEDDER in the environment.")
    with opened(store, namespace, embedder, check_embedding=False) as brain:
        with output.progress("Embedding", brain.stats().total_skills) as advance:
            count = brain.reembed(advance)
        stored = brain.stats().embedding
    model, dimension = (stored.model, stored.dimension) if stored else (embedder, None)
    data = {"embedded": count, "model": model, "dimension": dimension}
    output.data(data, f"{count} skills embedded with {visible(model)}, {dimension} dimensions.")


def _totals(stats: Stats) -> list[tuple[str, Any]]:
    applied = [migration for migration in stats.migrations if migration.state == "applied"]
    other = [f"{_named(migration)} {migration.state}" for migration in stats.migrations if migration.state != "applied"]
    latest = f"{_named(applied[-1])}, " if applied else ""
    vectors = stats.embedding
    return [
        ("location", stats.location),
        ("namespace", stats.namespace),
        ("skills", Text(str(stats.total_skills), "bold")),
        ("transferable", stats.transferable_skills),
        ("transfers", stats.total_transfers),
        ("mean confidence", score(stats.avg_confidence)),
        ("expiring", f"{stats.expiring_skills} within {stats.expiring_within_hours:g} h"),
        ("embeddings", f"{vectors.model}, {vectors.dimension} dimensions" if vectors else "none"),
        *_mirror_rows(stats.mirror),
        ("schema", f"{latest}{', '.join(other) if other else 'up to date'}"),
    ]


def _mirror_rows(mirror: MirrorState | None) -> list[tuple[str, Any]]:
    if mirror is None:
        return []
    if not mirror.waiting:
        return [("mirror", f"{mirror.location}, nothing waits")]
    return [("mirror", f"{mirror.location}, {mirror.waiting} changes wait since {moment(mirror.since)} UTC")]


def _most_used(top: list[dict[str, Any]]) -> Table:
    made = table("most used", ">conf", ">uses", ">transfers")
    for skill in top:
        made.add_row(
            Text(visible(skill["name"])).append(f"\n{skill['id']}", "dim"),
            score(skill["confidence"]),
            str(skill["usage_count"]),
            str(skill["transfer_count"]),
        )
    return made


def _migration_data(migration: Migration) -> dict[str, Any]:
    return {"version": migration.version, "name": migration.name, "state": migration.state}


def _named(migration: Migration | SchemaChange) -> str:
    return f"V{migration.version:03d}__{migration.name}"
