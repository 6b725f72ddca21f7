"""In which order are the agents run? What waits for what, and a stable order that keeps to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from brain.errors import Problem
from brain.workflow.records import Agent, Workflow
from brain.workflow.references import References

if TYPE_CHECKING:
    from jinja2 import Template


@dataclass(frozen=True)
class Step:
    """One agent that is run: its compiled prompts, None where it has none, and what they read."""

    agent: Agent
    template: Template | None
    reads: References
    system: Template | None = None


@dataclass
class Plan:
    """A workflow that was checked. `steps` are in the order of the run; `waits` has for each agent those before it.

    `wanted` has for each agent the fields of its answer that others read; "" stands for all of it, read by a brain.
    """

    workflow: Workflow
    steps: list[Step]
    waits: dict[str, frozenset[str]]
    wanted: dict[str, frozenset[str]] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)

    @property
    def reads_input(self) -> bool:
        """Whether any agent reads what the workflow is run on."""
        return any("input" in step.reads.names or _asks_for_input(step) for step in self.steps)

    @property
    def has_brain(self) -> bool:
        """Whether skills are read or written."""
        return any(step.agent.type == "brain" for step in self.steps)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """What waits for what, as (before, after)."""
        return tuple((before, after) for after, others in self.waits.items() for before in sorted(others))

    @property
    def groups(self) -> list[list[str]]:
        """Ids that can be run at once, group after group."""
        found: list[list[str]] = []
        level: dict[str, int] = {}
        for step in self.steps:
            name = step.agent.id
            level[name] = 1 + max((level[before] for before in self.waits[name]), default=-1)
            if level[name] == len(found):
                found.append([])
            found[level[name]].append(name)
        return found


def _asks_for_input(step: Step) -> bool:
    is_silent = step.template is None and step.agent.type == "brain"
    return is_silent or bool({"get_input", "get_current_topic"} & step.reads.names.keys())


def in_order(names: Sequence[str], waits: Mapping[str, Iterable[str]]) -> list[str]:
    """`names` so that each comes after those it waits for, otherwise as they stand. They must have no cycle."""
    place = {name: i for i, name in enumerate(names)}
    open_count = {name: sum(other in place for other in waits.get(name, ())) for name in names}
    after: dict[str, list[str]] = {name: [] for name in names}
    for name in names:
        for other in waits.get(name, ()):
            after.get(other, []).append(name)
    ready, order = [place[name] for name in names if not open_count[name]], list[str]()
    heapify(ready)
    while ready:
        name = names[heappop(ready)]
        order.append(name)
        for following in after[name]:
            open_count[following] -= 1
            if not open_count[following]:
                heappush(ready, place[following])
    return order


def find_cycle(names: Sequence[str], waits: Mapping[str, Iterable[str]]) -> list[str]:
    """Names that wait for each other in a ring, the first one again at the end; empty if there are none."""
    finished: set[str] = set()
    for start in names:
        path: list[str] = []
        trail = [iter([start])]
        while trail:
            following = next(trail[-1], None)
            if following is None:
                trail.pop()
                if path:
                    finished.add(path.pop())
            elif following in path:
                return [*path[path.index(following) :], following]
            elif following not in finished:
                path.append(following)
                trail.append(iter(sorted(waits.get(following, ()))))
    return []
