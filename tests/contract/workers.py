"""What does another process do? Functions that a spawned process imports and runs."""

from brain import SyncBrain
from tests.contract.samples import bread


def give_feedback(location, namespace, skill_id, times):
    with SyncBrain.open(location, namespace=namespace) as brain:
        return sum(brain.feedback(skill_id, {"task": f"t{i}"}, i % 2 == 0).recorded for i in range(times))


def learn_the_same(location, namespace, times):
    with SyncBrain.open(location, namespace=namespace) as brain:
        return [brain.observe(**bread()).outcome.value for _ in range(times)]
