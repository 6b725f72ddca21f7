"""What do the contract tests learn, save and ask for?"""

from brain import Skill, SkillCondition, SkillStep

BREAD = "bake sourdough bread"
BREAD_STEPS = ("feed the starter", "knead the dough", "let it rise", "bake it in a hot oven")
AUDIT = "audit kubernetes RBAC"
AUDIT_STEPS = ("list every role binding", "flag wildcard verbs", "report unused service accounts")

AWKWARD = {
    "backticks": "a `quoted` name``",
    "quotes": """it's "both" '' \"\"""",
    "parameters": "$x {y} {{relation}} :name ?1 %s",
    "backslashes": "\\n \\u0041 ends with \\",
    "nul": "before\x00after",
    "controls": "\x01\x02\t\r\n\x7f\x85\u2028",
    "right to left": "safe\u202etxt.exe\u2066\u200f",
    "emoji": "👩🏽‍🔬🏳️‍🌈 🍞",
    "scripts": "分析 تحليل анализ ανάλυση विश्लेषण 분석 ניתוח การวิเคราะห์ 𝔘𐍈",
    "combining": "e\u0301 and \u00e9, \ufb01, \u2126, \u0130",
    "json": '{"id": null, "a": [1]}',
    "markup": "<b>&amp;</b> -- // /* ; */ DROP TABLE skill; MATCH (n) DETACH DELETE n",
    "spaces": "  leading, inner   and trailing  ",
    "not characters": "\ufffe\uffff\ufeff",
}
"""Texts that come back byte for byte."""

NESTED = {
    "list": ["a", 1, True, None, 2.5, [], {}, [["a"], ["b"]]],
    "numbers": [0, -0.0, 1e308, 5e-324, 2**53 + 1, 2**70, -(2**63), 0.1 + 0.2],
    "deep": {"a": {"b": {"c": [{"d": [1, {"z": 2}]}]}}},
    "": {"": ""},
}
"""Values that come back with their types."""

RESERVED = {
    "id": 1,
    "type": "t",
    "name": "n",
    "labels": ["l"],
    "embedding": [0.5],
    "created_at": "yesterday",
    "": "empty",
    "a.b": {"c.d": 1},
    "$x": "$y",
    "k" * 70: "long",
    "🍞": "emoji",
    "order": 7,
    "number": 8,
    "operation": "o",
    "extra": {"e": 1},
    "namespace": "mine",
    "version": "v",
    "elementId": "4:x:1",
    "key": "k",
}
"""Keys that a store might want for itself."""


def execution(task, *steps, domain="kitchen", success=True, quality=0.8, **trace):
    """The arguments of `learn` and `observe`."""
    return {
        "execution_trace": {"steps": list(steps), **trace},
        "context": {"domain": domain, "task": task},
        "outcome": {"success": success, "quality": quality},
    }


def bread(**more):
    return execution(BREAD, *BREAD_STEPS, **more)


def audit(**more):
    return execution(AUDIT, *AUDIT_STEPS, domain="security", **more)


def skill(skill_id, task="", *, domain="kitchen", tags=("cooking",), **fields):
    """A skill made by hand, complete enough to be recalled by `task`."""
    return Skill(
        id=skill_id,
        name=fields.pop("name", f"Skill {skill_id}"),
        procedure=fields.pop(
            "procedure", [SkillStep(action=f"first do {task or skill_id}"), SkillStep(action="stop", order=1)]
        ),
        preconditions=[SkillCondition(predicate="input is single_text")],
        postconditions=[SkillCondition(predicate="output is text", required=False)],
        source_context={
            "task_structures": ["sequential"],
            "cognitive_patterns": ["analysis"],
            "metadata": {"domain": domain, "task": task} if task else {},
        },
        tags=list(tags),
        **fields,
    )


def ids(skills):
    return [found.id for found in skills]


def plain(skill):
    """A skill as a dictionary that `==` compares with types."""
    return skill.to_dict()
