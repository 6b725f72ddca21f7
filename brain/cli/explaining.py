"""How is an explanation shown to people? A tree: the sum, what it rests on, what would change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text
from rich.tree import Tree

from brain.cli.layout import pairs, plain, score, table, visible

if TYPE_CHECKING:
    from rich.table import Table

    from brain.model.candidate import TransferCandidate


def explanation(candidate: TransferCandidate) -> Tree:
    """`candidate.explain()` as a tree."""
    found = candidate.explain()
    rank = found["rank"] or "-"
    tree = Tree(Text(f"{rank}  {visible(candidate.skill.name)}  {score(found['combined'])}", "bold"), guide_style="dim")
    tree.add(_sum(found["dimensions"]))
    tree.add(pairs(_rows(found)))
    if found["steps"]:
        tree.add(_steps(found["steps"]))
    if candidate.adaptations:
        tree.add(
            pairs((f"adapt: {key.replace('_', ' ')}", plain(value)) for key, value in candidate.adaptations.items())
        )
    return tree


def _sum(dimensions: dict[str, Any]) -> Table:
    made = table("dimension", ">score", ">weight", ">share of the sum")
    for name, part in dimensions.items():
        made.add_row(name, score(part["raw"]), f"{part['weight']:.2f}", score(part["contribution"]))
    return made


def _rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    names = found["names"]
    needed, most = names["needed"], max(names["task"], names["skill"])
    counted = names["shared"] >= needed["shared"] and most >= needed["on_one_side"]
    counts = f"{names['task']} in the task, {names['skill']} in the skill, {names['shared']} in both; "
    counts += f"they count from {needed['shared']} in both and {needed['on_one_side']} on one side"
    rows = [("measure", "; ".join(_measure(part) for part in found["measures"]))]
    if found["identical_context"]:
        rows.append(("identical", "learned from this very task, so structure and meaning are 1"))
    rows += [(key, plain(found[key])) for key in ("words", "structures", "patterns")]
    if not counted:
        rows.append(("names", counts))
    return [
        *rows,
        ("transfers", _transfers(found["transfers"])),
        ("margin to min_score", f"{found['margin_to_min_score']:+.3f}"),
        ("margin to floor", f"{found['margin_to_floor']:+.3f}"),
        ("to be first", _to_be_first(found["to_be_first"])),
    ]


def _measure(part: dict[str, Any]) -> str:
    raw = "too low to tell" if part["raw"] is None else score(part["raw"])
    return f"{part['measure']} {raw}, on the scale {score(part['calibrated'])}"


def _transfers(found: dict[str, Any]) -> str:
    if not found["count"]:
        return "none yet"
    low, high = found["interval"]
    return f"{found['successes']} of {found['count']} succeeded; true rate {low:.2f} to {high:.2f} (95 %)"


def _to_be_first(found: dict[str, Any] | None) -> str:
    if found is None:
        return "it is the first"
    trails = f"trails {found['first'] or 'min_score'} by {score(found['trails_by'])}"
    if found["dimension"] is None:
        return f"{trails}; no single dimension could make up for it"
    return f"{trails}; {found['dimension']} would have to rise to {score(found['value'])}"


def _steps(found: list[dict[str, Any]]) -> Table:
    made = table("step of the task", "step of the skill", ">alike", ">share")
    for pair in found:
        alike, share = score(pair["similarity"]), f"{pair['share']:.0%}"
        made.add_row(visible(pair["step"]), visible(pair["skill_step"]), alike, share)
    return made
