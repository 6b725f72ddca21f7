// Writing, reading and removing whole skills. A skill without expires_at never expires.
// Every write begins with lock_namespace, so that writers queue, never deadlock, and read what the last one left.

// name: lock_namespace
// Makes the namespace's node if it is missing, takes its write lock, and notes the operation that is about to write.
// A retry after a lost acknowledgement finds it noted; only the latest operations are remembered. The lock is taken by
// writing a property that nobody reads: what is read before the lock is granted may be out of date.
// mode: write
// try: :params {namespace: "default", operation: "…", kept: 512}
MERGE (n:Namespace {name: $namespace})
ON CREATE SET n.version = 0, n.complete_since = 0, n.deletions = [], n.operations = []
SET n.locked = true
WITH n, $operation IN n.operations AS repeated
SET n.operations = CASE WHEN repeated THEN n.operations ELSE (n.operations + [$operation])[-$kept..] END
RETURN n.version AS version, n.complete_since AS complete_since, repeated;

// name: forget_operation
// Takes back the note of an operation that wrote nothing, so that a retry answers as it did.
// mode: write
// try: :params {namespace: "default", operation: "…"}
MATCH (n:Namespace {name: $namespace})
SET n.operations = [noted IN n.operations WHERE noted <> $operation];

// name: find_twin
// What is known of a trace before it is learned: the live skill learned under its key, and the live holder of its dedup
// key. An expired holder gives its key away.
// mode: write
// try: :params {namespace: "default", trace_key: "", dedup_key: "", now: datetime()}
OPTIONAL MATCH (holder:Skill {namespace: $namespace, dedup_key: $dedup_key})
FOREACH (expired IN CASE WHEN holder.expires_at <= $now THEN [holder] ELSE [] END | SET expired.dedup_key = null)
WITH CASE WHEN holder.dedup_key IS NULL THEN null ELSE holder.id END AS holder
OPTIONAL MATCH (:Trace {namespace: $namespace, key: $trace_key})<-[:LEARNED_FROM]-(seen:Skill)
WHERE seen.expires_at IS NULL OR seen.expires_at > $now
RETURN holder, min(seen.id) AS seen;

// name: clear_dedup_key
// Takes the dedup key off a skill.
// mode: write
// try: :params {namespace: "default", id: "…"}
MATCH (s:Skill {namespace: $namespace, id: $id})
SET s.dedup_key = null;

// name: stored_versions
// Version of each stored skill among some ids, and whether it is live.
// mode: read
// try: :params {namespace: "default", ids: ["…"], now: datetime()}
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
RETURN s.id AS id, s.version AS version, s.expires_at IS NULL OR s.expires_at > $now AS live;

// name: write_skills
// Writes skills that are not there, or that clear_skills has emptied. A dedup key stays only where it still fits, and a
// vector that is not given only where the text is the same.
// mode: write
// try: :params {namespace: "default", rows: []}
MATCH (n:Namespace {name: $namespace})
SET n.version = n.version + 1
WITH n.version AS changed
UNWIND $rows AS row
MERGE (s:Skill {namespace: $namespace, id: row.id})
WITH changed, row, s, CASE WHEN s.dedup_key = row.fitting_key THEN s.dedup_key END AS kept,
  CASE WHEN row.properties.vector IS NULL AND s.profile = row.properties.profile THEN s.vector
    ELSE row.properties.vector END AS vector
SET s = row.properties
SET s.changed = changed, s.dedup_key = coalesce(row.dedup_key, kept), s.vector = vector
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
  MERGE (s)-[:LEARNED_FROM]->(t))
FOREACH (condition IN row.preconditions | CREATE (s)-[:REQUIRES]->(c:Condition) SET c = condition)
FOREACH (condition IN row.postconditions | CREATE (s)-[:ENSURES]->(c:Condition) SET c = condition)
FOREACH (transfer IN row.transfers |
  CREATE (s)-[:APPLIED]->(t:Transfer)
  SET t = transfer.properties
  FOREACH (domain IN transfer.domains |
    MERGE (d:Domain {namespace: $namespace, key: domain.key})
    ON CREATE SET d.name = domain.name
    CREATE (t)-[:IN_DOMAIN]->(d)))
WITH s, row.steps AS steps
CALL (s, steps) {
  UNWIND steps AS step
  CREATE (s)-[:HAS_STEP {order: step.order}]->(p:Step)
  SET p = step
  WITH p ORDER BY p.order
  WITH collect(p) AS path
  UNWIND range(0, size(path) - 2) AS i
  WITH path[i] AS earlier, path[i + 1] AS later
  CREATE (earlier)-[:NEXT]->(later)
}
RETURN count(s) AS written;

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
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
OPTIONAL MATCH (s)-[:HAS_STEP|REQUIRES|ENSURES|APPLIED]->(part)
OPTIONAL MATCH (part)-[:IN_DOMAIN]->(domain:Domain)
WITH s, collect(DISTINCT part) AS parts, collect(DISTINCT domain) AS domains
OPTIONAL MATCH (s)-[:TAGGED|LEARNED_IN|HAS_SHAPE|LEARNED_FROM]->(used)
WITH s, parts, domains, collect(DISTINCT used) AS used
WITH s, parts, domains + used AS shared
FOREACH (part IN parts | DETACH DELETE part)
DETACH DELETE s
WITH collect(shared) AS nested
UNWIND nested AS list
UNWIND list AS candidate
WITH DISTINCT candidate WHERE NOT (candidate)--()
DELETE candidate;

