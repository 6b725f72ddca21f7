// The edges between skills. One relationship an edge; the reverse is read by walking it backwards.

// name: edges_of
// Edges from and to a live skill, the other end live too.
// mode: read
// try: :param namespace => "default"; :param id => "…"; :param now => datetime();
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[r:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]-(other:Skill)
WHERE coalesce(other.expires_at > $now, other.expires_at IS NULL)
RETURN startNode(r).id AS source, type(r) AS relation, endNode(r).id AS target, r.metadata AS metadata
ORDER BY relation, source, target;

// name: related
// The live skills within some edges of a live skill, in either direction and by live skills only: a list each of the
// distance and the skill, as page_of_bodies gives it. The least length of the path to each end is what lets the planner
// walk breadth first and prune.
// mode: read
// try: :param namespace => "default"; :param id => "…"; :param now => datetime();
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)
      (()-[r:{{relations}}]-(step WHERE coalesce(step.expires_at > $now, step.expires_at IS NULL))){1,{{depth}}}
      (other)
WHERE other <> s
WITH other AS s, min(size(r)) AS distance
RETURN collect([distance, [s.id, s.name, s.description, s.skill_type, s.source_context, s.confidence, s.usage_count,
  s.success_rate, s.transfer_count, s.transfer_successes, s.version, s.counted, s.parts, s.applied, s.extra, s.body,
  toStringOrNull(s.created_at), toStringOrNull(s.updated_at), toStringOrNull(s.expires_at),
  CASE
    WHEN s.body IS NULL THEN COLLECT {
      MATCH (s)-[r:HAS_STEP|REQUIRES|ENSURES|TAGGED|APPLIED]->(x)
      RETURN [type(r), r.order, x {.*, timestamp: toStringOrNull(x.timestamp)}]
    }
    WHEN s.applied = 0 THEN []
    ELSE COLLECT { MATCH (s)-[r:APPLIED]->(x) RETURN [type(r), null, x {.*, timestamp: toStringOrNull(x.timestamp)}] }
  END]]) AS skills;

// name: put_edges
// Writes edges of one kind between live skills, or their metadata; gives the places of those that were written.
// mode: write
// try: :param namespace => "default"; :param rows => []; :param now => datetime();
UNWIND $rows AS row
MATCH (a:Skill {namespace: $namespace, id: row.source}) WHERE coalesce(a.expires_at > $now, a.expires_at IS NULL)
MATCH (b:Skill {namespace: $namespace, id: row.target}) WHERE coalesce(b.expires_at > $now, b.expires_at IS NULL)
MERGE (a)-[r:{{relation}}]->(b)
SET r.metadata = row.metadata
RETURN row.place AS place;

// name: remove_edge
// Removes an edge of one kind between live skills; a row if there was one.
// mode: write
// try: :param namespace => "default"; :param source => "…"; :param target => "…"; :param now => datetime();
MATCH (a:Skill {namespace: $namespace, id: $source}) WHERE coalesce(a.expires_at > $now, a.expires_at IS NULL)
MATCH (b:Skill {namespace: $namespace, id: $target}) WHERE coalesce(b.expires_at > $now, b.expires_at IS NULL)
MATCH (a)-[r:{{relation}}]->(b)
DELETE r
RETURN $source AS source;

// name: page_of_edges
// The edges that start at some live skills and end at live ones.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"]; :param now => datetime();
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
      -[r:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]->(other:Skill)
WHERE coalesce(other.expires_at > $now, other.expires_at IS NULL)
RETURN s.id AS source, type(r) AS relation, other.id AS target, r.metadata AS metadata
ORDER BY source, relation, target;

// name: neighbours
// Ids of the skills that share an edge with some skills.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
      -[:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]-(other:Skill)
RETURN DISTINCT other.id AS id ORDER BY id;
