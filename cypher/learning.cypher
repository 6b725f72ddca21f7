// Learning and feedback: finding the twin under the namespace's lock, counting a use.

// name: lock_to_learn
// Takes the namespace's lock and notes the operation, as lock_namespace does, and tells what is known of each thing to
// be learned: the holder of its dedup key, the skill that has its id, and the live skills learned under its trace.
// mode: write
// try: :param namespace => "default"; :param operation => 1; :param slot => "operations_1"; :param kept => 64; :param orders => []; :param now => datetime();
MERGE (n:Namespace {name: $namespace})
ON CREATE SET n.store_id = randomUUID(), n.version = 0, n.complete_since = 0, n.stored = 0, n.transferable = 0,
  n.confidence_units = 0, n.transfers = 0, n.deletions_kept = 0, n.noted = 0, n.newest = [0, 0]
SET n.locked = true
WITH n, coalesce(n[$slot], []) AS operations
WITH n, operations, $operation IN operations AS repeated
SET n[$slot] = CASE WHEN repeated THEN operations ELSE (operations + $operation)[-$kept..] END
WITH n, repeated
RETURN n.store_id AS store_id, n.version AS version, repeated, n.mirror IS NOT NULL AS mirrored,
  COLLECT {
    UNWIND $orders AS order
    OPTIONAL MATCH (holder:Skill {namespace: $namespace, dedup_key: order.dedup_key})
    OPTIONAL MATCH (same:Skill {namespace: $namespace, id: order.id})
    RETURN {
      holder: holder.id, holder_lives: coalesce(holder.expires_at > $now, holder.expires_at IS NULL),
      version: same.version, lives: coalesce(same.expires_at > $now, same.expires_at IS NULL),
      seen: COLLECT {
        MATCH (:Trace {namespace: $namespace, key: order.trace_key})<-[r:LEARNED_FROM]-(s:Skill)
        WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
        RETURN {id: s.id, version: s.version, mine: coalesce(r.operation = $operation, false), created: r.created}
        ORDER BY s.id
      }
    }
  } AS known;

// name: clear_dedup_key
// Takes the dedup key off a skill.
// mode: write
// try: :param namespace => "default"; :param id => "…";
MATCH (s:Skill {namespace: $namespace, id: $id})
SET s.dedup_key = null;

// name: reinforce
// Counts one use of a live skill that a trace tells: rate and confidence move, a success renews the expiry,
// but never to an earlier time. $step is as
// for write_skills.
// mode: write
// try: :param namespace => "default"; :param id => "…"; :param success => true; :param renew => true; :param now => datetime(); :param gain => 0.05; :param loss => 0.1; :param base_hours => 168.0; :param step => 1; :param operation => 1; :param trace => ({key: "…"});
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (n:Namespace {name: $namespace})
SET n.version = n.version + $step
WITH n, s, s.confidence AS before, s.usage_count + 1 AS used, CASE WHEN $success THEN 1 ELSE 0 END AS hit
WITH n, s, used, (s.success_rate * s.usage_count + hit) / used AS rate,
  CASE WHEN $success THEN before + $gain * (1.0 - before) ELSE before - $loss * before END AS after
WITH n, s, used, CASE WHEN rate > 1.0 THEN 1.0 ELSE rate END AS rate, after, coalesce(s.counted, [0, 0, 0]) AS old,
  s.changed AS changed_before, CASE WHEN after > 1.0 THEN 1.0 WHEN after < 0.0 THEN 0.0 ELSE after END AS confidence
WITH n, s, used, rate, after, old, changed_before, confidence, toInteger(round(confidence * 1099511627776.0)) AS units
SET s.usage_count = used,
    s.success_rate = rate,
    s.confidence = confidence,
    s.counted = [units, old[1], old[2], s.transfer_successes, used, s.version + 1],
    s.expires_at = CASE
      WHEN $success AND $renew AND s.expires_at IS NOT NULL
      THEN head([later IN [$now + duration({microseconds: toInteger(round(
        3600000000.0 * $base_hours * (1.0 + log(toFloat(used)) / log(2.0)) * (0.5 + after)))})] |
        CASE WHEN later > s.expires_at THEN later ELSE s.expires_at END])
      ELSE s.expires_at END,
    s.updated_at = $now,
    s.version = s.version + 1,
    s.changed = n.version,
    n.newest = [n.version, CASE WHEN $step = 1 THEN 1 WHEN changed_before = n.version THEN n.newest[1]
      ELSE n.newest[1] + 1 END],
    n.confidence_units = n.confidence_units + units - old[0]
MERGE (t:Trace {namespace: $namespace, key: $trace.key})
ON CREATE SET t += $trace
MERGE (s)-[r:LEARNED_FROM]->(t)
SET r.created = coalesce(r.created AND r.operation = $operation, false)
SET r.operation = $operation;

