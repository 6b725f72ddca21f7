"""What is the guide's in-memory object? A dictionary with the ten methods that OrKa calls, and nothing else."""


class FakeMemory:
    """Answers text, as OrKa's demo does."""

    def __init__(self):
        self.strings, self.hashes, self.sets = {}, {}, {}

    def get(self, key):
        return self.strings.get(key)

    def set(self, key, value):
        self.strings[key] = value

    def delete(self, key):
        for kept in (self.strings, self.hashes, self.sets):
            kept.pop(key, None)

    def hset(self, key, field, value):
        self.hashes.setdefault(key, {})[field] = value

    def hget(self, key, field):
        return self.hashes.get(key, {}).get(field)

    def hkeys(self, key):
        return list(self.hashes.get(key, {}))

    def hdel(self, key, field):
        self.hashes.get(key, {}).pop(field, None)

    def sadd(self, key, member):
        self.sets.setdefault(key, set()).add(member)

    def srem(self, key, member):
        self.sets.get(key, set()).discard(member)

    def smembers(self, key):
        return set(self.sets.get(key, ()))
