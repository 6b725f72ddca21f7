"""What can a model do through the server? Six tools: what each is for, what it takes, does and gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel

from brain.analysis.redaction import redact
from brain.config import DEFAULT_MIN_SCORE
from brain.engine.sync import SyncBrain
from brain.errors import SkillNotFoundError
from brain.mcp import inputs, results
from brain.mcp.fence import fenced, line, listed
from brain.mcp.page import recalled_page, skill_page
from brain.model.candidate import TransferCandidate
from brain.model.relations import Relation
from brain.model.shown import visible
from brain.model.skill import Skill


class Answer(NamedTuple):
    """What a tool gives back: data, and a text for the model."""

    result: results.Result
    text: str


@dataclass(frozen=True)
class Use:
    """What a tool works with: the brain, and the rules of this server."""

    brain: SyncBrain
    redacting: bool = True
    read_only: bool = False


@dataclass(frozen=True)
class Tool:
    """One tool. `writes` tells clients that it changes the store; all of them may be called again without harm."""

    name: str
    title: str
    description: str
    takes: type[BaseModel]
    gives: type[results.Result]
    call: Callable[[Use, Any], Answer]
    writes: bool = False


def tools(read_only: bool) -> Sequence[Tool]:
    """The tools of a server, in the order in which they are used."""
    return [tool for tool in _TOOLS if not (read_only and tool.writes)]


def recall(use: Use, given: inputs.Recall) -> Answer:
    """Finds the skills that fit a task."""
    found = found_for(use, _context(given), given.top_k, given.min_score)
    result = results.RecallResult(skills=[results.Recalled.of_candidate(candidate) for candidate in found])
    if not found:
        after = "" if use.read_only else " When it is over, call learn with the steps that you took."
        return Answer(result, f"No stored skill fits this task: solve it your own way.{after}")
    said = f"{len(found)} {'skill fits' if len(found) == 1 else 'skills fit'} this task, best first."
    after = "" if use.read_only else " When the task is over, call feedback for each one that you used."
    return Answer(result, f"{said}{after}\n\n{recalled_page(found)}")


def learn(use: Use, given: inputs.Learn) -> Answer:
    """Learns from one execution."""
    texts, counts = _redacted(use, given, "task", "domain", "steps", "name")
    receipt = use.brain.observe(
        {"steps": texts["steps"]},
        {"task": texts["task"], "domain": texts["domain"]},
        {"success": given.success, "quality": given.quality},
        texts["name"] or None,
        trace_id=given.trace_id,
        derived_from=given.derived_from,
    )
    result = results.LearnResult.of(receipt, counts)
    parts = [f"{receipt.outcome.value}: {receipt.reason}"]
    if receipt.skill:
        parts += _standing(receipt.skill)
    return Answer(result, _told(f"Outcome: {receipt.outcome.value}.", parts, counts))


def feedback(use: Use, given: inputs.Feedback) -> Answer:
    """Records how a skill did."""
    texts, counts = _redacted(use, given, "task", "domain", "adaptations")
    context = {"task": texts["task"], "domain": texts["domain"]}
    receipt = use.brain.feedback(
        given.skill_id, context, given.success, texts["adaptations"], feedback_id=given.feedback_id
    )
    if receipt.skill is None:
        raise SkillNotFoundError(given.skill_id, use.brain.namespace)
    result = results.FeedbackResult.of(receipt, receipt.skill, counts)
    said = (
        "Counted before under this feedback_id; nothing changed. Another use of the skill needs another id."
        if receipt.repeated
        else f"The {'success' if given.success else 'failure'} was counted."
    )
    return Answer(result, _told(said, _standing(receipt.skill), counts))


def get(use: Use, given: inputs.Get) -> Answer:
    """One skill with all its steps."""
    skill = _known(use.brain, given.skill_id)
    return Answer(results.SkillResult.of_skill(skill), skill_page(skill))


def related(use: Use, given: inputs.Related) -> Answer:
    """The skills around one."""
    skill = _known(use.brain, given.skill_id)
    relation = None if given.relation == "ANY" else Relation(given.relation)
    found = use.brain.skill_graph.related_with_distance(given.skill_id, relation, given.max_depth)
    edges = [edge for edge in use.brain.skill_graph.get_edges(given.skill_id) if relation in (None, edge.relation)]
    connections = [results.Connection.of(edge) for edge in edges[: inputs.MOST_RELATED]]
    shown = found[: given.limit]
    result = results.RelatedResult(
        skills=[results.RelatedSkill.of(other, distance=distance) for other, distance in shown],
        total=len(found),
        connections=connections,
    )
    if not found:
        return Answer(result, "No other skill is connected with this one.")
    parts = [f"around: {line(skill.name)}"]
    parts += [f"- {distance} away: {line(other.name)} (id {visible(other.id)})" for other, distance in shown]
    parts += [f"- {visible(end.source)} {end.relation} {visible(end.target)}" for end in connections]
    count = f"{len(found)} connected" if len(shown) == len(found) else f"{len(shown)} of {len(found)} connected"
    return Answer(result, f"{count}, nearest first.\n\n{fenced(chr(10).join(parts))}")


def why(use: Use, given: inputs.Why) -> Answer:
    """Why a skill is recalled for a task, or is not."""
    verdict = use.brain.why(given.skill_id, _context(given), given.top_k, given.min_score)
    candidate = verdict.candidate
    parts = [verdict.reason, candidate.reasoning]
    for name, dimension in candidate.explain()["dimensions"].items():
        parts.append(f"- {name}: {dimension['raw']:.3f} x {dimension['weight']} = {dimension['contribution']:.3f}")
    parts.append(f"- combined: {candidate.combined_score:.3f}")
    said = "Recall returns it for this task." if verdict.returned else "Recall does not return it for this task."
    return Answer(results.WhyResult.of(verdict), _told(said, parts, {}))


def found_for(
    use: Use, context: dict[str, Any], top_k: int, min_score: float = DEFAULT_MIN_SCORE
) -> list[TransferCandidate]:
    """The skills that fit a task. Where nothing is to be written, expired skills are not removed on the way either."""
    if use.read_only:
        return use.brain.transfer_engine.find_transferable_skills(context, top_k, min_score)
    return use.brain.recall(context, top_k, min_score)


def _context(given: inputs.Task) -> dict[str, Any]:
    return {"task": given.task, "domain": given.domain} | ({"steps": given.steps} if given.steps else {})


def _known(brain: SyncBrain, skill_id: str) -> Skill:
    skill = brain.get_skill(skill_id)
    if skill is None:
        raise SkillNotFoundError(skill_id, brain.namespace)
    return skill


def _redacted(use: Use, given: BaseModel, *names: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Some of the arguments as plain values, without secrets if those are redacted; and how many of each kind were.

    The brain redacts too, if it was opened so; it counts over all calls, and a client is told of its own.
    """
    texts = {name: value for name, value in given.model_dump().items() if name in names}
    if not use.redacting:
        return texts, {}
    found = redact(texts)
    return found.value, found.counts


