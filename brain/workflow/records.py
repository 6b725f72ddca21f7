"""What is a workflow made of? `Workflow`, its agents and their settings; plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from brain.errors import Problem
from brain.workflow.document import Document, Place

OPERATIONS = ("learn", "recall", "feedback")
NEWER_OPERATIONS = ("learn_recipe", "learn_anti", "learn_path", "record_episode", "recall_episodes")
"""What OrKa's brain agent can do since version 2 and this one cannot."""
PROVIDERS = ("lm_studio", "openai_compatible", "ollama")
TYPES = ("brain", "local_llm", "openai-answer (and other openai-*)", "invariant_validator")
BINARY, CLASSIFICATION = "openai-binary", "openai-classification"
"""Types of agents whose model chooses an answer."""
MODEL_VARIABLE = "BASE_OPENAI_MODEL"
"""Environment variable that names the model of `openai-*` agents that name none, as in OrKa."""
DEFAULT_MODEL = "llama3.2:latest"
"""The model that OrKa asks a local endpoint for where none is named."""
STRATEGIES = ("sequential", "parallel")
ON_ERROR = ("stop", "continue")
MOST_AGENTS = 5_000
"""Agents of one workflow."""
DEFAULT_CONCURRENCY = 8
"""Agents that `strategy: parallel` runs at once."""

_JSON_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", protected_namespaces=(), allow_inf_nan=False)


class LlmSettings(_Settings):
    """How an LLM agent is run. `timeout` is in seconds and covers all attempts; `retries` come after the first one."""

    provider: str = ""
    model_url: str = ""
    system_prompt: str = ""
    model: str = ""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    top_p: Annotated[float | None, Field(ge=0, le=1)] = None
    seed: int | None = None
    stop: str | list[str] | None = None
    presence_penalty: Annotated[float | None, Field(ge=-2, le=2)] = None
    frequency_penalty: Annotated[float | None, Field(ge=-2, le=2)] = None
    timeout: Annotated[float | None, Field(gt=0)] = None
    retries: Annotated[int, Field(ge=0, le=20)] = 2
    structured_output: bool | Literal["auto"] | dict[str, Any] = "auto"
    options: list[str] = Field(default_factory=list)
    api_key_env: str = ""

    @field_validator("provider")
    @classmethod
    def _as_written_here(cls, value: str) -> str:
        name = value.strip().lower()
        return "lm_studio" if name == "lmstudio" else name

    @field_validator("options", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Options such as 1 and true are no text in YAML."""
        words = {True: "true", False: "false"}
        if not isinstance(value, list):
            return value
        return [words[one] if isinstance(one, bool) else str(one) if isinstance(one, int) else one for one in value]

    @field_validator("structured_output", mode="before")
    @classmethod
    def _as_schema(cls, value: Any) -> Any:
        """OrKa's form (`enabled`, `mode`, `schema` of required and optional fields) as the JSON schema it means."""
        if not isinstance(value, dict) or not {"enabled", "mode", "schema"} & value.keys():
            return value
        if value.get("enabled") is False:
            return False
        told = value.get("schema")
        if not isinstance(told, dict) or {"type", "properties"} & told.keys():
            return told or "auto"
        required, optional = told.get("required") or [], told.get("optional") or {}
        if not isinstance(required, list) or not isinstance(optional, dict):
            raise ValueError("its schema has a list of 'required' fields and a mapping of 'optional' ones")
        fields: dict[str, Any] = {str(name): {} for name in required} | {
            str(name): {"type": kind} if kind in _JSON_TYPES else {} for name, kind in optional.items()
        }
        return {"type": "object", "properties": fields, "required": [str(name) for name in required]}


class BrainSettings(_Settings):
    """What a brain agent is run with where its payload does not say. A write is never cut short by `timeout`."""

    operation: str = ""
    top_k: Annotated[int | None, Field(ge=1)] = None
    min_score: Annotated[float | None, Field(ge=0, le=1)] = None
    timeout: Annotated[float | None, Field(gt=0)] = None


class ValidatorSettings(_Settings):
    """What counts as a violation of an execution."""

    max_depth: Annotated[int | None, Field(ge=1)] = None
    allow_reentrant_nodes: list[str] = Field(default_factory=list)
    strict_tool_errors: bool = False
    timeout: Annotated[float | None, Field(gt=0)] = None


Settings = LlmSettings | BrainSettings | ValidatorSettings


@dataclass(frozen=True)
class Agent:
    """One agent as it is written. `prompt` is the template, None if there is none; `place` is where it stands."""

    id: str
    type: str
    place: Place
    prompt: str | None = None
    operation: str = ""
    settings: Settings = field(default_factory=LlmSettings)
    depends_on: tuple[str, ...] = ()
    on_error: str = ""

    @property
    def is_llm(self) -> bool:
        """Whether an LLM is asked."""
        return isinstance(self.settings, LlmSettings)


@dataclass
class Workflow:
    """A workflow as it is written: `listed` are the ids in order, `agents` all that are defined.

    `unread` are the ids, as far as they can be told, of what stands there as an agent and cannot be read as one.
    """

    id: str
    document: Document
    strategy: str = "sequential"
    on_error: str = "stop"
    concurrency: int = DEFAULT_CONCURRENCY
    listed: tuple[str, ...] = ()
    agents: dict[str, Agent] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    warnings: list[Problem] = field(default_factory=list)

    @property
    def steps(self) -> list[Agent]:
        """The agents that are run, in the order in which they are listed."""
        return [self.agents[name] for name in self.listed]


def settings_of(kind: str) -> type[Settings] | None:
    """The settings that agents of a type take; None if the type is not supported."""
    if kind == "local_llm" or (kind.startswith("openai-") and kind != "openai-"):
        return LlmSettings
    kinds: dict[str, type[Settings]] = {"brain": BrainSettings, "invariant_validator": ValidatorSettings}
    return kinds.get(kind)
