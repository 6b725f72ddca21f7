"""What does a skill graph look like after half a year? Makes one of some 250 skills to explore, always the same.

    python examples/sample_graph.py neo4j://neo4j:password@localhost:7687

Procedures begin in one domain, are recalled in others, work or fail there, are learned anew, used, and forgotten where
nobody uses them. Every verb is a public one; only the clock is the script's own. The words stand in
`sample_words.toml`; the first three skills, and what they were transferred to, are those of `brain demo`.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

from brain import Brain, BrainError, Skill, SyncBrain
from brain.demo.scenarios import LESSONS, SCENARIOS

NAMESPACE = "sample"
SEED = 11
WEEKS = 26
ACTION = timedelta(minutes=20)
"""Time between two things that happen in a week."""

TRIED = 1.2
"""Chance that a skill is tried on something new in a week, over the square root of how many there are of its kind."""
AT_HOME = 0.7
"""Share of trials that stay within the group of domains."""
WORKS_AT_HOME, WORKS_ABROAD = 0.85, 0.6
"""Share of trials that succeed, within the group of domains and beyond it."""
USED = 0.85
"""Chance in a week that a skill which is about to expire is used in its own domain, and so lives on."""


@dataclass
class Calendar:
    """A clock that the sample moves."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True)
class Job:
    """A kind of procedure on one thing of one domain."""

    kind: str
    domain: str
    thing: str

    @property
    def skill_id(self) -> str:
        return _slug(f"{self.kind} {self.thing}")


