"""Which English words hang a sentence together? The lists by which word classes are told."""

from __future__ import annotations

DETERMINERS = frozenset(
    (
        "a an the this that these those each every all any some both either neither another other its his her their "
        "our my your which what whose"
    ).split()
)
PREPOSITIONS = frozenset(
    (
        "of in on at by for with from into onto to through between among against across over under during before "
        "after about above below within without until per via as than like near toward towards upon inside outside"
    ).split()
)
AUXILIARIES = frozenset(
    (
        "is are was were be been being am has have had having do does did will would can could may might must shall "
        "should"
    ).split()
)
PRONOUNS = frozenset("i you he she it we they who that them him us me".split())
CONNECTIVES = frozenset("and or but so then if when while because once where how nor also too again there here".split())
NEGATIONS = frozenset("not no never none nothing cannot can't don't without except unless".split())
"""Words that turn a step around: they count as modifiers."""
EMPTY = frozenset("why whom although though whether such since thus out up off down away please let just very".split())
"""Words that are no function words to a procedure ("find out", "hand over to whom") and tell nothing of a topic."""
FUNCTION_WORDS = (DETERMINERS | PREPOSITIONS | AUXILIARIES | PRONOUNS | CONNECTIVES) - NEGATIONS
