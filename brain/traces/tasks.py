"""What was the agent asked to do? `task_in(text)`: a user's message without what its host wrapped around it."""

from __future__ import annotations

import re

_WRAPPED = re.compile(
    r"<(system-reminder|environment_context|user_instructions|local-command-stdout|local-command-caveat|"
    r"command-(?:name|message|args|contents)|ide_selection|ide_opened_file|task-notification|uploaded_files|"
    r"user_shell_command|"
    r"EXTRA_INFO|RUNTIME_INFORMATION|REPOSITORY_INFO|permissions instructions|INSTRUCTIONS)>.*?</\1>",
    re.DOTALL,
)
_TASK_INSIDE = re.compile(
    r"<(pr_description|issue_description|issue|problem_statement|task|task_description|question|user_query)>(.+?)</\1>",
    re.DOTALL,
)
_BEGINS = re.compile(
    r"(?:^|\n)[ \t]*(?:#+ )?(?:ISSUE|TASK|PROBLEM STATEMENT|General Task|Question)\b[ :]*\n+", re.IGNORECASE
)
_ENDS = re.compile(
    r"\n[ \t]*(?:#+ ?|\*\*)?(?:INSTRUCTIONS|Recommended Workflow|Important Rules|Important (?:notes|instructions)|"
    r"Formatting your response|Response format|Output format|Useful command examples|Command Execution Rules|"
    r"Available tools|Plan from manager)\b[^\n]{0,60}(?:\n|$)|"
    r"\n\s*\n(?=You can execute bash commands|Follow these steps to resolve|Can you help me implement|"
    r"I've already taken care of)"
)
_NOT_A_TASK = re.compile(
    r"(?:Caveat: The messages below|# AGENTS\.md instructions|\[Request interrupted|This session is being continued)"
)
_PLACEHOLDER = re.compile(
    r"[<\[(]{1,3}[\w -]{0,30}(?:elided|redacted|omitted|removed|truncated|hidden|masked)[\w -]{0,30}[>\])]{1,3}",
    re.IGNORECASE,
)
"""What exporters put in place of a text."""
_LOOKED_AT = 60_000  # characters; patterns over what lies between tags must not see 50 MB


def task_in(text: str) -> str:
    """The task that a user's message tells; empty if it holds nothing but what a host put there."""
    said = _WRAPPED.sub("", text[:_LOOKED_AT]).strip()
    if not said or _NOT_A_TASK.match(said) or _PLACEHOLDER.fullmatch(said):
        return ""
    inside = _TASK_INSIDE.search(said)
    if inside:
        return inside[2].strip()
    begins = _BEGINS.search(said)
    if begins and begins.end() < len(said):
        said = said[begins.end() :]
    ends = _ENDS.search(said)
    if ends and said[: ends.start()].strip():
        said = said[: ends.start()]
    return said.strip()


def first_paragraph(text: str) -> str:
    """The beginning of a text up to the first empty line."""
    return re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0]
