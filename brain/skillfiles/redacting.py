"""How do secrets leave a skill that is imported, so that its file can still be read? `redacted`: texts, values, YAML.

In the front matter a value is replaced as a whole, in quotes: what stands for a secret would be a list to YAML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from brain.analysis.redaction import redact, redact_text
from brain.errors import SkillFileError
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.skillfiles.frontmatter import FrontMatter, FrontMatterError, quoted
from brain.skillfiles.kept import file_of, files_of, is_as_imported, keep, made_as
from brain.skillfiles.making import Made, procedure_of
from brain.skillfiles.record import FILE_FIELD, Record
from brain.skillfiles.skillfile import SkillFile
from brain.store.values import SeenTrace

_NEVER_SECRET = {FILE_FIELD, *Skill.model_fields} - {
    *("name", "description", "procedure", "preconditions", "postconditions"),
    *("source_context", "transfer_history", "tags"),
}


def redacted(made: Made, counts: Counter[str], path: str) -> Made:
    """`made` without secrets; `counts` is raised by kind, once for each place in its file.

    Raises `SkillFileError`, which names `path`, where the front matter could not be read without the secret.
    """
    skill, text = made.record.skill, file_of(made.record.skill)
    told = None if text is None else _without_secrets(text, counts, path)
    fields = skill.to_dict() | _steps_read_anew(skill, text, told)
    found = redact({key: value for key, value in fields.items() if key not in _NEVER_SECRET})
    changed = Skill.from_dict({**fields, **found.value})
    if told is None:
        counts.update(found.counts)
    else:
        files = {name: file | {"text": redact_text(file["text"], counts)} for name, file in files_of(skill).items()}
        changed = keep(changed, told, files, "" if is_as_imported(skill) else made_as(skill))
        made = replace(made, text=told)
    record = made.record
    edges, traces = [_edge(edge) for edge in record.edges], [_trace(seen) for seen in record.traces]
    return replace(made, record=Record(changed, edges, traces))


def _steps_read_anew(skill: Skill, text: str | None, told: str | None) -> dict[str, Any]:
    """The procedure, where it was read off a text that had secrets: Markdown's own marks may be what tells one."""
    if text is None or told is None or told == text:
        return {}
    before, after = (procedure_of(SkillFile.parse(one.encode(), any_name=True)) for one in (text, told))
    return {"procedure": [step.to_dict() for step in after]} if skill.procedure == before else {}


def _edge(edge: Edge) -> Edge:
    return edge.model_copy(update={"metadata": redact(edge.metadata).value})


def _trace(seen: SeenTrace) -> SeenTrace:
    told = seen.observation
    content, domain, task = (redact_text(text) for text in (told.content, told.domain, told.task))
    return replace(seen, observation=replace(told, content=content, domain=domain, task=task))


def _without_secrets(text: str, counts: Counter[str], path: str) -> str:
    """The text of a SKILL.md without secrets: its front matter value by value, then as it stands, and its body."""
    matter = FrontMatter.of(text)
    told, last = "", matter.begin
    for node, value in _secret_values(matter.root, counts):
        begin, end = matter.begin + node.start_mark.index, matter.begin + node.end_mark.index
        told += text[last:begin] + quoted(value) + (matter.newline if text[begin:end].endswith("\n") else "")
        last = end
    told = redact_text(told + text[last : matter.end], counts)
    whole = text[: matter.begin] + told + text[matter.end : matter.body] + redact_text(text[matter.body :], counts)
    try:
        if FrontMatter.of(whole).fields.keys() == matter.fields.keys():
            return whole
    except FrontMatterError:
        pass
    fault = "a secret stands where it cannot be replaced: remove it, or import with --no-redact"
    raise SkillFileError(path, [(1, "redaction", fault)])


def _secret_values(root: MappingNode, counts: Counter[str]) -> Iterator[tuple[ScalarNode, str]]:
    """The scalars of a front matter that hold a secret, in their order, with what is to stand there."""
    waiting: list[tuple[str, Node]] = [("", root)]
    while waiting:
        name, node = waiting.pop(0)
        if isinstance(node, MappingNode):
            waiting[:0] = [(str(key.value), value) for key, value in node.value]
        elif isinstance(node, ScalarNode):
            found = redact({name: str(node.value)})
            value: Any = found.value.get(name)
            if isinstance(value, str) and value != node.value:
                counts.update(found.counts)
                yield node, value
        else:
            waiting[:0] = [(name, item) for item in node.value]
