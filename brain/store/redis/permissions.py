"""What must a Redis user be allowed to do? The commands that a store uses, and an ACL line that allows them.

    ACL SETUSER brain on >password ~orka:brain:* ~orka:brain~* resetchannels -@all +get +mget +set ...

`rules` gives the whole line for any prefix. What `OPTIONAL` names is done without where it is forbidden: without INFO a
server that is too old or a cluster shows by its first refusal; without CLIENT TRACKING every recall compares all
documents; without SCAN the sets keep the ids of skills that expired before anybody noted them; with TTL and SISMEMBER
`brain redis verify` looks at expiry and sets.
"""

from __future__ import annotations

from brain.store.redis.layout import DEFAULT_PREFIX, check_prefix

READING = ("get", "mget", "exists", "type", "hget", "hmget", "hgetall", "hkeys", "hlen", "smembers", "ping", "select")
"""Commands that read or keep a connection, in scripts too."""
SORTED = ("zadd", "zrem", "zcard", "zrange", "zrangebyscore", "zremrangebyrank")
"""Commands on the sorted sets of the companion."""
WRITING = ("set", "del", "hset", "hsetnx", "hdel", "hincrby", "sadd", "srem", "rpush", "llen", "lpop")
"""Commands that write."""
CARRYING = ("multi", "exec", "eval", "evalsha")
"""Commands that carry the others out."""
COMMANDS = (*READING, *SORTED, *WRITING, *CARRYING)
"""Commands that a store cannot do without."""
OPTIONAL = ("info", "scan", "client|tracking", "hello", "ttl", "sismember")
"""Commands that are done without where they are forbidden."""


def rules(prefix: str = DEFAULT_PREFIX, *, optional: bool = True) -> list[str]:
    """The rules of `ACL SETUSER`, without a password, for all namespaces under a prefix."""
    name = check_prefix(prefix).removesuffix(":")
    commands = (*COMMANDS, *(OPTIONAL if optional else ()))
    return ["on", f"~{name}:*", f"~{name}~*", "resetchannels", "-@all", *(f"+{command}" for command in commands)]
