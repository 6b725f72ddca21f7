// What recall reads: what changed in a namespace, the skills that won, and all there is for a reader that begins.

// name: fetch
// The live skills among some ids, whole, together with what changed in the namespace after a version, by version: of
// $page changed skills, and all of the last one's version; of one that has expired the id alone. A reader that begins,
// or is too far behind, is told so by the versions and gets no changes. Skills are as whole_skills gives them.
// The server shows a commit bit by bit: the new version before the indexes know what has it. `newest` says how many
// skills and deletions must have it; until both indexes of skills show that many, the version is the one before. All of
// that one is there, since the namespace's lock was held until it was. Indexes are named: planned anew in a large store,
// the statement went through all skills of the namespace (160 ms at 10 000).
// mode: read
// try: :param namespace => "default"; :param ids => ["…"]; :param since => 0; :param page => 2000; :param now => datetime();
OPTIONAL MATCH (n:Namespace {name: $namespace})
WITH n.store_id AS store_id, coalesce(n.version, 0) AS version, coalesce(n.complete_since, 0) AS complete_since,
  n.newest AS newest
WITH store_id, complete_since, CASE
    WHEN version = $since OR newest IS NULL THEN version
    WHEN newest[0] >= version AND newest[1] <= COUNT {
      MATCH (s:Skill) USING INDEX s:Skill(namespace, changed) WHERE s.namespace = $namespace AND s.changed = version
      MATCH (same:Skill {namespace: $namespace, id: s.id}) USING INDEX same:Skill(namespace, id)
    } + COUNT { MATCH (d:Deletion) USING INDEX d:Deletion(namespace, version) WHERE d.namespace = $namespace AND d.version = version } THEN version
    ELSE version - 1
  END AS version
WITH store_id, version, complete_since,
  CASE WHEN $since > 0 AND $since >= complete_since AND $since < version THEN $since END AS since
WITH store_id, version, complete_since, since, CASE WHEN since IS NULL THEN version ELSE coalesce(head(COLLECT {
    MATCH (s:Skill) USING INDEX s:Skill(namespace, changed)
    WHERE s.namespace = $namespace AND s.changed > since AND s.changed <= version
    RETURN s.changed AS changed ORDER BY s.namespace, s.changed SKIP $page - 1 LIMIT 1
  }), version) END AS until
RETURN store_id, version, complete_since, until,
  COLLECT {
    MATCH (s:Skill) USING INDEX s:Skill(namespace, changed)
    WHERE s.namespace = $namespace AND s.changed > since AND s.changed <= until
    MATCH (s)-[:HAS_SHAPE]->(h:Shape)
    RETURN CASE WHEN coalesce(s.expires_at > $now, s.expires_at IS NULL)
      THEN [s.id, s.skill_type, [h.task_structures, h.cognitive_patterns, h.input_shape, h.output_shape],
        s.confidence, s.transfer_count, s.transfer_successes,
        s.expires_at.epochSeconds * 1000000 + s.expires_at.microsecond, s.fingerprint, s.terms, s.vector]
      ELSE [s.id] END
    ORDER BY s.namespace, s.changed
  } AS changed,
  COLLECT {
    MATCH (d:Deletion) USING INDEX d:Deletion(namespace, version)
    WHERE d.namespace = $namespace AND d.version > since AND d.version <= until
      AND NOT EXISTS { (:Skill {namespace: $namespace, id: d.id}) }
    RETURN d.id ORDER BY d.namespace, d.version
  } AS deleted,
  COLLECT {
    UNWIND $ids AS id
    MATCH (s:Skill {namespace: $namespace, id: id})
    WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
    RETURN [s.id, s.name, s.description, s.skill_type, s.source_context, s.confidence, s.usage_count,
      s.success_rate, s.transfer_count, s.transfer_successes, s.version, s.counted, s.parts, s.applied, s.extra, s.body,
      toStringOrNull(s.created_at), toStringOrNull(s.updated_at), toStringOrNull(s.expires_at),
      COLLECT {
        MATCH (s)-[r:HAS_STEP|REQUIRES|ENSURES|TAGGED|APPLIED]->(x)
        RETURN [type(r), r.order, x {.*, timestamp: toStringOrNull(x.timestamp)}]
      }]
  } AS skills;

