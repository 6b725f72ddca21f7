"""Do two texts tell the same procedure? Their steps are laid side by side; whatever turns one around is a veto.

Figures are of tests/quality/duplicates.jsonl, its part "dev": 43 same and 191 different pairs. Thresholds on the
procedure and the content measure do not part them; step agreement with the vetoes does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from brain.analysis.alignment import Alignment, Partners
from brain.analysis.languages import agree, is_known
from brain.analysis.opposites import say_opposites
from brain.analysis.outline import Line, Outline
from brain.analysis.vocabulary import Vocabulary, akin

LEAST_MEAN, LEAST_STEP, LEAST_COVERAGE = 0.55, 0.33, 0.55
"""Agreement of the steps on average, of each step, and the share of all words that both have. 38 of the same pairs are
found; with a mean of .60 36, with a step of .40 36, of .50 31, with a coverage of .65 35. Lower ones find no more, and
steps of 0 merge a different pair (of the part "check")."""

SURELY_ALIGNED = 0.5
"""Agreement from which a step's place tells the order. .5 to .6 is a plateau; .4 loses a same pair, .7 and more lets
paraphrases of reordered procedures through."""

LEAST_EQUAL = 0.5
"""Share of word-for-word equal steps from which the rest must agree fully. .4 loses four same pairs, .9 merges two
different ones."""

LEAST_TASK = 0.7
"""Agreement of the tasks beside equal steps: agents alone, or steps that fit any task, do not make two tasks one. 0 to
.9 is a plateau."""

FULL = 1 - 1e-9
"""Agreement of steps that share all content words."""

STRICT = 0.85
"""Agreement of each line where there is one step, or the task alone: one word more on one side, none replaced."""

MOST_OTHER_STEPS, MOST_OTHER_OBJECTS = 0.6, 1
"""Share of steps with new nouns on both sides, and number of steps with other nouns beside the same verb. A share of
.4 finds 32 of the same pairs, .6 to .8 is a plateau. Two such steps find two more of "check", and let two paraphrased
near misses through; none finds seven fewer."""

LEAST_SHARED = 0.3
"""Share of a text's content words that a twin has word for word; every merged pair has it. For a quick search."""

MOST_COMPARED = 10
"""How many texts, those with most words in common, are compared step by step: 0.01 to 0.03 ms for most, which the
language, the count of negations or too few common words tell apart, else 0.1 to 0.3 ms. Among the 368 texts of the
labelled set a twin is at worst the fourth in that order, 0.8 on average; put in order by their procedures as well it is
the fifth, and 1.2. Among 10 000 runs that are made of few words, 50 of them in that other order would take three times
as long as all else that is done to learn one."""

_NEARLY_EQUAL = 0.99
_VERB_STANDS_LAST = frozenset({"de", "ja"})


def agreement(mine: Outline, theirs: Outline) -> float:
    """How surely two texts tell the same procedure, 0..1: 1 for equal texts, 0 where a veto holds or too little agrees.

    Symmetric. Steps need partners that share most of their words (`LEAST_MEAN` on average, `LEAST_STEP` at least,
    `LEAST_COVERAGE` of all words). Vetoes: another language or one that is not known, more negations, opposites, words
    that change places, another order, one step that differs among equal ones, other objects. With less than two steps
    on a side both have as many, and all lines agree by `STRICT`.
    """
    if mine.is_empty or theirs.is_empty:
        return 0.0
    if mine == theirs:
        return 1.0
    if not _comparable(mine, theirs):
        return 0.0
    sides = Alignment(mine, theirs)
    score = _of_steps(sides) if len(mine.steps) > 1 else _of_few_lines(sides)
    vetoes = (_out_of_order, _differs_in_one_place, _opposed, _exchanged, _directions_swapped, _other_objects)
    return 0.0 if not score or any(veto(sides) for veto in vetoes) else min(score, _NEARLY_EQUAL)


def _comparable(left: Outline, right: Outline) -> bool:
    """Whether both are in one known language, negate as often, and both have at least two steps or equally few.

    Without counting negations 26 are merged.
    """
    if not is_known(left.language) or not agree(left.language, right.language):
        return False
    if left.negations != right.negations or left.task.negations != right.task.negations:
        return False
    return min(len(left.steps), len(right.steps)) > 1 or len(left.steps) == len(right.steps)


