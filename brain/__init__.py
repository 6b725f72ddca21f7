"""A procedural skill memory for AI agents: learn a skill from one task, recall it for another of the same shape.

Names are loaded when they are first used, so that `import brain` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.analysis.analyzer import ContextAnalyzer
    from brain.config import Limits, TraceLimits
    from brain.engine.brain import Brain
    from brain.engine.doctor import Diagnosis
    from brain.engine.embedding import Embedder
    from brain.engine.graph import SkillGraph
    from brain.engine.listing import Listing, SkillOrder
    from brain.engine.sync import SyncBrain
    from brain.engine.transfer import SkillTransferEngine
    from brain.errors import (
        AuthenticationError,
        BrainError,
        ConflictError,
        DumpError,
        EmbeddingError,
        InputError,
        LimitError,
        LocalServerError,
        LocationError,
        ModelError,
        NotATraceError,
        PayloadError,
        SchemaError,
        ServingError,
        SkillFileError,
        SkillNotFoundError,
        StatementError,
        StoreError,
        StoreReplacedError,
        StoreUnavailableError,
        TraceError,
        WorkflowError,
    )
    from brain.model.candidate import RecallVerdict, TransferCandidate
    from brain.model.context import ContextFeatures
    from brain.model.inputs import Context, Execution, ExecutionTrace, Outcome
    from brain.model.policy import Policy
    from brain.model.provenance import StoredTrace
    from brain.model.receipts import FeedbackReceipt, LearnOutcome, LearnReceipt, LearnReport, Refusal
    from brain.model.relations import Edge, Relation
    from brain.model.skill import Skill, SkillCondition, SkillStep, SkillTransferRecord
    from brain.model.stats import Stats
    from brain.model.trace import Trace
    from brain.store.base import Clock
    from brain.store.values import SkillRow
    from brain.workflow.brain_agent import BrainAgent

    __version__: str

_HOME = {
    "AuthenticationError": "brain.errors",
    "Brain": "brain.engine.brain",
    "BrainAgent": "brain.workflow.brain_agent",
    "BrainError": "brain.errors",
    "Clock": "brain.store.base",
    "ConflictError": "brain.errors",
    "Context": "brain.model.inputs",
    "ContextAnalyzer": "brain.analysis.analyzer",
    "ContextFeatures": "brain.model.context",
    "Diagnosis": "brain.engine.doctor",
    "DumpError": "brain.errors",
    "Edge": "brain.model.relations",
    "Embedder": "brain.engine.embedding",
    "EmbeddingError": "brain.errors",
    "Execution": "brain.model.inputs",
    "ExecutionTrace": "brain.model.inputs",
    "FeedbackReceipt": "brain.model.receipts",
    "InputError": "brain.errors",
    "LearnOutcome": "brain.model.receipts",
    "LearnReceipt": "brain.model.receipts",
    "LearnReport": "brain.model.receipts",
    "LimitError": "brain.errors",
    "Limits": "brain.config",
    "Listing": "brain.engine.listing",
    "LocalServerError": "brain.errors",
    "LocationError": "brain.errors",
    "ModelError": "brain.errors",
    "NotATraceError": "brain.errors",
    "Outcome": "brain.model.inputs",
    "PayloadError": "brain.errors",
    "Policy": "brain.model.policy",
    "RecallVerdict": "brain.model.candidate",
    "Refusal": "brain.model.receipts",
    "Relation": "brain.model.relations",
    "SchemaError": "brain.errors",
    "ServingError": "brain.errors",
    "Skill": "brain.model.skill",
    "SkillCondition": "brain.model.skill",
    "SkillFileError": "brain.errors",
    "SkillGraph": "brain.engine.graph",
    "SkillNotFoundError": "brain.errors",
    "SkillOrder": "brain.engine.listing",
    "SkillRow": "brain.store.values",
    "SkillStep": "brain.model.skill",
    "SkillTransferEngine": "brain.engine.transfer",
    "SkillTransferRecord": "brain.model.skill",
    "StatementError": "brain.errors",
    "Stats": "brain.model.stats",
    "StoreError": "brain.errors",
    "StoreReplacedError": "brain.errors",
    "StoreUnavailableError": "brain.errors",
    "StoredTrace": "brain.model.provenance",
    "SyncBrain": "brain.engine.brain",  # not where it is made: there its docstrings are missing
    "Trace": "brain.model.trace",
    "TraceError": "brain.errors",
    "TraceLimits": "brain.config",
    "TransferCandidate": "brain.model.candidate",
    "WorkflowError": "brain.errors",
}

__all__ = [
    "AuthenticationError",
    "Brain",
    "BrainAgent",
    "BrainError",
    "Clock",
    "ConflictError",
    "Context",
    "ContextAnalyzer",
    "ContextFeatures",
    "Diagnosis",
    "DumpError",
    "Edge",
    "Embedder",
    "EmbeddingError",
    "Execution",
    "ExecutionTrace",
    "FeedbackReceipt",
    "InputError",
    "LearnOutcome",
    "LearnReceipt",
    "LearnReport",
    "LimitError",
    "Limits",
    "Listing",
    "LocalServerError",
    "LocationError",
    "ModelError",
    "NotATraceError",
    "Outcome",
    "PayloadError",
    "Policy",
    "RecallVerdict",
    "Refusal",
    "Relation",
    "SchemaError",
    "ServingError",
    "Skill",
    "SkillCondition",
    "SkillFileError",
    "SkillGraph",
    "SkillNotFoundError",
    "SkillOrder",
    "SkillRow",
    "SkillStep",
    "SkillTransferEngine",
    "SkillTransferRecord",
    "StatementError",
    "Stats",
    "StoreError",
    "StoreReplacedError",
    "StoreUnavailableError",
    "StoredTrace",
    "SyncBrain",
    "Trace",
    "TraceError",
    "TraceLimits",
    "TransferCandidate",
    "WorkflowError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("brain.config").installed_version()
    elif name == "traces":  # so that `import brain` is enough for `brain.traces.read`
        value = import_module("brain.traces")
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'brain' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
