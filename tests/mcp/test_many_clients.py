"""Do clients that work at the same time lose anything of each other's?"""

import anyio
import pytest

from brain import SyncBrain
from tests.mcp.sessions import LESSON, TASK, call, listening, over_http, talk, with_process

CLIENTS, ROUNDS, PROCESSES = 20, 5, 5


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_twenty_sessions_over_http_lose_nothing(tmp_path, mode):
    location = f"sqlite:///{tmp_path / 'skills.db'}"

    async def client(url, number):
        async with over_http(url, mode=mode) as session:
            own = {
                **LESSON,
                "task": f"Sort the letters of drawer {number} by sender and date",
                "steps": [f"open drawer {number}", "read each sender", "sort by date", "close it again"],
                "domain": f"archive {number}",
                "trace_id": f"own-{number}",
            }
            await call(session, "learn", **own)
            for turn in range(ROUNDS):
                shared = await call(session, "learn", **LESSON | {"trace_id": f"{number}-{turn}"})
                rated = {"skill_id": shared["skill"]["skill_id"], "success": True, **TASK}
                for _ in range(2):  # a client that sends everything twice
                    await call(session, "feedback", **rated, feedback_id=f"{number}-{turn}")
            return shared["skill"]["skill_id"]

    async def conversation(url):
        found = set()

        async def keep(number):
            found.add(await client(url, number))

        async with anyio.create_task_group() as tasks:
            for number in range(CLIENTS):
                tasks.start_soon(keep, number)
        return found

    with listening(tmp_path, "--store", location) as url:
        (shared,) = talk(conversation, url)
    with SyncBrain.open(location, cache=False) as brain:
        skill = brain.get_skill(shared)
        assert skill.transfer_count == CLIENTS * ROUNDS
        assert skill.usage_count == 2 * CLIENTS * ROUNDS
        assert sum(other.usage_count for other in brain.iter_skills() if other.id != shared) == CLIENTS


def test_five_servers_on_one_file_lose_nothing(tmp_path):
    location = f"sqlite:///{tmp_path / 'skills.db'}"

    async def work(number):
        async with with_process(tmp_path, "--store", location) as client:
            for turn in range(ROUNDS):
                learned = await call(client, "learn", **LESSON | {"trace_id": f"{number}-{turn}"})
                rated = {"skill_id": learned["skill"]["skill_id"], "success": turn % 2 == 0, **TASK}
                await call(client, "feedback", **rated, feedback_id=f"{number}-{turn}")

    async def conversation():
        async with anyio.create_task_group() as tasks:
            for number in range(PROCESSES):
                tasks.start_soon(work, number)

    talk(conversation)
    with SyncBrain.open(location, cache=False) as brain:
        (skill,) = brain.get_skills()
        assert skill.transfer_count == PROCESSES * ROUNDS
        assert skill.transfer_successes == PROCESSES * 3
        assert skill.usage_count == 2 * PROCESSES * ROUNDS