// name: feedback
// Counts one application of a live skill under the namespace's lock, with its record, unless the operation was counted
// before or, with a $feedback_id, a record has that; gives the skill, as page_of_bodies does, and whether it was the
// latter. The oldest record goes when there are more than $history. A record's id is read by the name in $known_by, because
// many a database has none. One statement, outbox and all, needs no BEGIN and no COMMIT.
// mode: write
// try: :param namespace => "default"; :param operation => 1; :param slot => "operations_1"; :param kept => 64; :param id => "…"; :param success => true; :param renew => true; :param now => datetime(); :param gain => 0.05; :param loss => 0.1; :param base_hours => 168.0; :param history => 100; :param feedback_id => null; :param known_by => "feedback_id"; :param transfer => ({}); :param domains => [];
MATCH (n:Namespace {name: $namespace})
SET n.locked = true
WITH n, coalesce(n[$slot], []) AS operations
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
WITH n, s, operations, NOT $operation IN operations AND $feedback_id IS NOT NULL
  AND EXISTS { MATCH (s)-[:APPLIED]->(known) WHERE known[$known_by] = $feedback_id } AS repeated
CALL (n, s, operations, repeated) {
  WITH n, s, operations, repeated WHERE NOT $operation IN operations AND NOT repeated
  WITH n, s, operations, s.confidence AS before, s.usage_count + 1 AS used, s.transfer_count + 1 AS transfers,
    CASE WHEN $success THEN 1 ELSE 0 END AS hit
  WITH n, s, operations, before, used, transfers, s.transfer_successes + hit AS successes,
    (s.success_rate * s.usage_count + hit) / used AS rate,
    CASE WHEN $success THEN before + $gain * (1.0 - before) ELSE before - $loss * before END AS after
  WITH n, s, operations, before, used, transfers, successes, after, coalesce(s.counted, [0, 0, 0]) AS old,
    CASE WHEN rate > 1.0 THEN 1.0 ELSE rate END AS rate,
    CASE WHEN after > 1.0 THEN 1.0 WHEN after < 0.0 THEN 0.0 ELSE after END AS confidence
  WITH n, s, operations, before, used, transfers, successes, after, old, rate, confidence,
    [toInteger(round(confidence * 1099511627776.0)), CASE WHEN 2 * successes >= transfers THEN 1 ELSE 0 END, transfers,
      successes, used, s.version + 1] AS counted
  SET n[$slot] = (operations + $operation)[-$kept..],
      n.version = n.version + 1,
      n.confidence_units = n.confidence_units + counted[0] - old[0],
      n.transferable = n.transferable + counted[1] - old[1],
      n.transfers = n.transfers + counted[2] - old[2]
  SET s.usage_count = used,
      s.success_rate = rate,
      s.confidence = confidence,
      s.counted = counted,
      s.transfer_successes = successes,
      s.transfer_count = transfers,
      s.applied = CASE WHEN s.applied < $history THEN s.applied + 1 ELSE s.applied END,
      s.expires_at = CASE
        WHEN $success AND $renew AND s.expires_at IS NOT NULL
        THEN head([later IN [$now + duration({microseconds: toInteger(round(
          3600000000.0 * $base_hours * (1.0 + log(toFloat(used)) / log(2.0)) * (0.5 + after)))})] |
          CASE WHEN later > s.expires_at THEN later ELSE s.expires_at END])
        ELSE s.expires_at END,
      s.updated_at = $now,
      s.version = s.version + 1,
      s.changed = n.version,
      n.newest = [n.version, 1]
  CREATE (s)-[:APPLIED]->(t:Transfer)
  SET t = $transfer,
      t.id = $namespace + "/" + $id + "/" + toString(transfers),
      t.number = transfers,
      t.confidence = before
  FOREACH (domain IN $domains |
    MERGE (d:Domain {namespace: $namespace, key: domain.key})
    ON CREATE SET d.name = domain.name
    CREATE (t)-[:IN_DOMAIN]->(d))
  FOREACH (mirror IN CASE WHEN n.mirror IS NULL THEN [] ELSE [n.mirror] END |
    MERGE (o:Outbox {namespace: $namespace, skill_id: $id})
    ON CREATE SET o.noted_at = $now
    SET n.noted = n.noted + 1, o.number = n.noted)
  WITH transfers
  MATCH (oldest:Transfer {id: $namespace + "/" + $id + "/" + toString(transfers - $history)})
  DETACH DELETE oldest
}
RETURN repeated, [s.id, s.name, s.description, s.skill_type, s.source_context, s.confidence, s.usage_count,
  s.success_rate, s.transfer_count, s.transfer_successes, s.version, s.counted, s.parts, s.applied, s.extra, s.body,
  toStringOrNull(s.created_at), toStringOrNull(s.updated_at), toStringOrNull(s.expires_at),
  CASE
    WHEN s.body IS NULL THEN COLLECT {
      MATCH (s)-[r:HAS_STEP|REQUIRES|ENSURES|TAGGED|APPLIED]->(x)
      RETURN [type(r), r.order, x {.*, timestamp: toStringOrNull(x.timestamp)}]
    }
    ELSE COLLECT { MATCH (s)-[r:APPLIED]->(x) RETURN [type(r), null, x {.*, timestamp: toStringOrNull(x.timestamp)}] }
  END] AS skill;