// name: page_of_entries
// What recall needs of live skills, in the order of their ids, after $after; the shape by its key, vectors only where
// asked for. One list is much cheaper to send and to read than a row for each.
// mode: read
// try: :param namespace => "default"; :param after => ""; :param size => 1000; :param vectors => false; :param now => datetime();
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.id > $after AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
WITH s, s.expires_at AS expires_at ORDER BY s.namespace, s.id LIMIT $size
RETURN collect([s.id, s.skill_type,
  CASE WHEN s.shape IS NULL THEN head(COLLECT { MATCH (s)-[:HAS_SHAPE]->(h:Shape) RETURN h.key }) ELSE s.shape END,
  s.confidence, s.transfer_count, s.transfer_successes,
  expires_at.epochSeconds * 1000000 + expires_at.microsecond, s.fingerprint, s.terms,
  CASE WHEN $vectors THEN s.vector END]) AS entries;

// name: shapes
// Shapes by their keys.
// mode: read
// try: :param namespace => "default"; :param keys => ["…"];
UNWIND $keys AS key
MATCH (h:Shape {namespace: $namespace, key: key})
RETURN h.key AS key, [h.task_structures, h.cognitive_patterns, h.input_shape, h.output_shape] AS shape;

// name: profiles
// What the live skills among some ids are compared by, step by step.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"]; :param now => datetime();
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WHERE s.profile IS NOT NULL AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN s.id AS id, s.profile AS profile;

// name: set_profiles
// Replaces profile and terms of those of some skills that still have the version that was analysed.
// mode: write
// try: :param namespace => "default"; :param rows => [];
MATCH (n:Namespace {name: $namespace})
SET n.version = n.version + 1
WITH n, n.version AS changed
CALL (changed) {
  UNWIND $rows AS row
  MATCH (s:Skill {namespace: $namespace, id: row.id}) WHERE s.version = row.version
  SET s.profile = row.profile, s.terms = row.terms, s.changed = changed
  RETURN collect(DISTINCT s.id) AS ids
}
SET n.newest = [changed, size(ids)]
RETURN ids;

// name: note_mark
// Remembers a word, and the latest ones before it.
// mode: write
// try: :param namespace => "default"; :param mark => "…"; :param kept => 16;
MATCH (n:Namespace {name: $namespace})
SET n.marks = (coalesce(n.marks, []) + [$mark])[-$kept..];

// name: marks
// The words that are remembered.
// mode: read
// try: :param namespace => "default";
MATCH (n:Namespace {name: $namespace})
RETURN coalesce(n.marks, []) AS marks;

// name: embedding_stamp
// Which vectors a namespace holds, and the dimension of those that are kept as lists for the vector index (0: none are).
// mode: read
// try: :param namespace => "default";
MATCH (n:Namespace {name: $namespace})
RETURN n.embedding AS embedding, coalesce(n.vector_index, 0) AS vector_index;

// name: keep_lists
// Notes that vectors of a dimension are kept as lists too, for the vector index.
// mode: write
// try: :param namespace => "default"; :param dimension => 384;
MATCH (n:Namespace {name: $namespace})
SET n.vector_index = $dimension;

// name: set_lists
// Keeps the vectors of some skills as lists too, as long as they are the same.
// mode: write
// try: :param namespace => "default"; :param rows => [];
UNWIND $rows AS row
MATCH (s:Skill {namespace: $namespace, id: row.id})
WHERE s.vector = row.vector
SET s.embedding = row.embedding;

// name: vector_index
// Makes the vector index, for questions such as: which skills are near this vector? Recall does not need it.
// CALL db.index.vector.queryNodes("skill_embedding_vector", 5, $vector)
// mode: write
CREATE VECTOR INDEX skill_embedding_vector IF NOT EXISTS FOR (s:Skill) ON (s.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: {{dimension}}, `vector.similarity_function`: "cosine"}};

// name: set_embedding
// Notes which vectors a namespace holds, if what was noted before is still $replaces; gives what is noted then.
// mode: write
// try: :param namespace => "default"; :param stamp => "…"; :param replaces => null;
MATCH (n:Namespace {name: $namespace})
SET n.embedding = CASE WHEN coalesce(n.embedding, "") = coalesce($replaces, "") THEN $stamp ELSE n.embedding END
RETURN n.embedding AS embedding;

// name: set_vectors
// Replaces the vectors of some skills.
// mode: write
// try: :param namespace => "default"; :param rows => [];
MATCH (n:Namespace {name: $namespace})
SET n.version = n.version + 1
WITH n, n.version AS changed
CALL (changed) {
  UNWIND $rows AS row
  MATCH (s:Skill {namespace: $namespace, id: row.id})
  SET s.vector = row.vector, s.embedding = row.embedding, s.changed = changed
  RETURN collect(DISTINCT s.id) AS ids
}
SET n.newest = [changed, size(ids)]
RETURN ids;
