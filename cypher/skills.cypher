// Writing, reading and removing whole skills. A skill without expires_at never expires.
// Every write begins by taking the namespace's lock, so that writers queue, never deadlock, and read what the last one
// left. Each change has the namespace's version of its time (`changed`), and `newest` of the namespace holds the latest
// version with the number of skills and deletions that have it (see fetch). `counted` of a skill is what it adds to the
// namespace's counters: units of confidence (2^-40), whether it is transferable, transfers.

// name: lock_namespace
// Makes the namespace's node if it is missing, takes its write lock, notes the operation that is about to write, and
// tells which of some ids are stored. A retry after a lost acknowledgement finds its operation noted; only the latest
// are remembered. The lock is taken by writing a property that nobody reads: what is read before the lock is granted
// may be out of date.
// mode: write
// try: :params {namespace: "default", operation: 1, slot: "operations_1", kept: 64, ids: [], now: datetime()}
MERGE (n:Namespace {name: $namespace})
ON CREATE SET n.store_id = randomUUID(), n.version = 0, n.complete_since = 0, n.stored = 0, n.transferable = 0,
  n.confidence_units = 0, n.transfers = 0, n.deletions_kept = 0, n.noted = 0, n.newest = [0, 0]
SET n.locked = true
WITH n, coalesce(n[$slot], []) AS operations
WITH n, operations, $operation IN operations AS repeated
SET n[$slot] = CASE WHEN repeated THEN operations ELSE (operations + $operation)[-$kept..] END
WITH n, repeated
RETURN n.version AS version, repeated, n.mirror IS NOT NULL AS mirrored,
  COLLECT {
    UNWIND $ids AS id
    MATCH (s:Skill {namespace: $namespace, id: id})
    RETURN {id: s.id, version: s.version, live: coalesce(s.expires_at > $now, s.expires_at IS NULL)}
  } AS stored;

// name: forget_operation
// Takes back the note of an operation that wrote nothing, so that a retry answers as it did.
// mode: write
// try: :params {namespace: "default", operation: 1, slot: "operations_1"}
MATCH (n:Namespace {name: $namespace})
SET n[$slot] = [noted IN n[$slot] WHERE noted <> $operation];

// name: write_skills
// Writes skills that are not there, or that clear_skills has emptied. A dedup key stays only where it still fits, and a
// vector that is not given only where the text is the same. $step is 1 for the first write of a call, then 0: what one
// call writes has one version.
// mode: write
// try: :params {namespace: "default", step: 1, rows: []}
MATCH (n:Namespace {name: $namespace})
SET n.version = n.version + $step
WITH n, n.version AS changed
UNWIND $rows AS row
MERGE (s:Skill {namespace: $namespace, id: row.id})
WITH n, changed, row, s, s.counted AS old, s.changed AS changed_before,
  CASE WHEN s.dedup_key = row.fitting_key THEN s.dedup_key END AS kept,
  CASE WHEN row.properties.vector IS NULL AND s.profile = row.fitting_profile THEN s.vector
    ELSE row.properties.vector END AS vector,
  CASE WHEN row.properties.vector IS NULL AND s.profile = row.fitting_profile THEN s.embedding
    ELSE row.properties.embedding END AS embedding
SET s = row.properties
SET s.changed = changed, s.dedup_key = coalesce(row.dedup_key, kept), s.vector = vector, s.embedding = embedding
MERGE (shape:Shape {namespace: $namespace, key: row.shape.key})
ON CREATE SET shape += row.shape
MERGE (s)-[:HAS_SHAPE]->(shape)
FOREACH (tag IN row.tags |
  MERGE (t:Tag {namespace: $namespace, key: tag.key})
  ON CREATE SET t.name = tag.name
  CREATE (s)-[:TAGGED {order: tag.order}]->(t))
FOREACH (domain IN row.domains |
  MERGE (d:Domain {namespace: $namespace, key: domain.key})
  ON CREATE SET d.name = domain.name
  MERGE (s)-[:LEARNED_IN]->(d))
FOREACH (trace IN row.traces |
  MERGE (t:Trace {namespace: $namespace, key: trace.key})
  ON CREATE SET t += trace
  MERGE (s)-[r:LEARNED_FROM]->(t)
  SET r += row.learned)
