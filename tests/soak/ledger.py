"""What must be stored after what was acknowledged? One writer's skills and edges, as told over its pipe."""

from tests.soak.writers import left_after


class Ledger:
    """What one writer's acknowledged operations come to, and the one that it was at when it ended, if any."""

    def __init__(self, writer):
        self.writer = writer
        self.uses, self.edges = {}, set()
        self.acknowledged, self.pending, self.failed = 0, None, None
        self.was_done, self.was_not_done = 0, 0

    def note(self, message, operation):
        """Notes what the writer told."""
        if message == "trying":
            self.pending = operation
        elif message == "done":
            self.acknowledged += 1
            self._count(*operation)
            self.pending = None
        elif message == "failed":
            self.failed = operation

    def settle(self, stored, edges):
        """Compares with what is stored: all that was acknowledged, and the pending operation whole or not at all."""
        mine = {name: uses for name, uses in stored.items() if name.startswith(f"{self.writer}-")}
        joined = {edge for edge in edges if edge[0].startswith(f"{self.writer}-")}
        if self.pending and (mine, joined) != (self.uses, self.edges):
            self._count(*self.pending)
            self.was_done += 1
        elif self.pending:
            self.was_not_done += 1
        assert mine == self.uses, _differing(self.uses, mine, self.pending)
        assert joined == self.edges, (self.edges ^ joined, self.pending)
        self.pending = None

    def _count(self, kind, what, success=True):
        known = left_after(list(self.uses), kind, what)
        self.uses = {name: self.uses.get(name, (1, 0, 0, 1)) for name in known}
        self.edges = {edge for edge in self.edges if edge[0] in self.uses and edge[1] in self.uses}
        if kind == "edge":
            self.edges.add(what)
        elif kind in ("again", "feedback", "save"):
            used, transfers, successes, version = self.uses[what]
            fed = kind == "feedback"
            self.uses[what] = (used + (kind != "save"), transfers + fed, successes + (fed and success), version + 1)


def stored_in(brain):
    """What is stored: uses, transfers, their successes and version of each skill; the edges."""
    skills = {s.id: (s.usage_count, s.transfer_count, s.transfer_successes, s.version) for s in brain.iter_skills()}
    edges = [(e.source, e.target, e.relation.value) for page in brain._store.export_edges() for e in page]
    assert len(edges) == len(set(edges)), "an edge is there twice"
    return skills, set(edges)


def _differing(expected, found, pending):
    wrong = {name: (expected.get(name), found.get(name)) for name in expected.keys() | found.keys()}
    return {name: pair for name, pair in wrong.items() if pair[0] != pair[1]}, "pending", pending
