"""What do the writers do that are killed, or that work side by side? Functions that other processes run."""

import hashlib
import random
import time
from datetime import timedelta

from brain import Skill, SyncBrain
from brain.errors import SkillNotFoundError, StoreError
from brain.model.skill import utc_now
from tests.contract.samples import execution

RELATIONS = ("COMPLEMENTS", "SPECIALIZES", "DERIVES_FROM")
KNOWN_AT_MOST, BATCH = 12, 5
_LETTERS = str.maketrans("0123456789", "qrstuvwxyz")


def told(name):
    """An execution that no other name has a word in common with."""
    letters = hashlib.sha256(name.encode()).hexdigest().translate(_LETTERS)
    words = [letters[i : i + 8] for i in range(0, 40, 8)]
    return execution(" ".join(words[:4]), *(f"{word} the {words[4]}" for word in words), domain=words[0])


def chosen(rng, known, fresh):
    """An operation that makes sense when the skills `known` are stored: its kind and what it needs."""
    kinds = ["learn", "batch"] if len(known) < KNOWN_AT_MOST else ["delete"]
    if len(known) > 1:
        kinds += ["again", "feedback", "feedback", "edge", "save", "delete"]
    kind = rng.choice(kinds)
    if kind == "learn":
        return kind, next(fresh)
    if kind == "batch":
        return kind, tuple(next(fresh) for _ in range(BATCH))
    if kind == "edge":
        return kind, (*rng.sample(known, 2), rng.choice(RELATIONS))
    return kind, rng.choice(known), *([rng.random() < 0.7] if kind == "feedback" else [])


def carry_out(brain, kind, what, success=True):
    """Does one operation; whatever it returns stands for its acknowledgement."""
    if kind == "learn":
        assert brain.observe(**told(what), skill_id=what).outcome == "created", what
    elif kind == "batch":
        report = brain.learn_many([{**told(name), "skill_id": name} for name in what])
        assert report.outcomes["created"] == len(what), report
    elif kind == "again":
        assert brain.observe(**told(what)).skill.id == what
    elif kind == "feedback":
        assert brain.feedback(what, {"domain": "soak", "task": "t"}, success).recorded
    elif kind == "edge":
        brain.skill_graph.add_edge(what[0], what[2], what[1], {"by": "soak"})
    elif kind == "delete":
        assert brain.skill_graph.delete_skill(what)
    else:
        found = brain.get_skill(what)
        brain.skill_graph.save_skill(found.model_copy(update={"description": f"{found.description}."}))


def left_after(known, kind, what, *_):
    """The skills that are stored after an operation."""
    if kind == "delete":
        return [name for name in known if name != what]
    return known + {"learn": [what], "batch": list(what)}.get(kind, [])


def write(location, namespace, seed, writer, known, first, pipe):
    """Works until it is killed or told to stop. Tells the pipe what it tries, and then that it was done."""
    rng, known = random.Random(seed), list(known)
    fresh = (f"{writer}-{number}" for number in range(first, 1_000_000))
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        while not pipe.poll():
            operation = chosen(rng, known, fresh)
            pipe.send(("trying", operation))
            try:
                carry_out(brain, *operation)
            except StoreError as error:
                pipe.send(("failed", str(error)))
                return
            pipe.send(("done", operation))
            known = left_after(known, *operation)
        pipe.send(("stopped", None))


def give_feedback(location, namespace, skill_id, times):
    """Feedback on one skill; how many were recorded."""
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        return sum(brain.feedback(skill_id, {"task": f"t{i}"}, i % 2 == 0).recorded for i in range(times))


def learn_in_some_order(location, namespace, seed, names, used):
    """Learns what others learn at the same time, each from the skill `used`; what came of it."""
    names = random.Random(seed).sample(names, len(names))
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        return [brain.observe(**told(name), derived_from=[used]).outcome.value for name in names]


def mix(location, namespace, seed, lasting, passing, seconds):
    """Everything at once on skills that others work on too; how often each of the `lasting` ones was used.

    The `passing` ones are saved, deleted, connected and left to expire.
    """
    rng, counted, ended = random.Random(seed), dict.fromkeys(lasting, 0), time.monotonic() + seconds
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        while time.monotonic() < ended:
            name, other = rng.choice(lasting), rng.choice(passing)
            if rng.random() < 0.5:
                counted[name] += brain.feedback(name, {"domain": f"d{rng.randrange(5)}"}, rng.random() < 0.8).recorded
                continue
            try:
                _disturb(brain, rng, name, other)
            except SkillNotFoundError:
                continue  # another one was quicker to delete it, or it has expired
    return counted


def _disturb(brain, rng, name, other):
    kind = rng.choice(["save", "save", "delete", "edge", "learn", "recall", "sweep", "list"])
    if kind == "save":
        left = timedelta(seconds=rng.uniform(0.1, 2))
        steps = [{"action": f"{word} {other}"} for word in ("take", "turn", "leave")[: rng.randint(1, 3)]]
        brain.skill_graph.save_skill(
            Skill(id=other, name=other, procedure=steps, tags=[other[-1], "x"], expires_at=utc_now() + left)
        )
    elif kind == "delete":
        brain.skill_graph.delete_skill(other)
    elif kind == "edge":
        brain.skill_graph.add_edge(name, rng.choice(RELATIONS), other)
    elif kind == "learn":
        brain.observe(**told(f"{other}-{rng.randrange(20)}"))
    elif kind == "recall":
        brain.recall(told(other)["context"])
    elif kind == "sweep":
        brain.cleanup_expired_skills()
    else:
        brain.get_skill_summary()
        brain.get_skills()
