"""A procedural skill memory for AI agents: learn a skill from one task, recall it for another of the same shape.

Names are loaded when they are first used, so that `import brain` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.analysis.analyzer import ContextAnalyzer
    from brain.config import Limits
    from brain.engine.brain import Brain
    from brain.engine.graph import SkillGraph
    from brain.engine.sync import SyncBrain
    from brain.engine.transfer import SkillTransferEngine
    from brain.errors import BrainError
    from brain.model.candidate import RecallVerdict, TransferCandidate
    from brain.model.context import ContextFeatures
    from brain.model.policy import Policy
    from brain.model.receipts import FeedbackReceipt, LearnOutcome, LearnReceipt, LearnReport
    from brain.model.relations import Edge, Relation
    from brain.model.skill import Skill, SkillCondition, SkillStep, SkillTransferRecord

_HOME = {
    "Brain": "brain.engine.brain",
    "BrainError": "brain.errors",
    "ContextAnalyzer": "brain.analysis.analyzer",
    "ContextFeatures": "brain.model.context",
    "Edge": "brain.model.relations",
    "FeedbackReceipt": "brain.model.receipts",
    "LearnOutcome": "brain.model.receipts",
    "LearnReceipt": "brain.model.receipts",
    "LearnReport": "brain.model.receipts",
    "Limits": "brain.config",
    "Policy": "brain.model.policy",
    "RecallVerdict": "brain.model.candidate",
    "Relation": "brain.model.relations",
    "Skill": "brain.model.skill",
    "SkillCondition": "brain.model.skill",
    "SkillGraph": "brain.engine.graph",
    "SkillStep": "brain.model.skill",
    "SkillTransferEngine": "brain.engine.transfer",
    "SkillTransferRecord": "brain.model.skill",
    "SyncBrain": "brain.engine.sync",
    "TransferCandidate": "brain.model.candidate",
}

__all__ = [
    "Brain",
    "BrainError",
    "ContextAnalyzer",
    "ContextFeatures",
    "Edge",
    "FeedbackReceipt",
    "LearnOutcome",
    "LearnReceipt",
    "LearnReport",
    "Limits",
    "Policy",
    "RecallVerdict",
    "Relation",
    "Skill",
    "SkillCondition",
    "SkillGraph",
    "SkillStep",
    "SkillTransferEngine",
    "SkillTransferRecord",
    "SyncBrain",
    "TransferCandidate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'brain' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