def _of_steps(sides: Alignment) -> float:
    """The mean agreement of the steps, if there is enough of it everywhere; else 0."""
    if sides.coverage_at_most < LEAST_COVERAGE:
        return 0.0  # as most pairs of texts
    enough = sides.coverage >= LEAST_COVERAGE and sides.mean >= LEAST_MEAN and sides.least >= LEAST_STEP
    return sides.mean if enough else 0.0


def _of_few_lines(sides: Alignment) -> float:
    """The smallest agreement of the one step and the task, if all is nearly the same; else 0."""
    if sides.new_on_left and sides.new_on_right:
        return 0.0
    least = min((pair.agreement for pair in sides.everywhere), default=0.0)
    return least if least >= STRICT else 0.0


def _opposed(sides: Alignment) -> bool:
    """Whether partners say the opposite. Without this veto 3 (and 8 paraphrased near misses) are merged."""
    return any(say_opposites(pair.left, pair.right, sides.language) for pair in sides.differing)


def _exchanged(sides: Alignment) -> bool:
    """Whether two words stand in each other's place: "write valid rows, report rejected ones" and the reverse."""
    replaced = set()
    for pair in sides.differing:
        mine = [word for word in pair.left.content if word not in pair.right.vocabulary]
        theirs = [word for word in pair.right.content if word not in pair.left.vocabulary]
        replaced |= {(word, other) for word in mine for other in theirs}
    return any((other, word) in replaced for word, other in replaced)


def _directions_swapped(sides: Alignment) -> bool:
    """Whether partners go the opposite way with the same words: "from A to B" and "from B to A"."""
    return any(_other_way(pair, word) for pair in sides.differing for word in sides.language.directions)


def _other_way(pair: Partners, preposition: str) -> bool:
    mine, theirs = pair.left.after(preposition), pair.right.after(preposition)
    if not mine or not theirs or any(word in Vocabulary(theirs) for word in mine):
        return False
    return any(word in pair.right.vocabulary for word in mine) and any(word in pair.left.vocabulary for word in theirs)


def _out_of_order(sides: Alignment) -> bool:
    """Whether two steps whose partners are sure come in another order. Without this veto 23 are merged."""
    for pairs, partners in ((sides.of_left, sides.partner_of_left), (sides.of_right, sides.partner_of_right)):
        rows = zip(pairs, partners, strict=True)
        places = [place for pair, place in rows if pair.agreement >= SURELY_ALIGNED]
        if any(after < before for before, after in pairwise(places)):
            return True
    return False


def _differs_in_one_place(sides: Alignment) -> bool:
    """Whether most steps are equal, so that what is left was not merely put in other words.

    Once `LEAST_EQUAL` of the steps are word for word the same, the others must agree fully or be told as one. Then, and
    wherever all steps agree fully, the tasks agree by `LEAST_TASK` without new words on both sides. Without this veto 2
    are merged.
    """
    mine, theirs, tasks = sides.left.steps, sides.right.steps, sides.tasks
    if not mine:
        return False
    equal = len(set(mine) & set(theirs)) >= LEAST_EQUAL * min(len(mine), len(theirs))
    if equal and any(pair.agreement < FULL and not _part_of(sides, pair) for pair in sides.partners):
        return True
    if tasks is None or not (equal or sides.least >= FULL):
        return False
    return tasks.agreement < LEAST_TASK or _new_on_both(sides, tasks)


def _part_of(sides: Alignment, pair: Partners) -> bool:
    """Whether one is a part of the other and nothing in them is new: two steps that are told as one."""
    left, right = set(pair.left.content), set(pair.right.content)
    if sides.new_on_left & left or sides.new_on_right & right:
        return False
    return all(word in pair.right.vocabulary for word in left) or all(word in pair.left.vocabulary for word in right)


def _new_on_both(sides: Alignment, pair: Partners) -> bool:
    return not sides.new_on_left.isdisjoint(pair.left.content) and not sides.new_on_right.isdisjoint(pair.right.content)


