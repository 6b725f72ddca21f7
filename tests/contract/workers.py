"""What does another process do? Functions that a spawned process imports and runs."""

from brain import SyncBrain
from tests.contract.samples import bread


def give_feedback(location, namespace, skill_id, times):
    with SyncBrain.open(location, namespace=namespace) as brain:
        return sum(brain.feedback(skill_id, {"task": f"t{i}"}, i % 2 == 0).recorded for i in range(times))


def give_the_same_feedback(location, namespace, skill_id, times):
    """Feedback with the same ids as every other process gives; how many were not given before."""
    with SyncBrain.open(location, namespace=namespace) as brain:
        receipts = [brain.feedback(skill_id, {}, True, feedback_id=f"f{i}") for i in range(times)]
        assert all(receipt.recorded for receipt in receipts)
        return sum(not receipt.repeated for receipt in receipts)


def learn_the_same(location, namespace, times):
    with SyncBrain.open(location, namespace=namespace) as brain:
        return [brain.observe(**bread()).outcome.value for _ in range(times)]