FOREACH (condition IN row.preconditions | CREATE (s)-[:REQUIRES]->(c:Condition) SET c = condition)
FOREACH (condition IN row.postconditions | CREATE (s)-[:ENSURES]->(c:Condition) SET c = condition)
FOREACH (transfer IN row.transfers |
  CREATE (s)-[:APPLIED]->(t:Transfer)
  SET t = transfer.properties
  FOREACH (domain IN transfer.domains |
    MERGE (d:Domain {namespace: $namespace, key: domain.key})
    ON CREATE SET d.name = domain.name
    CREATE (t)-[:IN_DOMAIN]->(d)))
WITH n, changed, s, old, changed_before, row
CALL (s, row) {
  UNWIND row.steps AS step
  CREATE (s)-[:HAS_STEP {order: step.order}]->(p:Step)
  SET p = step
  WITH p ORDER BY p.order
  WITH collect(p) AS path
  UNWIND range(0, size(path) - 2) AS i
  WITH path[i] AS earlier, path[i + 1] AS later
  CREATE (earlier)-[:NEXT]->(later)
}
WITH n, changed, count(*) AS written, sum(CASE WHEN changed_before = changed THEN 0 ELSE 1 END) AS newly,
  sum(CASE WHEN old IS NULL THEN 1 ELSE 0 END) AS added,
  sum(s.counted[0] - coalesce(old[0], 0)) AS units, sum(s.counted[1] - coalesce(old[1], 0)) AS transferable,
  sum(s.counted[2] - coalesce(old[2], 0)) AS transfers
SET n.newest = [changed, newly + CASE WHEN $step = 1 THEN 0 ELSE n.newest[1] END], n.stored = n.stored + added,
  n.confidence_units = n.confidence_units + units,
  n.transferable = n.transferable + transferable, n.transfers = n.transfers + transfers
RETURN written;

// name: clear_skills
// Takes from stored skills what write_skills writes anew, and removes tags, domains and shapes that nobody uses then.
// Their traces stay.
// mode: write
// try: :params {namespace: "default", ids: []}
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
CALL (s) {
  MATCH (s)-[:HAS_STEP|REQUIRES|ENSURES|APPLIED]->(part)
  OPTIONAL MATCH (part)-[:IN_DOMAIN]->(domain:Domain)
  WITH collect(DISTINCT domain) AS domains, collect(DISTINCT part) AS parts
  FOREACH (part IN parts | DETACH DELETE part)
  RETURN domains
}
CALL (s) {
  OPTIONAL MATCH (s)-[r:TAGGED|LEARNED_IN|HAS_SHAPE]->(shared)
  WITH collect(DISTINCT shared) AS shared, collect(r) AS links
  FOREACH (link IN links | DELETE link)
  RETURN shared
}
WITH collect(domains + shared) AS nested
UNWIND nested AS list
UNWIND list AS candidate
WITH DISTINCT candidate WHERE NOT (candidate)--()
DELETE candidate;

// name: remove_skills
// Removes stored skills with everything that is theirs alone, their edges, and what was shared with nobody else.
// mode: write
// try: :params {namespace: "default", ids: []}
MATCH (n:Namespace {name: $namespace})
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
OPTIONAL MATCH (s)-[:HAS_STEP|REQUIRES|ENSURES|APPLIED]->(part)
OPTIONAL MATCH (part)-[:IN_DOMAIN]->(domain:Domain)
WITH n, s, s.counted AS counted, s.changed = n.version AS is_newest, collect(DISTINCT part) AS parts,
  collect(DISTINCT domain) AS domains
OPTIONAL MATCH (s)-[:TAGGED|LEARNED_IN|HAS_SHAPE|LEARNED_FROM]->(used)
WITH n, s, counted, is_newest, parts, domains, collect(DISTINCT used) AS used
WITH n, s, counted, is_newest, parts, domains + used AS shared
FOREACH (part IN parts | DETACH DELETE part)
DETACH DELETE s
WITH n, collect(shared) AS nested, sum(CASE WHEN is_newest THEN 1 ELSE 0 END) AS newest, count(counted) AS removed,
  sum(coalesce(counted[0], 0)) AS units,
  sum(coalesce(counted[1], 0)) AS transferable, sum(coalesce(counted[2], 0)) AS transfers
SET n.newest = [n.newest[0], n.newest[1] - newest], n.stored = n.stored - removed,
  n.confidence_units = n.confidence_units - units,
  n.transferable = n.transferable - transferable, n.transfers = n.transfers - transfers
WITH nested
UNWIND nested AS list
UNWIND list AS candidate
WITH DISTINCT candidate WHERE NOT (candidate)--()
DELETE candidate;

