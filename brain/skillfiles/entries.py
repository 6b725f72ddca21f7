"""How does what `brain` knows travel in the metadata of a front matter, and how is it taken out again without a trace?

The entries are lines of text put before the first key of `metadata`, so that all else stays as it was, character for
character: comments, quotes, line ends. Where there is no `metadata`, it is added at the end of the front matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

from yaml.nodes import MappingNode, ScalarNode

from brain.skillfiles.frontmatter import FrontMatter, FrontMatterError, quoted

PREFIX = "brain-"
"""Begins the keys of the entries."""
ADDED = "brain-added"
"""The entry that says what was put around the entries: "metadata", or "mapping" where that key had no value, with the
text of an explicit null behind it.
"""

_INDENT, _MAPPING = "  ", "mapping"


def with_entries(text: str, entries: Mapping[str, str]) -> str | None:
    """`text`, a SKILL.md, with `entries` in its metadata; None where that has no room for them, as a list has none."""
    matter = FrontMatter.of(text)
    node, keys = matter.node("metadata"), {PREFIX + key: value for key, value in entries.items()}
    if "metadata" not in matter.fields:
        made = None if matter.root.flow_style else _at_the_end(matter, keys)
    elif isinstance(node, MappingNode) and node.value:
        made = _before_the_first(matter, node, keys)
    elif isinstance(node, MappingNode):
        told = ", ".join(f"{key}: {quoted(value)}" for key, value in keys.items())
        made = _put(matter, matter.begin + node.start_mark.index + 1, told)
    elif isinstance(node, ScalarNode) and matter.fields["metadata"] is None:
        made = _below(matter, node, keys)
    else:
        made = None
    return made if made is not None and _is_sound(made, text, entries) else None


def without_entries(matter: FrontMatter) -> tuple[str, dict[str, str]]:
    """The text as it was before `with_entries`, and the entries; none where there are none."""
    node = matter.node("metadata")
    pairs = node.value if isinstance(node, MappingNode) else []
    own = [(key, value) for key, value in pairs if str(key.value).startswith(PREFIX)]
    if not own or any(not isinstance(value, ScalarNode) for _, value in own):
        return matter.text, {}
    entries = {str(key.value).removeprefix(PREFIX): str(value.value) for key, value in own}
    added = entries.pop(ADDED.removeprefix(PREFIX), "")
    alone = added and len(own) == len(pairs)
    if alone:
        cuts = [_added(matter, own[-1][1].end_mark.index, added)]
    else:
        cuts = [
            (key.start_mark.index, following[0].start_mark.index if following else value.end_mark.index)
            for (key, value), following in zip_longest(pairs, pairs[1:])
            if str(key.value).startswith(PREFIX)
        ]
    text, last = "", 0
    for begin, end in cuts:
        text += matter.text[last : matter.begin + begin]
        last = matter.begin + end
    null = added.removeprefix(_MAPPING) if alone and added.startswith(_MAPPING) else ""
    return text + null + matter.text[last:], entries


def _at_the_end(matter: FrontMatter, entries: Mapping[str, str]) -> str:
    pad = " " * matter.root.start_mark.column
    lines = [f"{pad}metadata:"]
    lines += [f"{pad}{_INDENT}{key}: {quoted(value)}" for key, value in {**entries, ADDED: "metadata"}.items()]
    return _put(matter, matter.end, "".join(line + matter.newline for line in lines))


def _before_the_first(matter: FrontMatter, node: MappingNode, entries: Mapping[str, str]) -> str:
    first = node.value[0][0].start_mark
    between = ", " if node.flow_style else matter.newline + " " * first.column
    told = "".join(f"{key}: {quoted(value)}{between}" for key, value in entries.items())
    return _put(matter, matter.begin + first.index, told)


def _below(matter: FrontMatter, node: ScalarNode, entries: Mapping[str, str]) -> str:
    key = next(key for key, _ in matter.root.value if key.value == "metadata")
    begin, end = matter.begin + key.end_mark.index + 1, matter.begin + node.end_mark.index  # behind the colon
    pad = matter.newline + " " * matter.root.start_mark.column + _INDENT
    entries = {**entries, ADDED: _MAPPING + matter.text[begin:end]}
    told = "".join(f"{pad}{key}: {quoted(value)}" for key, value in entries.items())
    return matter.text[:begin] + told + matter.text[end:]


def _added(matter: FrontMatter, end: int, added: str) -> tuple[int, int]:
    """Begin and end, in the YAML, of all that was put there, whose last value ends at `end`."""
    key = next(key for key, _ in matter.root.value if key.value == "metadata")
    if added.startswith(_MAPPING):
        return key.end_mark.index + 1, end  # behind the colon
    return key.start_mark.index - key.start_mark.column, matter.text.find("\n", matter.begin + end) + 1 - matter.begin


def _put(matter: FrontMatter, at: int, told: str) -> str:
    return matter.text[:at] + told + matter.text[at:]


def _is_sound(made: str, text: str, entries: Mapping[str, str]) -> bool:
    """Whether the entries can be taken out again, and leave what was there."""
    try:
        return without_entries(FrontMatter.of(made)) == (text, dict(entries))
    except (FrontMatterError, StopIteration):
        return False
