"""Does it work here? `brain demo`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from brain.cli.ending import NO
from brain.cli.layout import score, table
from brain.cli.opening import opened
from brain.cli.options import AsJson, EmbedderName, Quiet
from brain.cli.output import Output

if TYPE_CHECKING:
    from brain.demo.run import Answer, DemoResult
    from brain.engine.sync import SyncBrain

WIDE = 140
"""Columns from which the table has one line a scenario."""


def demo(
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="LOCATION",
            help="Where to try it: in a namespace of its own, removed afterwards. By default a file in a temporary "
            "folder.",
        ),
    ] = None,
    embedder: EmbedderName = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn three skills, recall them for seven tasks in other domains, and check the answers."""
    from brain.demo.run import run_demo

    output = Output(as_json, quiet)
    output.notice("Learning three skills and recalling them for seven tasks in other domains.")
    with _brain_of_its_own(store, embedder) as brain:
        result, location = run_demo(brain), brain.location
    if as_json:
        output.data(_data(result, location if store else None, embedder))
    else:
        text = f"{result.correct} of {len(result.answers)} recalled correctly"
        output.text(_table(result, output.width), "", Text(text, "bold green" if result.passed else "bold red"))
    if not result.passed:
        raise typer.Exit(NO)


@contextmanager
def _brain_of_its_own(location: str | None, embedder: str | None) -> Iterator[SyncBrain]:
    from brain.demo.run import demo_namespace, forget

    if location is None:
        with (
            tempfile.TemporaryDirectory(prefix="brain-demo-") as folder,
            opened(f"sqlite:///{folder}/demo.db", "default", embedder) as brain,
        ):
            yield brain
        return
    with opened(location, demo_namespace(), embedder) as brain:
        try:
            yield brain
        finally:
            forget(brain)


def _data(result: DemoResult, location: str | None, embedder: str | None) -> dict[str, Any]:
    return {
        "location": location,
        "embedder": embedder,
        "learned": [
            {"outcome": receipt.outcome.value, "skill": receipt.skill.name if receipt.skill else None}
            for receipt in result.learned
        ],
        "scenarios": [_answer_data(answer) for answer in result.answers],
        "correct": result.correct,
        "total": len(result.answers),
    }


def _answer_data(answer: Answer) -> dict[str, Any]:
    scenario = answer.scenario
    numbers = {key: value for key, value in asdict(answer).items() if key != "scenario"}
    asked = {"scenario": scenario.name, "domain": scenario.domain, "task": scenario.task, "expected": scenario.expected}
    return asked | numbers | {"correct": answer.correct}


def _table(result: DemoResult, width: int) -> Table:
    numbers = (">struct", ">seman", ">trans", ">conf", ">comb", ">margin")
    wide = width >= WIDE
    made = table("", *(("scenario", "domain", "expected", "recalled") if wide else ("scenario",)), *numbers, gap=1)
    for answer in result.answers:
        mark = Text("✓", "green") if answer.correct else Text("✗", "red")
        scenario, recalled = answer.scenario, answer.recalled or "nothing"
        name = Text(scenario.name, "bold")
        if wide:
            cells: list[Text | str] = [name, scenario.domain, scenario.expected, recalled]
        else:
            lines = [name, Text(scenario.domain), Text("expected ", "dim").append(scenario.expected, "none")]
            lines.append(Text("recalled ", "dim").append(recalled, "none"))
            cells = [Text("\n").join(lines)]
        scores = (answer.structural, answer.semantic, answer.transfer, answer.confidence, answer.combined)
        made.add_row(mark, *cells, *(score(number) for number in (*scores, answer.margin)))
    return made