// name: note_deletion
// Raises the namespace's version and remembers that a skill was deleted; only the latest deletions are remembered.
// mode: write
// try: :params {namespace: "default", id: "…", kept: 10000}
MATCH (n:Namespace {name: $namespace})
SET n.version = n.version + 1, n.deletions_kept = n.deletions_kept + 1
SET n.newest = [n.version, 1]
CREATE (:Deletion {namespace: $namespace, version: n.version, id: $id})
WITH n WHERE n.deletions_kept > $kept
CALL () {
  MATCH (d:Deletion)
  WHERE d.namespace = $namespace AND d.version > 0
  RETURN d AS oldest ORDER BY d.namespace, d.version LIMIT 1
}
SET n.complete_since = oldest.version, n.deletions_kept = n.deletions_kept - 1
DELETE oldest;

// name: whole_skills
// The live skills among some ids, whole. `parts` is what the nodes must add up to.
// mode: read
// try: :params {namespace: "default", ids: ["…"], now: datetime()}
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN s.id AS id, s.name AS name, s.description AS description, s.skill_type AS skill_type,
  s.source_context AS source_context, s.confidence AS confidence, s.usage_count AS usage_count,
  s.success_rate AS success_rate, s.transfer_count AS transfer_count, s.transfer_successes AS transfer_successes,
  s.version AS version, s.parts AS parts, s.extra AS extra, toStringOrNull(s.created_at) AS created_at,
  toStringOrNull(s.updated_at) AS updated_at, toStringOrNull(s.expires_at) AS expires_at,
  COLLECT {
    MATCH (s)-[r:HAS_STEP|REQUIRES|ENSURES|TAGGED|APPLIED]->(x)
    RETURN [type(r), r.order, x {.*, timestamp: toStringOrNull(x.timestamp)}]
  } AS nodes;

// name: page_of_skills
// Ids of live skills in their order, after $after.
// mode: read
// try: :params {namespace: "default", after: "", now: datetime(), size: 25}
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.id > $after AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN s.id AS id ORDER BY s.namespace, s.id LIMIT $size;

// name: ids_of_tagged_skills
// Ids of live skills with exactly this tag in their order.
// mode: read
// try: :params {namespace: "default", key: "…", now: datetime()}
MATCH (:Tag {namespace: $namespace, key: $key})<-[:TAGGED]-(s:Skill)
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN s.id AS id ORDER BY id;

// name: count_skills
// Skills stored, expired ones included.
// mode: read
// try: :params {namespace: "default"}
MATCH (n:Namespace {name: $namespace})
RETURN n.stored AS stored;

// name: summary
// Counts over the live skills: what is stored less what has expired.
// mode: read
// try: :params {namespace: "default", now: datetime()}
MATCH (n:Namespace {name: $namespace})
CALL () {
  MATCH (s:Skill)
  WHERE s.namespace = $namespace AND s.expires_at <= $now
  RETURN count(s.counted) AS gone, coalesce(sum(s.counted[0]), 0) AS units,
    coalesce(sum(s.counted[1]), 0) AS transferable, coalesce(sum(s.counted[2]), 0) AS transfers
}
RETURN n.stored - gone AS total, n.confidence_units - units AS units, n.transferable - transferable AS transferable,
  n.transfers - transfers AS transfers;

// name: top_skills
// Ids of the most used live skills, by use and confidence, then by id. The index gives the first two in falling order;
// of those that are as good as the last one, the first by id are taken.
// mode: read
// try: :params {namespace: "default", now: datetime(), size: 5}
WITH COLLECT {
    MATCH (s:Skill)
    USING INDEX s:Skill(namespace, usage_count, confidence, id)
    WHERE s.namespace = $namespace AND s.usage_count >= 0 AND s.confidence IS NOT NULL AND s.id IS NOT NULL
      AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
    RETURN [s.usage_count, s.confidence, s.id]
    ORDER BY s.namespace DESC, s.usage_count DESC, s.confidence DESC, s.id DESC LIMIT $size
  } AS best
WITH best, last(best) AS least
WITH [row IN best WHERE row[0] > least[0] OR row[1] > least[1]] AS better, least
WITH better + COLLECT {
    MATCH (s:Skill)
    USING INDEX s:Skill(namespace, usage_count, confidence, id)
    WHERE s.namespace = $namespace AND s.usage_count = least[0] AND s.confidence = least[1] AND s.id > ""
      AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
    RETURN [s.usage_count, s.confidence, s.id]
    ORDER BY s.namespace, s.usage_count, s.confidence, s.id LIMIT $size
  } AS rows
UNWIND rows AS row
RETURN row[2] AS id ORDER BY row[0] DESC, row[1] DESC, row[2] LIMIT $size;
