"""Redis beside plain commands in a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import redis

from brain.store.values import Draft
from tests.bench.places import Place

PREFIX, PLAIN = "bench", "bench-plain:"


class RedisPlace(Place):
    """One server, with keys under a prefix of the benchmark's own."""

    kind, floor_name, plain_name = "redis", "`PING`", "a pipeline of SET, HSET and SADD of the same values"

    def __init__(self, url: str) -> None:
        super().__init__(f"{url}/0?prefix={PREFIX}")
        self._client = redis.Redis.from_url(f"{url}/0", protocol=2)
        self.clear()

    def floor(self) -> Any:
        return self._client.ping()

    write_floor = floor

    def versions(self) -> str:
        return f"Redis {self._client.info('server')['redis_version']}, redis-py {redis.__version__}"

    def counters(self, count: int) -> list[Callable[[int], Any]]:
        return [lambda _, i=i: self._client.incr(f"{PLAIN}counter:{i}") for i in range(count)]

    def plain_rows(self, drafts: Sequence[Draft]) -> Any:
        return [(d.skill.id, d.skill.model_dump_json(), d.profile, d.terms, d.vector, d.skill.tags) for d in drafts]

    def plain_write(self, rows: Any) -> None:
        with self._client.pipeline(transaction=True) as pipeline:
            for skill_id, document, profile, terms, vector, tags in rows:
                pipeline.set(f"{PLAIN}skill:{skill_id}", document)
                for name, value in (("profiles", profile), ("terms", terms), ("vectors", vector)):
                    pipeline.hset(f"{PLAIN}{name}", skill_id, value)
                for tag in tags:
                    pipeline.sadd(f"{PLAIN}tag:{tag}", skill_id)
            pipeline.zadd(f"{PLAIN}ids", {row[0]: 0 for row in rows})
            pipeline.execute()

    def plain_delete(self, size: int) -> int:
        found = self._client.zrange(f"{PLAIN}ids", 0, size - 1)
        if not found:
            return 0
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.delete(*(f"{PLAIN}skill:".encode() + skill_id for skill_id in found))
            for name in ("profiles", "terms", "vectors"):
                pipeline.hdel(f"{PLAIN}{name}", *found)
            pipeline.zrem(f"{PLAIN}ids", *found)
            pipeline.execute()
        return len(found)

    def empty(self) -> None:
        self._remove(f"{PREFIX}:*", f"{PREFIX}~*")

    def clear(self) -> None:
        self.empty()
        self._remove(f"{PLAIN}*")

    def _remove(self, *patterns: str) -> None:
        for pattern in patterns:
            keys = list(self._client.scan_iter(pattern, count=10_000))
            for start in range(0, len(keys), 10_000):
                self._client.unlink(*keys[start : start + 10_000])

    def close(self) -> None:
        self._client.close()
