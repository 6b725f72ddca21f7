"""How do the figures reach a reader? Tables for examples/benchmarks.md, plots beside it, a summary for the terminal."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.case import Case
from tests.bench.limits import LIMITS, Figures
from tests.bench.parts import FILE, SPEED, replace_part
from tests.bench.plot import Line, plot

COMMAND = "make bench"
PLOTS = {
    "recall": ("Warm recall, p50", ["task recall", "plan recall", "plan numpy scan", "task Cypher scan", "task floor"]),
    "write": ("Learn and feedback, p50", ["write, learn", "write, feedback", "write, floor"]),
    "first": (
        "First recall of a new process",
        ["first recall of a new process, snapshot", "first recall of a new process, no snapshot"],
    ),
}
FLOORS = {
    "task": "task floor",
    "plan": "plan floor",
    "write": "write, floor",
    "walk": "walk, floor",
    "sweep": "sweep, floor",
}
"""The floor of the turns in which a figure was measured, by how its name begins."""
GROWTH = (
    "task recall",
    "plan recall",
    "plan numpy scan",
    "task Cypher scan",
    "write, learn",
    "write, feedback",
    "walk, depth 2",
    "walk, depth 4",
    "sweep, nothing expired",
)


@dataclass
class Results:
    """All figures of one run, as plain data."""

    cases: list[dict[str, Any]]
    about: dict[str, str]

    @classmethod
    def of(cls, cases: Sequence[Case], versions: dict[str, str], seconds: float, quick: bool) -> Results:
        """The figures of some cases."""
        found = [
            {
                "store": case.place.kind,
                "size": case.size,
                "floor": case.place.floor_name,
                "plain": case.place.plain_name,
                "times": {
                    name: {
                        "p10": times.percentile(10),
                        "p50": times.p50,
                        "p95": times.p95,
                        "p99": times.percentile(99),
                        "rate": times.rate,
                        "n": len(times),
                    }
                    for name, times in case.times.items()
                    if len(times)
                },
                "numbers": case.numbers,
            }
            for case in cases
        ]
        about = {
            "machine": _machine(),
            "versions": ", ".join(
                [f"Python {platform.python_version()}", f"numpy {np.__version__}", *versions.values()]
            ),
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "minutes": f"{seconds / 60:.0f}",
            "repetitions": "a fifth of the usual repetitions" if quick else "the usual repetitions",
            "load": f"{os.getloadavg()[0]:.0f}" if hasattr(os, "getloadavg") else "unknown",
        }
        return cls(found, about)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {"about": self.about, "cases": self.cases}

    def verdicts(self) -> list[list[str]]:
        """One row a limit, store and size."""
        every = [Figures(c["store"], c["size"], c["times"], c["numbers"]) for c in self.cases]
        rows = [limit.row(figures) for limit in LIMITS for figures in every]
        return [row for row in rows if row]


def summary(results: Results) -> str:
    """The limits as plain text."""
    rows = results.verdicts()
    width = max((len(row[0]) for row in rows), default=0)
    lines = [
        f"{name:{width}} {store:6} {size:>8} {figure:>28} ({bound}) {verdict.strip('*')}"
        for name, store, size, figure, bound, _, verdict in rows
    ]
    missed = sum(row[-1] != "met" for row in rows)
    return "\n".join([*lines, f"{len(rows) - missed} of {len(rows)} limits are met"])


def write(results: Results) -> None:
    """Replaces the part about speed and its plots."""
    for name, (title, names) in PLOTS.items():
        lines = [line for store in _stores(results) for line in _lines(results, store, names)]
        if any(len(line.points) > 1 for line in lines):
            (FILE.parent / f"speed-{name}.svg").write_text(plot(title, "skills stored", "ms", lines), "utf-8")
    replace_part(SPEED, document(results))
    print(f"the tables are in {os.path.relpath(FILE)}")


def document(results: Results) -> str:
    """The part as text."""
    about = results.about
    head = ["limit", "store", "skills", "measured", "allowed", "measured / allowed", ""]
    verdicts = results.verdicts()
    missed = sum(row[-1] != "met" for row in verdicts)
    plots = "\n".join(f"![{title}](speed-{name}.svg)" for name, (title, _) in PLOTS.items() if _file(name).exists())
    tables = "\n\n".join(_table_of(case) for case in results.cases)
    return f"""{SPEED}

