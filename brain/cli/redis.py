"""How does a Redis follow a store, or give it skills? `brain redis import | link | status | sync | verify | unlink`.

The mirror is noted in the store. Where it demands a password, give its location with --mirror or in BRAIN_MIRROR; the
store notes none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from brain.cli.ending import NO
from brain.cli.layout import moment, pairs, visible, waiting_data
from brain.cli.moving import ReportFile, ToNamespace, WithoutVectors, move
from brain.cli.opening import opened_store
from brain.cli.options import AsJson, Location, Namespace, Quiet
from brain.cli.output import Output, complain
from brain.errors import InputError, StoreError, StoreUnavailableError

if TYPE_CHECKING:
    from brain.engine.mirror import Difference, Mirror
    from brain.store.base import Store
    from brain.store.values import Waiting

SHOWN = 10
"""Ids that are shown of one kind of difference."""
LISTED = 1_000
"""Differences that --json lists; it counts them all."""
FOLLOWED_EVERY = 1.0
"""Seconds between two looks of `sync --follow`."""

app = typer.Typer(no_args_is_help=True, help="Keep a Redis that OrKa reads beside a store, or take its skills over.")

MirrorLocation = Annotated[
    str | None,
    typer.Option(
        "--mirror",
        envvar="BRAIN_MIRROR",
        metavar="LOCATION",
        help="The mirror with its credentials, if it needs some: redis://user:password@host:6379/0.",
    ),
]


@app.command("import")
def import_(
    source: Annotated[str, typer.Argument(metavar="REDIS", help="redis://host:6379/0, with ?prefix= if it has one.")],
    to: Annotated[
        str | None,
        typer.Option("--to", envvar="BRAIN_STORE", metavar="LOCATION", help="The store to write to."),
    ] = None,
    namespace: Namespace = "default",
    to_namespace: ToNamespace = None,
    without_vectors: WithoutVectors = False,
    report: ReportFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Take over the skills of a Redis that OrKa wrote. Nothing is written there.

    What is newer in the target stays. Cut short, the same command goes on; repeated, it doubles nothing.
    """
    from brain.store.location import REDIS_SCHEMES

    if source.partition("://")[0] not in REDIS_SCHEMES:
        raise InputError("Skills are imported from a Redis, such as redis://localhost:6379/0. Others: brain copy.")
    move(source, to, namespace, to_namespace, without_vectors, report, Output(as_json, quiet))


