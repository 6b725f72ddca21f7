"""Skills in Redis, in OrKa's layout: `of_location` and `of_memory` open a store."""

from brain.store.redis.opening import learned_event, of_location, of_memory

__all__ = ["learned_event", "of_location", "of_memory"]
