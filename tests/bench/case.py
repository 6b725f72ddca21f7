"""What is measured in one place at one size? `Case`: the place, the skills, how often, and the figures so far."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.bench.drafts import BATCH, Drafts
from tests.bench.places import Place
from tests.bench.timing import Times


@dataclass
class Case:
    """One store at one size. `times` are of calls, `numbers` are counts, seconds or megabytes, as their names say."""

    place: Place
    size: int
    drafts: Drafts
    quick: bool
    times: dict[str, Times] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)

    def rounds(self, count: int) -> int:
        """How often something is done: `count` times, a fifth of that in a quick run."""
        return max(5, count // 5) if self.quick else count

    def note(self, prefix: str, found: Mapping[str, Times]) -> None:
        """Keeps times under `prefix` and their names, and shows them on stderr."""
        for name, times in found.items():
            self.times[f"{prefix} {name}"] = times
            share = "  ".join(f"p{share} {times.percentile(share):9.2f}" for share in (10, 50, 95))
            shown = f"{share} ms  {times.rate:8.0f}/s  n {len(times)}"
            self._say(f"{prefix} {name}: {shown}")

    def count(self, name: str, number: float) -> None:
        """Keeps a number, and shows it on stderr."""
        self.numbers[name] = number
        self._say(f"{name}: {number:,.3g}")

    @property
    def spare(self) -> range:
        """Numbers of the batches that are not among the stored skills, for what is written while measuring."""
        first = -(-self.size // BATCH)
        return range(first, first + max(2, self.size // 10 // BATCH))

    def prepare(self) -> None:
        """Makes all skills that will be needed, before anything is measured."""
        self.drafts.prepare(range(self.spare.stop))

    def _say(self, text: str) -> None:
        print(f"  {self.place.kind} {self.size}: {text}", file=sys.stderr, flush=True)