@app.command()
def link(
    mirror: Annotated[str, typer.Argument(metavar="REDIS", help="redis://user:password@host:6379/0")],
    take_over: Annotated[
        bool, typer.Option("--take-over", metavar="", help="Even if the Redis is the mirror of another store.")
    ] = False,
    store: Location = None,
    namespace: Namespace = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Note a mirror in the store: every change from now on goes there, and all that is stored, with the next sync."""
    from brain.engine.mirror import Mirror

    output = Output(as_json, quiet)
    with opened_store(store, namespace) as place:
        place.migrate()
        made = Mirror(place, mirror)
        try:
            news = made.link()
            _claim(made, take_over, news)
            waiting = place.waiting()
        finally:
            made.close()
    data = {"mirror": made.location, "news": news, **waiting_data(waiting)}
    said = "is the mirror from now on" if news else "was the mirror already"
    output.data(data, f"{made.location} {said}; {_waiting_text(waiting)}. brain redis sync delivers it.")


def _claim(made: Mirror, take_over: bool, news: bool) -> None:
    try:
        made.claim(take_over=take_over)
    except StoreUnavailableError as error:
        complain(f"{error} Until it does, everything waits in the store.", "warning")
    except StoreError:
        if news:
            made.unlink()
        raise


@app.command()
def unlink(
    store: Location = None,
    namespace: Namespace = "default",
    mirror: MirrorLocation = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Take the mirror off the store. What the Redis holds stays there."""
    output = Output(as_json, quiet)
    with _linked(store, namespace, mirror) as (_, linked):
        linked.unlink()
        try:
            linked.release()
        except StoreError as error:
            complain(f"The Redis could not be told, so that another store has to take it over: {error}", "warning")
        location = linked.location
    output.data({"mirror": None, "was": location}, f"{location} is no longer the mirror.")


@app.command()
def status(
    store: Location = None,
    namespace: Namespace = "default",
    mirror: MirrorLocation = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Tell what the mirror has not got yet, and since when, and whether it answers."""
    output = Output(as_json, quiet)
    with _linked(store, namespace, mirror) as (place, linked):
        waiting, noted = place.waiting(), place.mirror()
        problem = linked.problem()
        location = place.location
    data = {
        "location": location,
        "namespace": namespace,
        "mirror": noted,
        **waiting_data(waiting),
        "answers": problem is None,
        "problem": problem,
    }
    rows: list[tuple[str, Any]] = [
        ("location", location),
        ("namespace", namespace),
        ("mirror", noted),
        ("", _waiting_text(waiting)),
        ("state", Text("answers", "green") if problem is None else Text(visible(problem), "yellow")),
    ]
    output.data(data, pairs(rows))


@app.command()
def sync(
    follow: Annotated[
        bool, typer.Option("--follow", metavar="", help="Go on delivering until Ctrl-C, also through outages.")
    ] = False,
    store: Location = None,
    namespace: Namespace = "default",
    mirror: MirrorLocation = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Deliver what waits to the mirror, and what a restarted Redis may have lost."""
    output = Output(as_json, quiet)
    with _linked(store, namespace, mirror) as (place, linked):
        if follow:
            _follow(linked, output)
        with output.progress("Delivering", place.waiting().count) as advance:
            done = linked.sync(advance)
        waiting = place.waiting()
    data = {"mirror": linked.location, "delivered": done, **waiting_data(waiting)}
    output.data(data, f"{done} changes delivered to {linked.location}; {_waiting_text(waiting)}.")


def _follow(linked: Mirror, output: Output) -> None:
    """Delivers until it is interrupted. An outage is told once, and its end."""
    is_down = False
    while True:
        try:
            done = linked.sync()
            if done or is_down:
                output.notice(f"{done} changes delivered to {linked.location}.")
            is_down = False
        except StoreUnavailableError as error:
            if not is_down:
                complain(f"{error} It is tried again.", "warning")
            is_down = True
        time.sleep(FOLLOWED_EVERY)


@app.command()
def verify(
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", metavar="", help="Make the mirror as the store is. Skills that only the mirror has are removed."
        ),
    ] = False,
    store: Location = None,
    namespace: Namespace = "default",
    mirror: MirrorLocation = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare store and mirror; the exit status is 1 if they differ and that was not repaired."""
    output = Output(as_json, quiet)
    counts, listed = dict.fromkeys(("missing", "different", "extra"), 0), list["Difference"]()
    with _linked(store, namespace, mirror) as (place, linked):
        if repair:
            linked.claim()
        with output.progress("Comparing", place.count()) as advance:
            for page in linked.differences(repair=repair, progress=advance):
                for found in page:
                    counts[found.kind] += 1
                    if len(listed) < LISTED:
                        listed.append(found)
        waiting, differing = place.waiting(), sum(counts.values())
    rows = [{"id": d.skill_id, "kind": d.kind, "details": list(d.details)} for d in listed]
    data = {"mirror": linked.location, **counts, "repaired": repair, "differences": rows, **waiting_data(waiting)}
    output.data(data, *(_shown(kind, counts[kind], listed) for kind in counts if counts[kind]))
    if not as_json:
        output.text(_verdict(differing, repair, waiting))
    if differing and not repair:
        raise typer.Exit(NO)


def _shown(kind: str, count: int, listed: list[Difference]) -> Text:
    lines = Text(f"{count} × ", "bold").append(f"{kind} in the mirror", "none")
    some = [found for found in listed if found.kind == kind][:SHOWN]
    for found in some:
        lines.append(f"\n    {visible(found.skill_id)}", "none").append(f"  {visible(', '.join(found.details))}", "dim")
    if count > len(some):
        lines.append(f"\n    and {count - len(some)} more", "dim")
    return lines


def _verdict(differing: int, repair: bool, waiting: Waiting) -> str:
    if not differing:
        return f"Store and mirror are the same; {_waiting_text(waiting)}."
    if repair:
        return f"{differing} differences were repaired."
    said = f"{differing} differences; {_waiting_text(waiting)}."
    return f"{said} brain redis sync delivers what waits, brain redis verify --repair makes the mirror as the store is."


@contextmanager
def _linked(store: str | None, namespace: str, mirror: str | None) -> Iterator[tuple[Store, Mirror]]:
    """A store and the mirror that is noted in it; ends with status 1 if none is."""
    from brain.engine.mirror import mirror_of

    with opened_store(store, namespace) as place:
        place.migrate()
        linked = mirror_of(place, mirror)
        if linked is None:
            complain(f"{place.location} has no mirror. brain redis link REDIS notes one.")
            raise typer.Exit(NO)
        try:
            yield place, linked
        finally:
            linked.close()


def _waiting_text(waiting: Waiting) -> str:
    if not waiting.count:
        return "nothing waits"
    return f"{waiting.count} changes wait, the oldest since {moment(waiting.since)} UTC"
