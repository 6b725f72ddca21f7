"""What is tried, round by round? Writers killed, a server killed, many writers at once; each gives its figures."""

import contextlib
import multiprocessing
import random
import signal
import socket
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import psutil

from brain import SyncBrain
from brain.model.skill import utc_now
from brain.neo4j_local import LocalNeo4j
from tests.contract.samples import skill
from tests.soak import writers
from tests.soak.ledger import Ledger, stored_in

WRITERS = 2
PATIENCE = 120.0  # seconds in which a writer must have done something


class Writer:
    """One writing process, with the ledger of what it told."""

    def __init__(self, process_maker, location, namespace, seed, ledger, first):
        self.ledger = ledger
        self._pipe, theirs = process_maker.Pipe()
        arguments = (location, namespace, seed, ledger.writer, list(ledger.uses), first, theirs)
        self.process = process_maker.Process(target=writers.write, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def listen(self, acknowledgements=0, seconds=0.0):
        """Takes what is told until so many were acknowledged, then for so long. Whether the writer is still there."""
        wanted, deadline = self.ledger.acknowledged + acknowledgements, time.monotonic() + PATIENCE
        while self.ledger.acknowledged < wanted:
            assert time.monotonic() < deadline, "the writer did nothing"
            if not self._take(PATIENCE):
                return False
        ended = time.monotonic() + seconds
        while (left := ended - time.monotonic()) > 0:
            if not self._take(left):
                return False
        return True

    def kill(self):
        """Kills the process where it stands, and hears what it had told before."""
        self.process.kill()
        self._hear_the_rest()
        assert self.process.exitcode == -signal.SIGKILL, (self.process.exitcode, self.ledger.failed)

    def stop(self):
        """Lets the process end after what it is at."""
        with contextlib.suppress(OSError):
            self._pipe.send("stop")
        self._hear_the_rest()

    def _take(self, seconds):
        try:
            if self._pipe.poll(seconds):
                self.ledger.note(*self._pipe.recv())
            return True
        except (EOFError, OSError):  # it ended, perhaps in the middle of a message
            return False

    def _hear_the_rest(self):
        while self._take(PATIENCE):
            pass
        self.process.join()
        self._pipe.close()


def process_maker():
    """Starts processes that have the package loaded already and share nothing with this one."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.soak.writers"])
    return made


def sound(location, namespace, ledgers=()):
    """Opens the store anew: the doctor finds nothing, and all that was acknowledged is there once."""
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        found = brain.examine()
        assert not found.faults, found.faults
        stored, edges = stored_in(brain)
        for ledger in ledgers:
            ledger.settle(stored, edges)
        return len(stored)


def kill_writers(location, namespace, rounds, seed=0):
    """Kills two writers at random moments, round after round, on the same store."""
    rng, maker = random.Random(seed), process_maker()
    ledgers = [Ledger(f"w{number}") for number in range(WRITERS)]
    for number in range(rounds):
        at_work = _begun(maker, location, namespace, ledgers, seed, number)
        for writer in at_work:
            writer.listen(rng.randint(1, 8), rng.uniform(0, 0.05))
            writer.kill()
        sound(location, namespace, ledgers)
    return {"rounds": rounds, **_figures(ledgers)}


def killable_server(version=None):
    """A Neo4j that comes back at the same address after it was killed; not started yet."""
    bolt, http = _free_port(), _free_port()
    return LocalNeo4j(ephemeral=True, version=version, bolt_port=bolt, http_port=http, quiet=True)


def kill_server(server, rounds, seed=0):
    """Kills a Neo4j under two writers, which go on when it is back."""
    rng, maker = random.Random(seed), process_maker()
    ledgers, failed = [Ledger(f"w{number}") for number in range(WRITERS)], 0
    location = server.uri.replace("://", f"://{server.user}:{server.password}@")
    for number in range(rounds):
        at_work = _begun(maker, location, "soak", ledgers, seed, number)
        for writer in at_work:
            writer.listen(rng.randint(1, 10))
        at_work[0].listen(0, rng.uniform(0, 0.1))
        victim = psutil.Process(server.status().pid)
        victim.kill()
        victim.wait(PATIENCE)
        server.start()
        for writer in at_work:
            writer.listen(3)
            writer.stop()
            failed += writer.ledger.failed is not None
            writer.ledger.failed = None
        sound(location, "soak", ledgers)
    return {"rounds": rounds, **_figures(ledgers), "writers that gave up": failed}


def same_feedback(location, namespace, processes=8, times=50):
    """Feedback of many processes on one skill: every one is counted once."""
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        brain.skill_graph.save_skill(skill("one"))
    begun = time.monotonic()
    recorded = _in_processes(writers.give_feedback, [(location, namespace, "one", times)] * processes)
    seconds = time.monotonic() - begun
    sound(location, namespace)
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        found = brain.get_skill("one")
    wanted = processes * times
    assert (sum(recorded), found.transfer_count, found.usage_count, found.version) == (
        wanted,
        wanted,
        wanted,
        wanted + 1,
    )
    return {"feedbacks": found.transfer_count, "seconds": round(seconds, 1)}


def same_traces(location, namespace, processes=8, traces=40):
    """Many processes that learn the same at once: each skill, tag, shape and edge is there once."""
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        brain.skill_graph.save_skill(skill("used"))
    names = [f"same {number}" for number in range(traces)]
    begun = time.monotonic()
    arguments = [(location, namespace, number, names, "used") for number in range(processes)]
    outcomes = _in_processes(writers.learn_in_some_order, arguments)
    seconds = time.monotonic() - begun
    assert Counter(outcome for many in outcomes for outcome in many) == {
        "created": traces,
        "reinforced": (processes - 1) * traces,
    }
    assert sound(location, namespace) == traces + 1
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        stored, edges = stored_in(brain)
    assert all(uses == (processes, 0, 0, processes) for name, uses in stored.items() if name != "used")
    assert Counter(relation for _, _, relation in edges) == {"DERIVES_FROM": traces, "TRANSFERRED_TO": traces}
    return {"skills": len(stored) - 1, "edges": len(edges), "seconds": round(seconds, 1)}


def mixed(location, namespace, processes=4, seconds=60.0):
    """Everything at once with the sweep running: what lasts is counted to the last use, the counters add up, and the
    doctor finds nothing, not even meanwhile.
    """
    lasting, passing = [f"lasting-{i}" for i in range(4)], [f"passing-{i}" for i in range(12)]
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        brain.skill_graph.save_skills([skill(name) for name in lasting])
        counted, looks = Counter(), Counter()

        def look():
            found = brain.examine()
            assert not found.faults, found.faults
            looks["looks"] += 1

        arguments = [(location, namespace, number, lasting, passing, seconds) for number in range(processes)]
        for mine in _in_processes(writers.mix, arguments, meanwhile=look):
            counted.update(mine)
    left = sound(location, namespace)
    now = utc_now()  # it stands still, so that nothing expires between two looks
    with SyncBrain.open(location, namespace=namespace, cache=False, clock=lambda: now) as brain:
        found = {name: brain.get_skill(name).transfer_count for name in lasting}
        assert found == {name: counted[name] for name in lasting}
        skills, summary = brain.get_skills(), brain.get_skill_summary()
    transferable = sum(s.is_transferable for s in skills)
    assert (summary["total_skills"], summary["transferable_skills"]) == (len(skills), transferable)
    assert summary["total_transfers"] == sum(s.transfer_count for s in skills)
    return {"feedbacks": sum(found.values()), "skills left": left, **looks, "seconds": seconds}


def _begun(maker, location, namespace, ledgers, seed, number):
    return [
        Writer(maker, location, namespace, f"{seed} {number} {ledger.writer}", ledger, 1000 * number)
        for ledger in ledgers
    ]


def _in_processes(work, arguments, meanwhile=None):
    with ProcessPoolExecutor(len(arguments), mp_context=process_maker()) as pool:
        futures = [pool.submit(work, *each) for each in arguments]
        while meanwhile and not all(future.done() for future in futures):
            meanwhile()
        return [future.result() for future in futures]


def _figures(ledgers):
    return {
        "acknowledged": sum(ledger.acknowledged for ledger in ledgers),
        "cut off and done": sum(ledger.was_done for ledger in ledgers),
        "cut off and not done": sum(ledger.was_not_done for ledger in ledgers),
        "skills at the end": sum(len(ledger.uses) for ledger in ledgers),
    }


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]
