// The edges between skills. One relationship an edge; the reverse is read by walking it backwards.

// name: add_edge
// Connects two live skills, or replaces the metadata of the edge that is there. Gives nothing if one of them is missing.
// mode: write
// try: :params {namespace: "default", source: "…", target: "…", metadata: "{}", now: datetime()}
MATCH (a:Skill {namespace: $namespace, id: $source}) WHERE a.expires_at IS NULL OR a.expires_at > $now
MATCH (b:Skill {namespace: $namespace, id: $target}) WHERE b.expires_at IS NULL OR b.expires_at > $now
MERGE (a)-[r:{{relation}}]->(b)
SET r.metadata = $metadata
RETURN type(r) AS relation;

// name: edges_of
// Edges from and to a live skill, the other end live too.
// mode: read
// try: :params {namespace: "default", id: "…", now: datetime()}
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE s.expires_at IS NULL OR s.expires_at > $now
MATCH (s)-[r:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]-(other:Skill)
WHERE other.expires_at IS NULL OR other.expires_at > $now
RETURN startNode(r).id AS source, type(r) AS relation, endNode(r).id AS target, r.metadata AS metadata
ORDER BY relation, source, target;

// name: neighbours
// Ids of live skills one edge away from some skills, in either direction.
// mode: read
// try: :params {namespace: "default", ids: ["…"], relations: ["COMPLEMENTS"], now: datetime()}
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
      -[r:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]-(other:Skill)
WHERE type(r) IN $relations AND (other.expires_at IS NULL OR other.expires_at > $now)
RETURN DISTINCT other.id AS id ORDER BY id;
