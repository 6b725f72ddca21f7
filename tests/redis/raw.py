"""What really stands in a Redis, and how is it damaged there? Read and written as OrKa would, without a companion."""

import base64
import json

import redis

from brain.store.redis.layout import DEFAULT_PREFIX, Keys
from brain.store.redis.opening import _address

SETS = ("tags", "type_index", "domain_index")


class RedisRaw:
    """One namespace at one location, seen by a plain client."""

    def __init__(self, place):
        if place.kind == "memory":
            self._client, prefix = MemoryClient(place.memory), DEFAULT_PREFIX
        else:
            address, prefix = _address(place.location)
            self._client = redis.Redis.from_url(address, protocol=2)
        self.keys = Keys(prefix, place.namespace)

    def counts(self):
        """Members of each kind in the namespace."""
        keys, client = self.keys, self._client
        with client:
            found = {
                "skill": len(self._matching(keys.documents)),
                "index": client.hlen(keys.index),
                "edge": sum(client.scard(key) for key in self._matching(keys.edges_of)) // 2,
                "trace": client.hlen(keys.traces),
                "trace of a skill": sum(client.scard(key) for key in self._matching(keys.traces_of)),
            }
            for family in SETS:
                found[family] = sum(client.scard(key) for key in self._matching(f"{keys.prefix}{family}:"))
            for name in ("notes", "profiles", "terms", "vectors", "dedup"):
                found[name] = client.hlen(getattr(keys, name))
            for name in ("expiry", "used"):
                found[name] = client.zcard(getattr(keys, name))
            return found

    def _matching(self, prefix):
        return list(self._client.scan_iter(match=f"{prefix}*", count=1000))

    def clear(self):
        """Removes every namespace under the prefix."""
        name = self.keys.prefix.partition("~")[0].removesuffix(":")
        with self._client as client:
            for pattern in (f"{name}:*", f"{name}~*"):
                for key in list(client.scan_iter(match=pattern, count=1000)):
                    client.delete(key)

    clear_everything = clear

    def document(self, skill_id):
        with self._client as client:
            return json.loads(client.get(self.keys.document(skill_id)))

    def write(self, skill_id, text):
        with self._client as client:
            client.set(self.keys.document(skill_id), text)

    def damage_text(self, skill_id):
        """Makes the skill unreadable."""
        self.write(skill_id, "{broken")

    def damage_field(self, skill_id):
        """Gives the skill a field of the wrong kind."""
        self.write(skill_id, json.dumps({**self.document(skill_id), "confidence": 7}))

    def damage_number(self, skill_id):
        """Puts a word where recall reads a number."""
        self.write(skill_id, json.dumps({**self.document(skill_id), "confidence": "much"}))

    def damage_shape(self, skill_id):
        """Makes what recall reads unreadable."""
        with self._client as client:
            note = client.hget(self.keys.notes, skill_id)
            client.hset(self.keys.notes, skill_id, note[:40] + b"[broken")

    def damage_vector(self, skill_id, vector):
        with self._client as client:
            mark = client.hget(self.keys.terms, skill_id)[: Keys.MARK]
            if vector is None:
                client.hdel(self.keys.vectors, skill_id)
            else:
                client.hset(self.keys.vectors, skill_id, mark + bytes(vector))

    def forget_profile(self, skill_id):
        with self._client as client:
            client.hdel(self.keys.profiles, skill_id)
            client.hdel(self.keys.terms, skill_id)

    def damage_trace(self, skill_id):
        """Makes the first of its traces unreadable."""
        key = min(self._client.smembers(self.keys.traces_learned(skill_id)))
        row = json.loads(self._client.hget(self.keys.traces, key))
        self._client.hset(self.keys.traces, key, json.dumps([*row[:2], "{broken", *row[3:]]))

    def damage_edges(self):
        with self._client as client:
            for key in self._matching(self.keys.edges_of):
                for member in client.smembers(key):
                    if b"COMPLEMENTS" in member:
                        client.srem(key, member)
                        client.sadd(key, member[:-3])


class MemoryClient:
    """The few calls above, on the guide's in-memory object."""

    def __init__(self, memory):
        self._memory = memory

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def scan_iter(self, match, count):
        kept = {**self._memory.strings, **self._memory.hashes, **self._memory.sets}
        return (key for key in kept if key.startswith(match.removesuffix("*")))

    def get(self, key):
        return self._memory.get(key)

    def set(self, key, value):
        self._memory.set(key, value)

    def delete(self, key):
        self._memory.delete(key)

    def hlen(self, key):
        return len(self._memory.hkeys(key))

    zcard = hlen

    def scard(self, key):
        return len(self._memory.smembers(key))

    def hget(self, key, field):
        value = self._memory.hget(key, field)
        if value.startswith("base64:"):
            return base64.b64decode(value.removeprefix("base64:"))
        return value.encode()

    def hset(self, key, field, value):
        binary = field in self._memory.hashes.get(key, {}) and self._memory.hget(key, field).startswith("base64:")
        text = "base64:" + base64.b64encode(value).decode() if binary else value.decode()
        self._memory.hset(key, field, text)

    def hdel(self, key, field):
        self._memory.hdel(key, field)

    def smembers(self, key):
        return {member.encode() for member in self._memory.smembers(key)}

    def srem(self, key, member):
        self._memory.srem(key, member.decode())

    def sadd(self, key, member):
        self._memory.sadd(key, member.decode())
