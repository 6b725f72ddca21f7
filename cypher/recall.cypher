// What recall reads: the state of a namespace, what changed in it, and the skills that won.

// name: namespace_state
// Version of the namespace, the version since which deletions are known one by one, embedding stamp.
// mode: read
// try: :params {namespace: "default"}
MATCH (n:Namespace {name: $namespace})
RETURN n.version AS version, n.complete_since AS complete_since, n.embedding AS embedding;

// name: deletions_since
// Ids of the skills that were deleted after a version.
// mode: read
// try: :params {namespace: "default", since: 0}
MATCH (n:Namespace {name: $namespace})
UNWIND n.deletions AS deletion
WITH deletion, split(deletion, " ")[0] AS version
WHERE toInteger(version) > $since
RETURN substring(deletion, size(version) + 1) AS id;

// name: changed_skills
// What recall needs of the live skills written after a version.
// mode: read
// try: :params {namespace: "default", since: 0, now: datetime()}
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.changed > $since AND (s.expires_at IS NULL OR s.expires_at > $now)
MATCH (s)-[:HAS_SHAPE]->(h:Shape)
RETURN s.id AS id, s.skill_type AS skill_type, s.confidence AS confidence, s.usage_count AS usage_count,
  s.transfer_count AS transfer_count, s.transfer_successes AS transfer_successes, s.expires_at AS expires_at,
  s.fingerprint AS fingerprint,
  s.profile AS profile, s.vector AS vector, h.task_structures AS task_structures,
  h.cognitive_patterns AS cognitive_patterns, h.input_shape AS input_shape, h.output_shape AS output_shape;

// name: fetch
// The live skills among some ids, whole, together with what changed in the namespace after a version ($since null: nothing).
// mode: read
// try: :params {namespace: "default", ids: ["…"], since: null, now: datetime()}
OPTIONAL MATCH (n:Namespace {name: $namespace})
WITH coalesce(n.version, 0) AS version, coalesce(n.complete_since, 0) AS complete_since,
  CASE WHEN $since < n.version AND $since >= n.complete_since THEN n.deletions ELSE [] END AS deletions
WITH version, complete_since, CASE WHEN $since < complete_since OR $since > version THEN 0 ELSE $since END AS since,
  [d IN deletions WHERE toInteger(split(d, " ")[0]) > $since | substring(d, size(split(d, " ")[0]) + 1)] AS deleted
RETURN version, complete_since, deleted,
  COLLECT {
    MATCH (s:Skill)
    WHERE s.namespace = $namespace AND s.changed > since AND (s.expires_at IS NULL OR s.expires_at > $now)
    MATCH (s)-[:HAS_SHAPE]->(h:Shape)
    RETURN s {
      .id, .skill_type, .confidence, .usage_count, .transfer_count, .transfer_successes, .expires_at, .fingerprint,
      .profile, .vector, task_structures: h.task_structures, cognitive_patterns: h.cognitive_patterns,
      input_shape: h.input_shape, output_shape: h.output_shape
    }
  } AS changed,
  COLLECT {
    UNWIND $ids AS id
    MATCH (s:Skill {namespace: $namespace, id: id})
    WHERE s.expires_at IS NULL OR s.expires_at > $now
    RETURN s {
      .id, .name, .description, .skill_type, .source_context, .confidence, .usage_count, .success_rate, .created_at,
      .updated_at, .expires_at, .transfer_count, .transfer_successes, .version, .parts, .extra,
      tags: COLLECT { MATCH (s)-[r:TAGGED]->(t:Tag) WITH t.name AS name, r.order AS place ORDER BY place RETURN name },
      procedure: COLLECT { MATCH (s)-[:HAS_STEP]->(p:Step) WITH p ORDER BY p.order RETURN p {.*} },
      preconditions: COLLECT { MATCH (s)-[:REQUIRES]->(c:Condition) WITH c ORDER BY c.order RETURN c {.*} },
      postconditions: COLLECT { MATCH (s)-[:ENSURES]->(c:Condition) WITH c ORDER BY c.order RETURN c {.*} },
      transfer_history: COLLECT { MATCH (s)-[:APPLIED]->(t:Transfer) WITH t ORDER BY t.number RETURN t {.*} }
    }
  } AS skills;

// name: set_embedding
// Notes which vectors a namespace holds, if what was noted before is still $replaces; gives what is noted then.
// mode: write
// try: :params {namespace: "default", stamp: "…", replaces: null}
MATCH (n:Namespace {name: $namespace})
SET n.embedding = CASE WHEN coalesce(n.embedding, "") = coalesce($replaces, "") THEN $stamp ELSE n.embedding END
RETURN n.embedding AS embedding;

// name: set_vectors
// Replaces the vectors of some skills.
// mode: write
// try: :params {namespace: "default", rows: []}
MATCH (n:Namespace {name: $namespace})
SET n.version = n.version + 1
WITH n.version AS changed
UNWIND $rows AS row
MATCH (s:Skill {namespace: $namespace, id: row.id})
SET s.vector = row.vector, s.changed = changed;
