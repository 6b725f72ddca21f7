"""What really stands in a store, and how is it damaged there? Read and written behind the package's back."""

import json
import sqlite3
from contextlib import closing

SHARED = ("Skill", "Tag", "Domain", "Shape", "Trace")
OWNED = ("Step", "Condition", "Transfer")
OF_SKILL = "number = (SELECT number FROM skill WHERE id = ?)"


def raw(place):
    """The place seen without the package."""
    if place.kind in ("redis", "memory"):
        from tests.redis.raw import RedisRaw

        return RedisRaw(place)
    return SqliteRaw(place) if place.kind == "sqlite" else Neo4jRaw(place)


class SqliteRaw:
    def __init__(self, place):
        self._path, self._namespace = place.location.removeprefix("sqlite:///"), place.namespace

    def run(self, text, *values):
        with closing(sqlite3.connect(self._path, timeout=30)) as connection, connection:
            return connection.execute(text, values).fetchall()

    def counts(self):
        """Rows of each kind in the namespace."""
        kinds = ("skill", "tag", "edge", "trace")
        return {
            kind: self.run(f"SELECT count(*) FROM {kind} WHERE namespace = ?", self._namespace)[0][0] for kind in kinds
        }

    def left_behind(self):
        """Rows of skills that are no more, of any namespace."""
        numbered = [(kind, "number NOT IN (SELECT number FROM skill)") for kind in ("body", "recall", "transfer")]
        named = [(kind, "skill_id NOT IN (SELECT id FROM skill)") for kind in ("tag", "trace")]
        ended = [("edge", f"{end} NOT IN (SELECT id FROM skill)") for end in ("source", "target")]
        rows = ((kind, self.run(f"SELECT * FROM {kind} WHERE {where}")) for kind, where in numbered + named + ended)
        return {kind: found for kind, found in rows if found}

    def clear_everything(self):
        """Empties the store behind the back of whoever has it open."""
        for table in ("skill", "tag", "edge", "trace", "deletion", "outbox", "namespace"):
            self.run(f"DELETE FROM {table}")

    def damage_text(self, skill_id):
        """Makes the skill unreadable."""
        self.run(f"UPDATE body SET document = '{{broken' WHERE {OF_SKILL}", skill_id)

    def damage_field(self, skill_id):
        """Gives the skill a field of the wrong kind."""
        ((document,),) = self.run(f"SELECT document FROM body WHERE {OF_SKILL}", skill_id)
        damaged = json.dumps({**json.loads(document), "confidence": 7})
        self.run(f"UPDATE body SET document = ? WHERE {OF_SKILL}", damaged, skill_id)

    def damage_number(self, skill_id):
        """Puts a word where recall reads a number."""
        self.run("UPDATE skill SET confidence = 'much' WHERE id = ?", skill_id)

    def damage_shape(self, skill_id):
        """Makes the shape unreadable."""
        self.run("UPDATE skill SET shape = 'broken' WHERE id = ?", skill_id)

    def damage_vector(self, skill_id, vector):
        self.run(f"UPDATE recall SET vector = ? WHERE {OF_SKILL}", vector, skill_id)

    def forget_profile(self, skill_id):
        """Takes away what the analysis made of the skill, as an earlier version would have left it."""
        self.run(f"UPDATE body SET profile = NULL WHERE {OF_SKILL}", skill_id)
        self.run(f"UPDATE recall SET terms = NULL WHERE {OF_SKILL}", skill_id)

    def damage_trace(self, skill_id):
        """Makes the first of its traces unreadable."""
        key = "(SELECT min(key) FROM trace WHERE skill_id = ?1)"
        self.run(f"UPDATE trace SET content = '{{broken' WHERE skill_id = ?1 AND key = {key}", skill_id)

    def damage_edges(self):
        self.run("UPDATE edge SET metadata = '{broken' WHERE relation = 'COMPLEMENTS'")


class Neo4jRaw:
    def __init__(self, place):
        self._location, self._namespace = place.location, place.namespace

    def run(self, text, **values):
        from neo4j import GraphDatabase

        scheme, _, rest = self._location.partition("://")
        credentials, _, address = rest.rpartition("@")
        user, _, password = credentials.partition(":")
        with (
            GraphDatabase.driver(f"{scheme}://{address}", auth=(user, password)) as driver,
            driver.session() as session,
        ):
            return session.run(text, namespace=self._namespace, **values).values()

    def counts(self):
        """Nodes of each label in the namespace, and the relationships at its skills."""
        found = {}
        for label in SHARED:
            ((found[label],),) = self.run(f"MATCH (n:{label} {{namespace: $namespace}}) RETURN count(n)")
        for label in OWNED:
            ((found[label],),) = self.run(f"MATCH (n:{label}) WHERE n.id STARTS WITH $namespace + '/' RETURN count(n)")
        ((found["relationships"],),) = self.run(
            "MATCH (:Skill {namespace: $namespace})-[r]-() RETURN count(DISTINCT r)"
        )
        return found

    def _set(self, skill_id, change, **values):
        self.run(f"MATCH (s:Skill {{namespace: $namespace, id: $id}}) {change}", id=skill_id, **values)

    def damage_text(self, skill_id):
        """Makes the skill unreadable."""
        self._set(skill_id, "SET s.source_context = '{broken'")

    def damage_field(self, skill_id):
        """Gives the skill a field of the wrong kind."""
        self._set(skill_id, "SET s.confidence = 7")

    def damage_number(self, skill_id):
        """Puts a word where recall reads a number."""
        self._set(skill_id, "SET s.confidence = 'much'")

    def damage_shape(self, skill_id):
        """Makes the shape unreadable."""
        self._set(skill_id, "MATCH (s)-[:HAS_SHAPE]->(h) REMOVE h.task_structures")

    def damage_vector(self, skill_id, vector):
        self._set(skill_id, "SET s.vector = $vector", vector=vector)

    def forget_profile(self, skill_id):
        """Takes away what the analysis made of the skill, as an earlier version would have left it."""
        self._set(skill_id, "REMOVE s.profile, s.terms")

    def damage_trace(self, skill_id):
        """Makes the first of its traces unreadable."""
        self._set(skill_id, "MATCH (s)-[:LEARNED_FROM]->(t) WITH t ORDER BY t.key LIMIT 1 SET t.content = '{broken'")

    def damage_edges(self):
        self.run("MATCH (:Skill {namespace: $namespace})-[r:COMPLEMENTS]->() SET r.metadata = '{broken'")

    def clear(self):
        """Removes the namespace, in batches."""
        mine = [f"MATCH (n:{label}) WHERE n.id STARTS WITH $namespace + '/'" for label in OWNED]
        mine += [f"MATCH (n:{label} {{namespace: $namespace}})" for label in (*SHARED, "Deletion", "Outbox")]
        for match in mine:
            self.run(f"{match} CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 5000 ROWS")

    def clear_everything(self):
        """Empties the namespace behind the back of whoever has it open."""
        self.clear()
        self.run("MATCH (n:Namespace {name: $namespace}) DELETE n")