@dataclass
class HalfYear:
    """What happened in half a year, told to a brain."""

    brain: SyncBrain
    calendar: Calendar
    words: dict[str, Any]
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))
    live: dict[str, Job] = field(default_factory=dict)
    runs: int = 0

    def tell(self) -> None:
        """Week by week; the calendar ends where it stood before."""
        end = self.calendar.now
        begins = {kind: self.chance.randrange(WEEKS // 3) for kind in self.words["procedures"]}
        for week in range(WEEKS):
            self.calendar.now = end - timedelta(weeks=WEEKS - week)
            self._demo(week)
            for kind in (kind for kind, start in begins.items() if start == week):
                home = self.words["procedures"][kind]["from"]
                self._learn(Job(kind, home, self._things(kind, home)[0]))
            for skill_id, job in list(self.live.items()):
                skill = self.brain.get_skill(skill_id)
                if skill is None:
                    del self.live[skill_id]
                else:
                    self._use(skill, job)
                    self._try_elsewhere(skill, job)
            self.brain.cleanup_expired_skills()
        self.calendar.now = end - timedelta(days=1)
        self._compose()
        self._relate()
        self.calendar.now = end
        self.brain.cleanup_expired_skills()

    def _demo(self, week: int) -> None:
        """The demo's lessons in the first week, three of its scenarios in every other one."""
        if week == 0:
            for lesson in LESSONS:
                self.brain.observe(**lesson.execution, skill_id=_slug(lesson.skill_name))
            return
        for i in range(3 * week, 3 * week + 3):
            scenario = SCENARIOS[i % len(SCENARIOS)]
            self._tick()
            self.brain.feedback(_slug(scenario.expected), scenario.context, success=True)

    def _try_elsewhere(self, skill: Skill, job: Job) -> None:
        """A skill is applied to something that has none of its kind; if that works, one is learned from it."""
        alike = sum(other.kind == job.kind for other in self.live.values())
        if self.chance.random() > TRIED / alike**0.5:
            return
        group = next(domains for domains in self.words["groups"].values() if job.domain in domains)
        domain = self.chance.choice(group if self.chance.random() < AT_HOME else list(self.words["domains"]))
        target = Job(job.kind, domain, self.chance.choice(self._things(job.kind, domain)))
        if target.skill_id in self.live:
            return
        works = self.chance.random() < (WORKS_AT_HOME if domain in group else WORKS_ABROAD)
        self._tick()
        receipt = self.brain.feedback(skill.id, self._context(target), success=works)
        if works and receipt.recorded:
            self._learn(target, skill.id)

    def _use(self, skill: Skill, job: Job) -> None:
        """A skill that is about to expire is used in its own domain, or left to expire."""
        soon = self.calendar.now + timedelta(days=10)
        if datetime.fromisoformat(skill.expires_at) < soon and self.chance.random() < USED:
            self._learn(job)

    def _learn(self, job: Job, *used: str) -> None:
        """One execution of a job: a new skill, or one time more that its skill was used."""
        self._tick()
        self.runs += 1
        procedure = self._procedure(job.kind)
        receipt = self.brain.observe(
            {"steps": [self._filled(step, job) for step in procedure["steps"]], "strategy": "sequential"},
            self._context(job),
            {"success": True, "quality": round(self.chance.uniform(0.6, 1.0), 2)},
            self._filled(procedure["name"], job),
            skill_id=job.skill_id,
            trace_id=f"{job.skill_id}-{self.runs}",
            derived_from=used,
        )
        if receipt.skill and receipt.skill.id == job.skill_id:
            self.live[job.skill_id] = job

    def _compose(self) -> None:
        """Where a domain has all the parts of a composed skill, that is learned too."""
        for kind, composed in self.words["composed"].items():
            for job in [job for job in self._jobs() if job.kind == composed["of"][0]]:
                parts = [Job(part, job.domain, job.thing).skill_id for part in composed["of"]]
                if all(self.brain.get_skill(part) for part in parts):
                    whole = Job(kind, job.domain, job.thing)
                    self._learn(whole)
                    for part in parts:
                        self.brain.skill_graph.add_edge(whole.skill_id, "COMPOSED_OF", part)

    def _relate(self) -> None:
        """Skills on the same thing complement each other or conflict; some are special cases of the demo's."""
        graph = self.brain.skill_graph
        for one, other in combinations(self._jobs(), 2):
            if one.thing == other.thing:
                for rule in self.words["related"]:
                    if {one.kind, other.kind} == set(rule["of"]):
                        graph.add_edge(one.skill_id, rule["relation"], other.skill_id, {"reason": rule["reason"]})
        for job in self._jobs():
            general = self._procedure(job.kind).get("specializes")
            if general and job.domain == self._procedure(job.kind)["from"]:
                graph.add_edge(job.skill_id, "SPECIALIZES", general)

    def _jobs(self) -> list[Job]:
        """What there are live skills for."""
        return [job for skill_id, job in self.live.items() if self.brain.get_skill(skill_id)]

    def _tick(self) -> None:
        self.calendar.now += ACTION

    def _procedure(self, kind: str) -> dict[str, Any]:
        found: dict[str, Any] = self.words["procedures"].get(kind) or self.words["composed"][kind]
        return found

    def _things(self, kind: str, domain: str) -> list[str]:
        found: list[str] = self.words["domains"][domain][self._procedure(kind)["on"]]
        return found

    def _context(self, job: Job) -> dict[str, Any]:
        procedure = self._procedure(job.kind)
        task = self._filled(procedure["task"], job)
        given = {"list": [job.thing], "structured": {"kind": job.thing}, "text": f"some {job.thing}"}
        shapes = {"input": given[procedure["takes"]], "output_format": procedure["gives"]}
        return {"domain": job.domain, "task": task, **shapes}

    def _filled(self, text: str, job: Job) -> str:
        nouns = self.words["domains"][job.domain]
        return text.format(x=job.thing, signs=nouns["signs"], people=nouns["people"])


def words() -> dict[str, Any]:
    """The content of `sample_words.toml`."""
    return tomllib.loads(Path(__file__).with_name("sample_words.toml").read_text("utf-8"))


def make(location: str, *, namespace: str = NAMESPACE, until: datetime | None = None) -> dict[str, Any]:
    """Fills an empty namespace with the sample, as of `until` (by default now), and returns its summary.

    It is told to a file first and then copied, because a file answers some ten times as fast as a server. Raises
    `SystemExit` if skills are there already.
    """
    with Brain.open(location, namespace=namespace, cache=False) as target:
        if target.sync.get_skill_summary()["total_skills"]:
            raise SystemExit(f"{namespace!r} of {target.location} is not empty. Name another --namespace.")
    calendar = Calendar(until or datetime.now(UTC))
    with tempfile.TemporaryDirectory(prefix="brain-sample-") as folder:
        file = f"sqlite:///{folder}/sample.db"
        with Brain.open(file, namespace=namespace, clock=calendar, cache=False) as brain:
            HalfYear(brain.sync, calendar, words()).tell()
            summary = brain.sync.get_skill_summary()
        copy = [sys.executable, "-m", "brain", "copy", file, location, "--namespace", namespace, "--quiet"]
        subprocess.run(copy, check=True, stdout=subprocess.DEVNULL)
    return summary


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Makes a skill graph to explore.")
    parser.add_argument("location", help="such as neo4j://neo4j:password@localhost:7687 or sqlite:///sample.db")
    parser.add_argument("--namespace", default=NAMESPACE)
    arguments = parser.parse_args()
    try:
        summary = make(arguments.location, namespace=arguments.namespace)
    except BrainError as error:
        sys.exit(str(error))
    print(f"{summary['total_skills']} skills, {summary['total_transfers']} transfers, in {arguments.namespace!r}")


if __name__ == "__main__":
    main()
