// How does this skill work?
// Follow NEXT from step to step. What must hold before hangs on REQUIRES, what holds afterwards on ENSURES; the shape
// is what its task is like apart from the domain.
// Parameters: namespace, id, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[r:HAS_STEP|REQUIRES|ENSURES|LEARNED_IN|HAS_SHAPE]->(part)
OPTIONAL MATCH (part)-[next:NEXT]->(:Step)
RETURN s, r, part, next;
