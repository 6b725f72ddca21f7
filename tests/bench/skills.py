"""Skills, tasks and vectors to measure with: made up from the words that the analysis knows, by a fixed seed.

Words, domains and shapes are as unequally common as in real texts (Zipf): some stand everywhere, most in few skills.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources

import numpy as np

from brain.model.context import ContextFeatures
from brain.model.skill import Skill, SkillCondition, SkillStep

DIMENSION = 384
KINDS = 5_000
"""Kinds of tasks; 100 000 skills have nearly all of them."""
STRUCTURES = (
    "decomposition sequencing branching iteration aggregation transformation validation comparison search optimization"
).split()
PATTERNS = "analysis synthesis evaluation planning diagnosis classification prediction abstraction reflection".split()
SHAPES = "text list structured code unknown".split()
PREPOSITIONS = "of in for with from to into by on against".split()
TEMPLATES = (
    "{v} the {a} {n} {p} the {m}",
    "{v} each {n} {p} the {a} {m}",
    "{v} every {n} and {w} its {m}",
    "first {v} the {n}, then {w} the {m}",
    "{v} the {n} if the {m} is {a}",
)


@lru_cache(maxsize=1)
def _words() -> dict[str, list[str]]:
    """Verbs, nouns and adjectives of the word list, mixed."""
    found: dict[str, list[str]] = {"v": [], "n": [], "a": []}
    with resources.files("brain.analysis").joinpath("english.tsv.gz").open("rb") as raw, gzip.open(raw, "rt") as file:
        for line in file:
            word, kind, *base = line.rstrip("\n").split("\t")
            name = "n" if "n" in kind else kind
            if not base and name in found:
                found[name].append(word)
    random = np.random.default_rng(7)
    return {kind: [str(word) for word in random.permutation(words)] for kind, words in found.items()}


@lru_cache(maxsize=KINDS)
def _kind(number: int) -> dict[str, object]:
    """Structures, patterns and shapes of one kind of task."""
    random = np.random.default_rng(number)
    return {
        "task_structures": sorted(random.choice(STRUCTURES, random.integers(1, 5), replace=False).tolist()),
        "cognitive_patterns": sorted(random.choice(PATTERNS, random.integers(1, 5), replace=False).tolist()),
        "input_shape": str(random.choice(SHAPES)),
        "output_shape": str(random.choice(SHAPES)),
    }


class Source:
    """Skills one after the other; two sources with one seed give the same."""

    def __init__(self, seed: int = 1) -> None:
        self._random = np.random.default_rng(seed)
        self._domains = [f"domain {i}" for i in range(60)]

    def skills(self, count: int, prefix: str = "skill") -> Iterator[Skill]:
        """`count` skills of six steps, four tags, three conditions, with ids of their own."""
        for i in range(count):
            yield self.skill(f"{prefix}-{i:07d}")

    def skill(self, skill_id: str) -> Skill:
        """One skill."""
        domain = self._zipf(len(self._domains))
        features = ContextFeatures(
            **_kind(self._zipf(KINDS)),
            metadata={"task": self.sentence(domain, 2), "domain": self._domains[domain]},
        )
        steps = [self.sentence(domain, 1) for _ in range(6)]
        return Skill(
            id=skill_id,
            name=self.sentence(domain, 1),
            description=self.sentence(domain, 2),
            procedure=[SkillStep(action=step, order=i) for i, step in enumerate(steps)],
            preconditions=[SkillCondition(predicate=f"has {self._word('n', domain)}", description="")],
            postconditions=[
                SkillCondition(predicate=f"made {self._word('n', domain)}", description="") for _ in range(2)
            ],
            tags=[self._word("n", domain) for _ in range(3)] + [self._domains[domain]],
            source_context=features.to_dict(),
            confidence=round(float(self._random.uniform(0.2, 0.9)), 4),
            transfer_count=int(self._random.integers(0, 9)),
        )

    def task(self) -> dict[str, str]:
        """A context to recall for."""
        domain = self._zipf(len(self._domains))
        return {"task": self.sentence(domain, 3), "domain": self._domains[domain]}

    def plan(self) -> dict[str, object]:
        """A context that tells the steps planned."""
        domain = self._zipf(len(self._domains))
        return {**self.task(), "steps": [self.sentence(domain, 1) for _ in range(5)]}

    def sentence(self, domain: int, clauses: int) -> str:
        """Clauses about the things of a domain."""
        return " and ".join(
            TEMPLATES[self._random.integers(len(TEMPLATES))].format(
                v=self._word("v", domain),
                w=self._word("v", domain),
                n=self._word("n", domain),
                m=self._word("n", domain),
                a=self._word("a", domain),
                p=PREPOSITIONS[self._zipf(len(PREPOSITIONS))],
            )
            for _ in range(clauses)
        )

    def _word(self, kind: str, domain: int) -> str:
        """A word of a kind: half of them common to all domains, half of the domain's own."""
        words = _words()[kind]
        own = self._random.random() < 0.5
        return words[(self._zipf(len(words)) + own * (domain + 1) * 131) % len(words)]

    def _zipf(self, size: int) -> int:
        """0..size-1, the first the most often."""
        return min(int(size ** self._random.random()) - 1, size - 1)


class WordEmbedder:
    """Vectors of texts as sums of a random vector for each word: texts with common words are near each other."""

    name = "words"

    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit vectors, float32, shape (texts, 384)."""
        sums = np.array([sum(map(_vector, text.lower().split()), np.zeros(DIMENSION, np.float32)) for text in texts])
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)


@lru_cache(maxsize=100_000)
def _vector(word: str) -> np.ndarray:
    seed = int.from_bytes(word.encode()[:16], "little") % 2**63
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