def _other_objects(sides: Alignment) -> bool:
    """Whether the same is done to other things: in too many steps other nouns, or other nouns beside the same verb.

    More than `MOST_OTHER_STEPS` of the steps have nouns that are new on both sides; or one step, or the task, shares
    its verb alone; or more than `MOST_OTHER_OBJECTS` have the same verb and some other nouns. Without this veto 8 are
    merged, and all 43 of the same pairs.
    """
    for side in (sides.of_left, sides.of_right):
        if sum(_new_nouns(sides, pair) for pair in side) > MOST_OTHER_STEPS * len(side):
            return True
        if sum(_share_verb(sides, pair) and _differing_nouns(pair) for pair in side) > MOST_OTHER_OBJECTS:
            return True
    return any(_only_verb_shared(sides, pair) for pair in sides.differing) or _replaced_throughout(sides)


def _only_verb_shared(sides: Alignment, pair: Partners) -> bool:
    """Whether both do the same to things of which the other side knows nothing."""
    return _share_verb(sides, pair) and _new_nouns(sides, pair) and not _share_noun(sides, pair)


def _replaced_throughout(sides: Alignment) -> bool:
    """Whether the same thing stands for the same other one in two lines that are else alike: "rank the alerts", "assign
    the alerts" and "rank the capacity warnings", "assign the capacity warnings".
    """
    replaced = [found for pair in sides.differing if (found := _replaced(sides, pair))]
    return len(set(replaced)) < len(replaced)


def _replaced(sides: Alignment, pair: Partners) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The words of both lines between what they begin and end with alike; None unless both have content words there,
    the leading verb aside.
    """
    mine, theirs = pair.left.keys, pair.right.keys
    begin = _alike(mine, theirs)
    end = _alike(mine[begin:][::-1], theirs[begin:][::-1])
    left, right = mine[begin : len(mine) - end], theirs[begin : len(theirs) - end]
    for line, words in ((pair.left, left), (pair.right, right)):
        if set(words).isdisjoint(line.content) or not set(words).isdisjoint(_leading_verb(sides, line)):
            return None
    return left, right


def _alike(mine: Sequence[str], theirs: Sequence[str]) -> int:
    """With how many equal words two texts begin."""
    return next(
        (i for i, (word, other) in enumerate(zip(mine, theirs, strict=False)) if word != other),
        min(len(mine), len(theirs)),
    )


def _new_nouns(sides: Alignment, pair: Partners) -> bool:
    """Whether both have a noun that the other side has nowhere."""
    mine = sides.new_on_left.intersection(pair.left.content) - pair.left.verbs
    theirs = sides.new_on_right.intersection(pair.right.content) - pair.right.verbs
    return bool(mine and theirs)


def _differing_nouns(pair: Partners) -> bool:
    """Whether both have a noun that their partner has not."""
    mine = any(word not in pair.right.vocabulary for word in pair.left.content if word not in pair.left.verbs)
    return mine and any(word not in pair.left.vocabulary for word in pair.right.content if word not in pair.right.verbs)


def _share_verb(sides: Alignment, pair: Partners) -> bool:
    """Whether both do the same. A verb that the word list does not know is taken to stand first, or last."""
    first, second = _leading_verb(sides, pair.left), _leading_verb(sides, pair.right)
    if any(akin(word, other) for word in first for other in second):
        return True
    return any(verb in pair.right.vocabulary for verb in pair.left.verbs) or any(
        verb in pair.left.vocabulary for verb in pair.right.verbs
    )


def _share_noun(sides: Alignment, pair: Partners) -> bool:
    """Whether both name the same thing beside what they do."""
    mine, theirs = (
        [word for word in line.content if word not in line.verbs and word not in _leading_verb(sides, line)]
        for line in (pair.left, pair.right)
    )
    return any(word in Vocabulary(theirs) for word in mine)


def _leading_verb(sides: Alignment, line: Line) -> tuple[str, ...]:
    """The word that stands where the verb of an instruction does."""
    return line.content[-1:] if sides.language.name in _VERB_STANDS_LAST else line.content[:1]
