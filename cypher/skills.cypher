// Writing, reading and removing whole skills. A skill without expires_at never expires.
// Every write begins by taking the namespace's lock, so that writers queue, never deadlock, and read what the last one
// left. Each change has the namespace's version of its time (`changed`), and `newest` of the namespace holds the latest
// version with the number of skills and deletions that have it (see fetch). `counted` of a skill is what it adds to the
// namespace's counters: units of confidence (2^-40), whether it is transferable, transfers; then its successful transfers,
// uses and version, so that a reader knows numbers of one write from those of two.

// name: lock_namespace
// Makes the namespace's node if it is missing, takes its write lock, notes the operation that is about to write, and
// tells which of some ids are stored. A retry after a lost acknowledgement finds its operation noted; only the latest
// are remembered. The lock is taken by writing a property that nobody reads: what is read before the lock is granted
// may be out of date.
// mode: write
// try: :param namespace => "default"; :param operation => 1; :param slot => "operations_1"; :param kept => 64; :param ids => []; :param now => datetime();
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
    RETURN {id: s.id, version: s.version, live: coalesce(s.expires_at > $now, s.expires_at IS NULL),
      expires_at: toStringOrNull(s.expires_at)}
  } AS stored;

// name: forget_operation
// Takes back the note of an operation that wrote nothing, so that a retry answers as it did.
// mode: write
// try: :param namespace => "default"; :param operation => 1; :param slot => "operations_1";
MATCH (n:Namespace {name: $namespace})
SET n[$slot] = [noted IN n[$slot] WHERE noted <> $operation];

// name: write_skills
// Writes skills that are not there, or that clear_skills has emptied. A dedup key stays only where it still fits, and a
// vector that is not given only where the text is the same. $step is 1 for the first write of a call, then 0: what one
// call writes has one version.
// mode: write
// try: :param namespace => "default"; :param step => 1; :param rows => [];
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
// try: :param namespace => "default"; :param ids => [];
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
// try: :param namespace => "default"; :param ids => [];
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

// name: note_deletions
// Remembers that skills were deleted, or expire sooner than readers were told, each by a version of its own; gives how many
// deletions are remembered.
// mode: write
// try: :param namespace => "default"; :param ids => ["…"];
MATCH (n:Namespace {name: $namespace})
WITH n, n.version AS version
UNWIND range(0, size($ids) - 1) AS i
CREATE (:Deletion {namespace: $namespace, version: version + i + 1, id: $ids[i]})
WITH n, count(*) AS added
SET n.version = n.version + added, n.deletions_kept = n.deletions_kept + added
SET n.newest = [n.version, 1]
RETURN n.deletions_kept AS remembered;

// name: trim_deletions
// Forgets the oldest deletions, so that $kept are remembered.
// mode: write
// try: :param namespace => "default"; :param kept => 10000;
MATCH (n:Namespace {name: $namespace})
CALL () {
  MATCH (d:Deletion) USING INDEX d:Deletion(namespace, version)
  WHERE d.namespace = $namespace AND d.version > 0
  WITH d ORDER BY d.namespace DESC, d.version DESC SKIP $kept
  WITH collect(d) AS forgotten, max(d.version) AS latest
  FOREACH (d IN forgotten | DELETE d)
  RETURN size(forgotten) AS removed, latest
}
SET n.complete_since = coalesce(latest, n.complete_since), n.deletions_kept = n.deletions_kept - removed;

// name: whole_skills
// The live skills among some ids, whole, with their nodes: a list each. A reader may see half of a write; `body` says what
// the texts, steps, conditions and tags must be, `counted` the numbers, `parts` and `applied` how many nodes there must be.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"]; :param now => datetime();
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN collect([id, s.name, s.description, s.skill_type, s.source_context, s.confidence, s.usage_count,
  s.success_rate, s.transfer_count, s.transfer_successes, s.version, s.counted, s.parts, s.applied, s.extra, s.body,
  toStringOrNull(s.created_at), toStringOrNull(s.updated_at), toStringOrNull(s.expires_at),
  COLLECT {
    MATCH (s)-[r:HAS_STEP|REQUIRES|ENSURES|TAGGED|APPLIED]->(x)
    RETURN [type(r), r.order, x {.*, timestamp: toStringOrNull(x.timestamp)}]
  }]) AS skills;