Made by `{COMMAND}` on {about["date"]} in {about["minutes"]} minutes, with {about["repetitions"]},
on {about["machine"]} (load {about["load"]} at the end);
{about["versions"]}.
The machine is shared, so read ratios, not milliseconds: what is compared was measured in turns, in one run. BLAS has
one thread on both sides.

Skills have six steps, four tags, three conditions, a shape and a vector of 384 dimensions; `tests/bench/skills.py`
makes them. A "task" is a bare request, a "plan" tells five steps. Recall is the whole call for the best five, analysis
of the request and reasons included, but for the encoding of the request as a vector, which is shown beside it. The
numpy scan scores every skill from plain arrays and neither analyses the request nor fetches the skills that it found;
"recall by a numpy scan" does all that recall does, with the scan's median in place of the index's scoring.
The Cypher scan scores structure, cosine and history in the server, without the texts. `learn` is timed without the
encoding too.

## Limits

{len(verdicts) - missed} of {len(verdicts)} are met.

{markdown([head, *verdicts])}

## Cost against size

Medians in least round trips ({_floors(results)}) of the same turns.

{markdown(_growth(results))}

{plots}

## All figures

Milliseconds; rates are calls a second, or skills a second where it says "a skill". p10 is what a quiet machine comes
near to.

{tables}
"""


def markdown(rows: list[list[str]]) -> str:
    """A table whose first row is its head; numbers stand right."""
    head, *body = rows
    rule = ["---", *("---:" if _is_number(cell) else "---" for cell in (body[0][1:] if body else head[1:]))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def _growth(results: Results) -> list[list[str]]:
    """Medians by the floor of their turns: a row for each figure and store, a column for each size."""
    sizes = sorted({case["size"] for case in results.cases})
    rows = [["what", "store", *(f"{size:,}" for size in sizes)]]
    for name in GROWTH:
        for store in _stores(results):
            by_size = {c["size"]: c["times"] for c in results.cases if c["store"] == store and name in c["times"]}
            cells = [_in_floors(by_size[size], name) if size in by_size else "" for size in sizes]
            if by_size:
                rows.append([name, store, *cells])
    return rows


def _in_floors(times: dict[str, Any], name: str) -> str:
    floor = next(floor for prefix, floor in FLOORS.items() if name.startswith(prefix))
    return f"{times[name]['p50'] / times[floor]['p50']:.3g}"


def _floors(results: Results) -> str:
    named = {case["store"]: case["floor"] for case in results.cases}
    return ", ".join(f"{floor} on {store}" for store, floor in named.items())


def _table_of(case: dict[str, Any]) -> str:
    rows = [["what", "p10", "p50", "p95", "rate", "n"]]
    for name, times in case["times"].items():
        said = name.replace("write floor", f"{case['floor']} as a write").replace("floor", case["floor"])
        said = said.replace(" plain", f" {case['plain']}" if "import" in said else " plain deletes")
        rows.append(
            [said, *(f"{times[key]:,.3f}" for key in ("p10", "p50", "p95")), f"{times['rate']:,.0f}", str(times["n"])]
        )
    numbers = [["what", "number"], *([name, f"{number:,.3g}"] for name, number in case["numbers"].items())]
    title = f"### {case['store']}, {case['size']:,} skills"
    return f"{title}\n\n{markdown(rows)}\n\n{markdown(numbers)}"


def _lines(results: Results, store: str, names: Sequence[str]) -> list[Line]:
    lines = []
    for name in names:
        points = [
            (c["size"], c["times"][name]["p50"]) for c in results.cases if c["store"] == store and name in c["times"]
        ]
        if points:
            lines.append(
                Line(f"{store}: {name.removeprefix('write, ').removeprefix('first recall of a new process, ')}", points)
            )
    return lines


def _stores(results: Results) -> list[str]:
    return list(dict.fromkeys(case["store"] for case in results.cases))


def _file(name: str) -> Path:
    return FILE.parent / f"speed-{name}.svg"


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").isdigit()


def _machine() -> str:
    model = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = (line.partition(":") for line in info.read_text("utf-8").splitlines())
        model = next((value.strip() for key, _, value in lines if key.strip() == "model name"), "")
    return f"{os.cpu_count()} cores of {model or platform.machine()}, {platform.system()}"