// name: note_deletion
// Raises the namespace's version and remembers that a skill was deleted; only the latest deletions are remembered.
// mode: write
// try: :params {namespace: "default", id: "…", kept: 1000}
MATCH (n:Namespace {name: $namespace})
SET n.version = n.version + 1
WITH n, n.deletions + [toString(n.version) + " " + $id] AS deletions
SET n.complete_since = CASE
      WHEN size(deletions) > $kept THEN toInteger(split(deletions[size(deletions) - $kept - 1], " ")[0])
      ELSE n.complete_since END,
    n.deletions = deletions[-$kept..];

// name: record_use
// Counts one use of a live skill: rate and confidence move, a success renews the expiry. $transfers holds at most one
// record of an application, $traces at most one trace that the use was seen in.
// mode: write
// try: :params {namespace: "default", id: "…", success: true, renew: true, now: datetime(), gain: 0.05, loss: 0.1, base_hours: 168.0, kept: 100, transfers: [], traces: []}
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE s.expires_at IS NULL OR s.expires_at > $now
MATCH (n:Namespace {name: $namespace})
SET n.version = n.version + 1
WITH n, s, s.confidence AS before, s.usage_count + 1 AS used, s.transfer_count + size($transfers) AS transfer_count,
     CASE WHEN $success THEN 1 ELSE 0 END AS hit
WITH n, s, before, used, transfer_count, hit, (s.success_rate * s.usage_count + hit) / used AS rate,
     CASE WHEN $success THEN before + $gain * (1.0 - before) ELSE before - $loss * before END AS after
SET s.usage_count = used,
    s.success_rate = CASE WHEN rate > 1.0 THEN 1.0 ELSE rate END,
    s.confidence = CASE WHEN after > 1.0 THEN 1.0 WHEN after < 0.0 THEN 0.0 ELSE after END,
    s.transfer_successes = s.transfer_successes + hit * size($transfers),
    s.transfer_count = transfer_count,
    s.expires_at = CASE
      WHEN $success AND $renew AND s.expires_at IS NOT NULL
      THEN $now + duration({microseconds: toInteger(round(
        3600000000.0 * $base_hours * (1.0 + log(toFloat(used)) / log(2.0)) * (0.5 + after)))})
      ELSE s.expires_at END,
    s.updated_at = $now,
    s.version = s.version + 1,
    s.changed = n.version
FOREACH (transfer IN $transfers |
  CREATE (s)-[:APPLIED]->(t:Transfer)
  SET t = transfer.properties,
      t.id = $namespace + "/" + $id + "/" + toString(transfer_count),
      t.number = transfer_count,
      t.confidence = before
  FOREACH (domain IN transfer.domains |
    MERGE (d:Domain {namespace: $namespace, key: domain.key})
    ON CREATE SET d.name = domain.name
    CREATE (t)-[:IN_DOMAIN]->(d)))
FOREACH (trace IN $traces |
  MERGE (t:Trace {namespace: $namespace, key: trace.key})
  ON CREATE SET t += trace
  MERGE (s)-[:LEARNED_FROM]->(t))
WITH s, transfer_count
OPTIONAL MATCH (old:Transfer {id: $namespace + "/" + $id + "/" + toString(transfer_count - $kept)})
DETACH DELETE old
RETURN s.id AS id;

// name: page_of_skills
// Ids of live skills in their order, after $after.
// mode: read
// try: :params {namespace: "default", after: "", now: datetime(), size: 25}
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.id > $after AND (s.expires_at IS NULL OR s.expires_at > $now)
RETURN s.id AS id ORDER BY s.id LIMIT $size;

// name: page_of_tagged_skills
// Ids of live skills with exactly this tag in their order, after $after.
// mode: read
// try: :params {namespace: "default", key: "…", after: "", now: datetime(), size: 25}
MATCH (:Tag {namespace: $namespace, key: $key})<-[:TAGGED]-(s:Skill)
WHERE s.id > $after AND (s.expires_at IS NULL OR s.expires_at > $now)
RETURN s.id AS id ORDER BY id LIMIT $size;

// name: count_skills
// Skills stored, expired ones included.
// mode: read
// try: :params {namespace: "default"}
MATCH (s:Skill {namespace: $namespace})
RETURN count(s) AS stored;

// name: summary
// Counts and averages over the live skills.
// mode: read
// try: :params {namespace: "default", now: datetime()}
MATCH (s:Skill {namespace: $namespace})
WHERE s.expires_at IS NULL OR s.expires_at > $now
RETURN count(s) AS total,
  sum(CASE WHEN s.transfer_count >= 1 AND 2 * s.transfer_successes >= s.transfer_count THEN 1 ELSE 0 END) AS transferable,
  coalesce(avg(toFloatOrNull(s.confidence)), 0.0) AS confidence,
  sum(toIntegerOrNull(s.transfer_count)) AS transfers;

// name: top_skills
// Ids of the most used live skills.
// mode: read
// try: :params {namespace: "default", now: datetime(), size: 5}
MATCH (s:Skill {namespace: $namespace})
WHERE s.expires_at IS NULL OR s.expires_at > $now
RETURN s.id AS id ORDER BY s.usage_count DESC, s.confidence DESC, s.id LIMIT $size;
