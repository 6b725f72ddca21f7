"""What may a client ask for? The arguments of every tool, with what a model needs to know to fill them in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K
from brain.model.formulas import DEFAULT_QUALITY
from brain.model.text import LONGEST_KNOWN_ID

MOST_RECALLED = 20
"""Skills that one `recall` returns at most."""
MOST_RELATED = 100
"""Related skills that one `related` returns at most."""

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,199}$")]
"""An id as `brain.model.text.Identifier` has it, in the dialect of JSON Schema."""
KnownId = Annotated[str, Field(pattern=r"\S", max_length=LONGEST_KNOWN_ID)]
"""An id of a stored skill, as `brain.model.text.KnownId` has it."""


class Arguments(BaseModel):
    """Base of the arguments: no others are taken."""

    model_config = ConfigDict(extra="forbid")


class Step(Arguments):
    """One step that was taken, with more than its text."""

    action: str = Field(description="What was done, as verb and object.", examples=["test each hypothesis"])
    description: str = Field("", description="More about it: how, with which result, what to look out for.")
    parameters: dict[str, Any] = Field(default_factory=dict, description="Named values that it was done with.")
    is_optional: StrictBool = Field(False, description="Whether it may be left out.")


_SKILL_ID = Field(description="The id of a skill, as recall returned it.", examples=["diagnosis"])
_TASK = Field(
    min_length=1,
    description="What is to be done, in a sentence or more: the goal and the way to it, not only the subject.",
    examples=["Find out why the nightly build fails: read the error reports, test possible causes and conclude"],
)
_DOMAIN = Field("", description="The field that the task is of, in a word or two.", examples=["software", "medicine"])


class Task(Arguments):
    """A task that skills are compared with."""

    task: str = _TASK
    domain: str = _DOMAIN
    steps: list[str] = Field(
        default_factory=list,
        description="The steps that you plan, in order, if you have a plan already.",
        examples=[["read the error reports", "form hypotheses", "test each hypothesis"]],
    )
    top_k: int = Field(DEFAULT_TOP_K, ge=1, le=MOST_RECALLED, description="How many skills to return at most.")
    min_score: float = Field(
        DEFAULT_MIN_SCORE,
        ge=0,
        le=1,
        description="The least combined score of a skill that is returned. Unrelated tasks score below 0.3.",
    )


class Recall(Task):
    """Arguments of `recall`."""


class Why(Task):
    """Arguments of `why`."""

    skill_id: KnownId = _SKILL_ID


class Learn(Arguments):
    """Arguments of `learn`."""

    task: str = _TASK
    domain: str = _DOMAIN
    steps: list[str | Step] = Field(
        min_length=1,
        description="The steps that were taken, in order, each as a text or as an object.",
        examples=[["gather the symptoms", "form several hypotheses", "test each hypothesis", "conclude"]],
    )
    success: StrictBool = Field(
        description="Whether the task was solved, by a check and not by hope. A failure creates no skill; it lowers "
        "the confidence of a stored skill that does the same."
    )
    trace_id: Id = Field(
        description="An id of this execution, unique to it: sent again, it counts once. Make one of the run's name and "
        "a number or the time.",
        examples=["build-4711", "2026-05-01T12:30:00-b"],
    )
    quality: float = Field(DEFAULT_QUALITY, ge=0, le=1, description="How well it was solved.")
    name: str = Field("", description="A name for the skill, if it is new. By default one is made.")
    derived_from: list[KnownId] = Field(
        default_factory=list,
        description="Ids of the skills that were recalled and used for this; the new skill is connected with them.",
        examples=[["diagnosis"]],
    )


class Feedback(Arguments):
    """Arguments of `feedback`."""

    skill_id: KnownId = _SKILL_ID
    success: StrictBool = Field(description="Whether the task was solved with it.")
    feedback_id: Id = Field(
        description="An id of this use of the skill, unique to it: sent again, it counts once. Make one of the run's "
        "name and a number or the time.",
        examples=["build-4711-diagnosis", "2026-05-01T12:30:00-a"],
    )
    task: str = Field("", description="The task that it was applied to.", examples=["find out why the build fails"])
    domain: str = _DOMAIN
    adaptations: dict[str, Any] = Field(
        default_factory=dict,
        description="What was changed to apply it.",
        examples=[{"add_steps": ["ask for the log"]}],
    )


class Get(Arguments):
    """Arguments of `get`."""

    skill_id: KnownId = _SKILL_ID


class Related(Arguments):
    """Arguments of `related`."""

    skill_id: KnownId = _SKILL_ID
    relation: Literal[
        "ANY", "DERIVES_FROM", "COMPOSED_OF", "SPECIALIZES", "TRANSFERRED_TO", "CONFLICTS_WITH", "COMPLEMENTS"
    ] = Field("ANY", description="Which connections to follow, in either direction.")
    max_depth: int = Field(2, ge=1, le=10, description="How many connections away a skill may be.")
    limit: int = Field(20, ge=1, le=MOST_RELATED, description="How many skills to return at most, nearest first.")