// name: page_of_bodies
// Live skills in the order of their ids, after $after, whole; what stands in `body` stands for the nodes. One list of all
// is cheaper to send and to read than rows.
// mode: read
// try: :param namespace => "default"; :param after => ""; :param now => datetime(); :param size => 25;
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.id > $after AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
WITH s, s.id AS id ORDER BY s.namespace, s.id LIMIT $size
RETURN collect([id, s.name, s.description, s.skill_type, s.source_context, s.confidence, s.usage_count,
  s.success_rate, s.transfer_count, s.transfer_successes, s.version, s.counted, s.parts, s.applied, s.extra, s.body,
  toStringOrNull(s.created_at), toStringOrNull(s.updated_at), toStringOrNull(s.expires_at),
  CASE
    WHEN s.body IS NULL THEN COLLECT {
      MATCH (s)-[r:HAS_STEP|REQUIRES|ENSURES|TAGGED|APPLIED]->(x)
      RETURN [type(r), r.order, x {.*, timestamp: toStringOrNull(x.timestamp)}]
    }
    WHEN s.applied = 0 THEN []
    ELSE COLLECT { MATCH (s)-[r:APPLIED]->(x) RETURN [type(r), null, x {.*, timestamp: toStringOrNull(x.timestamp)}] }
  END]) AS skills;

// name: bodies
// The live skills among some ids, as page_of_bodies gives them.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"]; :param now => datetime();
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN collect([id, s.name, s.description, s.skill_type, s.source_context, s.confidence, s.usage_count,
  s.success_rate, s.transfer_count, s.transfer_successes, s.version, s.counted, s.parts, s.applied, s.extra, s.body,
  toStringOrNull(s.created_at), toStringOrNull(s.updated_at), toStringOrNull(s.expires_at),
  CASE
    WHEN s.body IS NULL THEN COLLECT {
      MATCH (s)-[r:HAS_STEP|REQUIRES|ENSURES|TAGGED|APPLIED]->(x)
      RETURN [type(r), r.order, x {.*, timestamp: toStringOrNull(x.timestamp)}]
    }
    WHEN s.applied = 0 THEN []
    ELSE COLLECT { MATCH (s)-[r:APPLIED]->(x) RETURN [type(r), null, x {.*, timestamp: toStringOrNull(x.timestamp)}] }
  END]) AS skills;

// name: page_of_skills
// Ids of live skills in their order, after $after.
// mode: read
// try: :param namespace => "default"; :param after => ""; :param now => datetime(); :param size => 25;
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.id > $after AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN s.id AS id ORDER BY s.namespace, s.id LIMIT $size;

// name: ids_of_tagged_skills
// Ids of live skills with exactly this tag in their order.
// mode: read
// try: :param namespace => "default"; :param key => "…"; :param now => datetime();
MATCH (:Tag {namespace: $namespace, key: $key})<-[:TAGGED]-(s:Skill)
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN s.id AS id ORDER BY id;

// name: count_skills
// Skills stored, expired ones included.
// mode: read
// try: :param namespace => "default";
MATCH (n:Namespace {name: $namespace})
RETURN n.stored AS stored;

// name: count_expiring
// How many skills expire after $now and by $until.
// mode: read
// try: :param namespace => "default"; :param now => datetime(); :param until => datetime() + duration("PT24H");
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.expires_at > $now AND s.expires_at <= $until
RETURN count(*) AS expiring;

// name: latest_traces
// What a live skill was learned from, the latest first.
// mode: read
// try: :param namespace => "default"; :param id => "…"; :param now => datetime(); :param size => 20;
MATCH (s:Skill {namespace: $namespace, id: $id})-[:LEARNED_FROM]->(t:Trace)
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN t {.*} AS trace ORDER BY t.seen_at DESC, t.key LIMIT $size;

// name: summary
// Counts over the live skills: what is stored less what has expired; and whether others wrote meanwhile.
// mode: read
// try: :param namespace => "default"; :param now => datetime();
MATCH (n:Namespace {name: $namespace})
WITH n.stored AS stored, [n.confidence_units, n.transferable, n.transfers] AS sums
CALL () {
  MATCH (s:Skill) USING INDEX s:Skill(namespace, expires_at)
  WHERE s.namespace = $namespace AND s.expires_at <= $now
  RETURN count(s.counted) AS gone, coalesce(sum(s.counted[0]), 0) AS units,
    coalesce(sum(s.counted[1]), 0) AS transferable, coalesce(sum(s.counted[2]), 0) AS transfers
}
MATCH (again:Namespace {name: $namespace})
RETURN stored - gone AS total, sums[0] - units AS units, sums[1] - transferable AS transferable,
  sums[2] - transfers AS transfers,
  stored <> again.stored OR sums <> [again.confidence_units, again.transferable, again.transfers] AS changing;

// name: top_skills
// Ids of the most used live skills, by use and confidence, then by id. The index gives the first two in falling order;
// of those that are as good as the last one, the first by id are taken.
// mode: read
// try: :param namespace => "default"; :param now => datetime(); :param size => 5;
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
