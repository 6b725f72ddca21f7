"""Does every error say what to do next? Read off the source: a fault alone is one sentence."""

import ast
import re
from pathlib import Path

import brain
from brain import errors

KINDS = {name for name in vars(errors) if name.endswith("Error")}
NO_SENTENCES = ("skillfiles", "analysis", "store/redis/document.py")
"""Where a fault is a part of what another message says, which has the remedy."""
_REMEDY = re.compile(
    r"[.;:?] (\{|[A-Z`a-z])|\} [A-Z]"  # a second sentence, or part of one
    r"|\bmust\b|\bneeds\b|\bsuch as\b|, not an? |^(Give|Say|Upgrade) "  # it says itself what should be
    r"|^(Number|Levels|Bytes) of "  # a LimitError has the remedy
)
_FEWEST_WORDS = 3  # with less the message comes from elsewhere


def text_of(node):
    """The text of a message, with {} for what is put in; empty if it is made elsewhere."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp):
        return text_of(node.left) + text_of(node.right)
    return ""


def messages():
    for path in sorted(Path(brain.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
                yield path, node.lineno, max((text_of(part) for part in node.args), key=len, default="")


def test_every_message_says_what_to_do_next():
    top = Path(brain.__file__).parent
    found = [
        (path.relative_to(top).as_posix(), line, text)
        for path, line, text in messages()
        if len(re.findall(r"\w+", text)) >= _FEWEST_WORDS
    ]
    assert len(found) > 100, "they are found"
    silent = [one for one in found if not one[0].startswith(NO_SENTENCES) and not _REMEDY.search(one[2])]
    assert silent == []