def _standing(skill: Skill) -> list[str]:
    return [
        f"- name: {line(skill.name)}",
        f"- id: {visible(skill.id)}",
        f"- confidence: {skill.confidence:.3f}; transfers: {skill.transfer_successes} of {skill.transfer_count}",
        f"- expires: {skill.expires_at or 'never'}",
    ]


def _told(said: str, parts: Sequence[str], redacted: dict[str, int]) -> str:
    """What was done in our own words, then what the store says of it in a fence."""
    hidden = listed([f"{count} {kind.replace('_', ' ')}" for kind, count in redacted.items()])
    note = f" Replaced before storing: {hidden}." if hidden else ""
    return f"{said}{note}\n\n{fenced(chr(10).join(line(part) for part in parts))}"


_TOOLS = (
    Tool(
        "recall",
        "Recall skills for a task",
        "Find procedures that solved tasks of the same shape before, also in other fields. Call it before you plan a "
        "task of several steps. Returns the skills that fit with their steps, scores and what has to be adapted; none "
        "if nothing fits.",
        inputs.Recall,
        results.RecallResult,
        recall,
    ),
    Tool(
        "learn",
        "Learn from an execution",
        "Keep how a task was solved, so that it is recalled for tasks of the same shape. Call it once a task is over "
        "and its outcome is known. What does the same as a stored skill reinforces that one.",
        inputs.Learn,
        results.LearnResult,
        learn,
        writes=True,
    ),
    Tool(
        "feedback",
        "Say how a skill did",
        "Count a success or a failure of a recalled skill that you used: its confidence and lifetime move. Call it "
        "once for each use, with a feedback_id of its own.",
        inputs.Feedback,
        results.FeedbackResult,
        feedback,
        writes=True,
    ),
    Tool(
        "get",
        "Get one skill in full",
        "One skill by its id, with all its steps, conditions and what it has proved so far.",
        inputs.Get,
        results.SkillResult,
        get,
    ),
    Tool(
        "related",
        "Look around a skill",
        "The skills that are connected with one: what it was derived from, where it was transferred to, what "
        "complements or contradicts it.",
        inputs.Related,
        results.RelatedResult,
        related,
    ),
    Tool(
        "why",
        "Explain a recall",
        "Why recall returns a skill for a task, or does not, with everything that its score rests on.",
        inputs.Why,
        results.WhyResult,
        why,
    ),
)
