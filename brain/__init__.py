"""A procedural skill memory for AI agents: learn a skill from one task, recall it for another of the same shape."""

from brain.analysis.analyzer import ContextAnalyzer
from brain.config import Limits
from brain.engine.brain import Brain
from brain.engine.graph import SkillGraph
from brain.engine.sync import SyncBrain
from brain.engine.transfer import SkillTransferEngine
from brain.errors import BrainError
from brain.model.candidate import TransferCandidate
from brain.model.context import ContextFeatures
from brain.model.policy import Policy
from brain.model.receipts import FeedbackReceipt, LearnOutcome, LearnReceipt
from brain.model.relations import Edge, Relation
from brain.model.skill import Skill, SkillCondition, SkillStep, SkillTransferRecord

__all__ = [
    "Brain",
    "BrainError",
    "ContextAnalyzer",
    "ContextFeatures",
    "Edge",
    "FeedbackReceipt",
    "LearnOutcome",
    "LearnReceipt",
    "Limits",
    "Policy",
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
