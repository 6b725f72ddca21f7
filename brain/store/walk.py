"""How is the graph walked? Breadth first, a level at a time, whatever the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


def breadth_first(
    start: str, max_depth: int, neighbours: Callable[[Sequence[str]], Iterable[str]]
) -> list[tuple[int, str]]:
    """(distance, id) of everything within `max_depth` steps of `start`, nearest first, then by id.

    `neighbours` gives the ids one step away from any of some ids.
    """
    distance, frontier = {start: 0}, [start]
    for depth in range(1, max_depth + 1):
        frontier = sorted(found for found in set(neighbours(frontier)) if found not in distance)
        if not frontier:
            break
        distance.update(dict.fromkeys(frontier, depth))
    return sorted((d, found) for found, d in distance.items() if d)
