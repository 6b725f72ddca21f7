"""A dozen skills as they come about in practice, at a fixed time: for the pictures and the snapshots."""

from datetime import timedelta

from brain import Skill, SkillCondition, SkillStep, SkillTransferRecord
from tests.clock import FakeClock

NOW = FakeClock().now

DIAGNOSIS = (
    "List the findings, oldest first",
    "Name what could explain them",
    "Choose the most telling test",
    "Rule out what contradicts it",
    "Repeat until one cause is left",
    "Treat it, and see whether it helps",
)
# id, name, domain, tags, confidence, uses, success rate, transfers, successful ones, hours left, steps
SKILLS = (
    (
        "diagnosis",
        "Diagnosis by elimination",
        "medicine",
        "diagnosis hypothesis",
        0.913,
        41,
        0.95,
        13,
        12,
        2_190,
        DIAGNOSIS,
    ),
    ("triage", "Validate, classify, route", "support", "triage routing", 0.874, 36, 0.92, 9, 8, 1_640, ()),
    ("refinement", "Iterative refinement", "writing", "feedback editing", 0.842, 29, 0.90, 11, 9, 1_210, ()),
    ("reconcile", "Reconcile two ledgers", "accounting", "comparison audit", 0.802, 22, 0.91, 4, 4, 845, ()),
    ("canary", "Canary release", "software", "rollout risk", 0.775, 18, 0.83, 5, 4, 700, ()),
    ("timeline", "Root cause from a timeline", "operations", "diagnosis incident", 0.761, 17, 0.88, 6, 5, 520, ()),
    ("sources", "Triangulate sources", "journalism", "evidence", 0.733, 12, 0.83, 3, 2, 390, ()),
    ("tasting", "Blind comparison", "gastronomy", "comparison bias", 0.704, 9, 0.89, 2, 2, 260, ()),
    ("hazards", "Hazard walk-through", "construction", "risk checklist", 0.668, 7, 0.86, 2, 1, 118, ()),
    ("checklist", "Pre-flight checklist", "aviation", "checklist safety", 0.95, 64, 0.98, 15, 15, None, ()),
    ("rehearse", "Rehearse the handover", "theatre", "handover", 0.541, 4, 0.75, 1, 0, 44, ()),
    ("restart", "Restart and hope", "operations", "quick-fix incident", 0.212, 11, 0.18, 6, 1, 9, ()),
)
EDGES = (
    ("timeline", "DERIVES_FROM", "diagnosis"),
    ("diagnosis", "COMPLEMENTS", "triage"),
    ("diagnosis", "TRANSFERRED_TO", "sources"),
    ("restart", "CONFLICTS_WITH", "timeline"),
    ("checklist", "COMPLEMENTS", "hazards"),
)
APPLIED = ("software", "car repair", "logistics", "law")


def fill(brain):
    """Saves the sample into an empty brain."""
    brain.skill_graph.save_skills([_skill(*row) for row in SKILLS])
    for source, relation, target in EDGES:
        metadata = {"domain": "journalism"} if relation == "TRANSFERRED_TO" else {}
        brain.skill_graph.add_edge(source, relation, target, metadata)


def _skill(skill_id, name, domain, tags, confidence, uses, rate, transfers, successes, hours, steps):
    return Skill(
        id=skill_id,
        name=name,
        procedure=[
            SkillStep(action=step, order=i) for i, step in enumerate(steps or (f"Do what {name.lower()} takes",))
        ],
        preconditions=[SkillCondition(predicate="findings of one case")] if steps else [],
        postconditions=[SkillCondition(predicate="one confirmed cause")] if steps else [],
        source_context={"metadata": {"domain": domain, "task": "Find out what ails a patient" if steps else ""}},
        transfer_history=[_transfer(i, domain) for i, domain in enumerate(APPLIED)] if steps else [],
        tags=tags.split(),
        confidence=confidence,
        usage_count=uses,
        success_rate=rate,
        transfer_count=transfers,
        transfer_successes=successes,
        created_at=NOW - timedelta(days=90),
        updated_at=NOW - timedelta(hours=uses),
        expires_at=(NOW + timedelta(hours=hours)).isoformat() if hours else "",
    )


def _transfer(i, domain):
    return SkillTransferRecord(
        target_context={"metadata": {"domain": domain}},
        success=i != 1,
        confidence=0.9,
        adaptations={"findings": "log lines"} if i == 0 else {},
        timestamp=NOW - timedelta(days=40 - 9 * i),
    )
