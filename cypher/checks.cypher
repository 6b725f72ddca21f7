// Is a namespace as it should be? Every check_x names what is wrong, by id, and mend_x mends it: `brain doctor`. Those
// that take $ids look at skills, a page at a time; the others at the whole namespace.

// name: index_names
// The indexes and constraints that are at work.
// mode: read
SHOW INDEXES YIELD name, state
WHERE state = "ONLINE"
RETURN name;

// name: edge_texts
// The edges that start at some skills, with their metadata.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
      -[r:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]->(other:Skill)
RETURN s.id AS source, type(r) AS relation, other.id AS target, r.metadata AS metadata;

// name: copies
// What stands on the nodes of some skills a second time, so that it can be searched.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
RETURN s.id AS id, s.task AS task, s.domain AS domain;

// name: check_expiry
// The expiry is no point in time of the years 1 to 9999, so the skill neither lives nor is swept.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WHERE CASE WHEN s.expires_at IS NOT :: ZONED DATETIME THEN true
  ELSE s.expires_at.year > 9999 OR s.expires_at.year < 1 END
RETURN s.id AS id, coalesce(toStringOrNull(s.expires_at), "a list") AS detail;

// name: mend_expiry
// Takes the expiry off: the skill lives until another one is saved.
// mode: write
// try: :param namespace => "default"; :param ids => ["…"];
MATCH (n:Namespace {name: $namespace})
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH n, collect(DISTINCT s) AS skills
SET n.version = n.version + 1
SET n.newest = [n.version, size(skills)]
FOREACH (s IN skills | SET s.expires_at = null, s.changed = n.version);

// name: check_parts
// A skill has more or fewer steps and conditions than were written.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH s, COUNT { (s)-[:HAS_STEP|REQUIRES|ENSURES]->() } AS there
WHERE coalesce(s.parts <> there, true)
RETURN s.id AS id, toString(there) + " of " + coalesce(toStringOrNull(s.parts), "none") AS detail;

// name: check_steps
// The steps are not numbered from 0 without a gap, or NEXT does not lead from each to the one after it.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH s, COLLECT {
    MATCH (s)-[r:HAS_STEP]->(p)
    RETURN [r.order, p.order, COUNT { (p)-[:NEXT]->() },
      COLLECT { MATCH (p)-[:NEXT]->()<-[q:HAS_STEP]-(s) RETURN q.order }]
    ORDER BY r.order
  } AS steps
WITH s, steps, size(steps) - 1 AS last
WITH s, [i IN range(0, last) WHERE NOT coalesce(
    steps[i] = [i, i, CASE WHEN i < last THEN 1 ELSE 0 END, CASE WHEN i < last THEN [i + 1] ELSE [] END],
    false)] AS wrong
WHERE wrong <> []
RETURN s.id AS id, "at step " + toString(wrong[0]) AS detail;

// name: check_conditions
// The conditions of a kind are not numbered from 0 without a gap.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH s, COLLECT { MATCH (s)-[:REQUIRES]->(c) RETURN c.order ORDER BY c.order } AS before,
  COLLECT { MATCH (s)-[:ENSURES]->(c) RETURN c.order ORDER BY c.order } AS after,
  COUNT { (s)-[:REQUIRES]->() } AS required, COUNT { (s)-[:ENSURES]->() } AS ensured
WHERE NOT coalesce(before = range(0, required - 1) AND after = range(0, ensured - 1), false)
RETURN s.id AS id, "conditions" AS detail;

// name: check_tags
// The tags are not numbered from 0 without a gap, or one is there twice, or belongs to another namespace.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH s, COLLECT { MATCH (s)-[r:TAGGED]->() RETURN r.order ORDER BY r.order } AS orders,
  COUNT { (s)-[:TAGGED]->() } AS links,
  COUNT { MATCH (s)-[:TAGGED]->(t:Tag {namespace: $namespace}) RETURN DISTINCT t } AS tags
WHERE NOT coalesce(orders = range(0, links - 1) AND links = tags, false)
RETURN s.id AS id, toString(links) + " links to " + toString(tags) + " tags" AS detail;

// name: check_domain
// A skill is not linked with its domain, and with no other one.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH s, COLLECT { MATCH (s)-[:LEARNED_IN]->(d) RETURN d.name } AS names,
  COLLECT { MATCH (s)-[:LEARNED_IN]->(d:Domain {namespace: $namespace}) RETURN DISTINCT d.name } AS own
WHERE NOT coalesce(names = own AND names =
  CASE WHEN coalesce(s.domain, "") =~ "(?U)[\\s\\x1c-\\x1f]*" THEN [] ELSE [s.domain] END, false)
RETURN s.id AS id, toString(size(names)) + " domains" AS detail;

// name: check_shape
// A skill does not have exactly one shape, the one whose key stands on it, so that recall does not find it.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH s, COUNT { (s)-[:HAS_SHAPE]->() } AS links,
  COUNT { (s)-[:HAS_SHAPE]->(:Shape {namespace: $namespace, key: s.shape}) } AS shapes
WHERE links <> 1 OR shapes <> 1
RETURN s.id AS id, toString(shapes) + " of " + toString(links) + " shapes" AS detail;

// name: check_transfers
// The transfers that are kept are not the latest by number, up to the count of them.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"]; :param history => 100;
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH s, COUNT { (s)-[:APPLIED]->() } AS kept,
  COLLECT { MATCH (s)-[:APPLIED]->(t:Transfer) RETURN t.number ORDER BY t.number } AS numbers
WHERE NOT coalesce(kept <= $history AND coalesce(s.applied, kept) = kept
  AND numbers = range(toIntegerOrNull(s.transfer_count) - kept + 1, toIntegerOrNull(s.transfer_count)), false)
RETURN s.id AS id, toString(kept) + " kept of " + coalesce(toStringOrNull(s.transfer_count), "none") AS detail;

// name: check_changed
// The version of the skill's last change is missing or still to come, so readers miss it.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
OPTIONAL MATCH (n:Namespace {name: $namespace})
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WHERE NOT coalesce(s.changed > 0 AND s.changed <= n.version, false)
RETURN s.id AS id, "changed at " + coalesce(toStringOrNull(s.changed), "no version") AS detail;

// name: mend_changed
// Notes a change of the skill now; every reader begins anew.
// mode: write
// try: :param namespace => "default"; :param ids => ["…"];
MATCH (n:Namespace {name: $namespace})
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH n, collect(DISTINCT s) AS skills, max(coalesce(toIntegerOrNull(s.changed), 0)) AS latest
SET n.version = 1 + CASE WHEN latest > n.version AND latest < 4611686018427387904 THEN latest
  ELSE coalesce(n.version, 0) END
SET n.complete_since = n.version, n.newest = [n.version, size(skills)]
FOREACH (s IN skills | SET s.changed = n.version);

// name: check_counted
// What a skill adds to the counters is not what stands on it.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH s, toIntegerOrNull(s.transfer_count) AS transfers, toIntegerOrNull(s.transfer_successes) AS successes
WITH s, coalesce(toInteger(round(toFloatOrNull(s.confidence) * 1099511627776.0)), 0) AS units,
  CASE WHEN transfers >= 1 AND 2 * successes >= transfers THEN 1 ELSE 0 END AS transferable,
  coalesce(transfers, 0) AS transfers, coalesce(successes, 0) AS successes
WHERE NOT coalesce(abs(s.counted[0] - units) <= 1 AND s.counted[1] = transferable AND s.counted[2] = transfers
  AND (size(s.counted) = 3 OR s.counted[3..] =
    [successes, coalesce(toIntegerOrNull(s.usage_count), 0), coalesce(toIntegerOrNull(s.version), 0)]), false)
RETURN s.id AS id, "counted otherwise" AS detail;

// name: mend_counted
// Counts the skill anew.
// mode: write
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WITH s, toIntegerOrNull(s.transfer_count) AS transfers, toIntegerOrNull(s.transfer_successes) AS successes
SET s.counted = [
  coalesce(toInteger(round(toFloatOrNull(s.confidence) * 1099511627776.0)), 0),
  CASE WHEN transfers >= 1 AND 2 * successes >= transfers THEN 1 ELSE 0 END,
  coalesce(transfers, 0), coalesce(successes, 0), coalesce(toIntegerOrNull(s.usage_count), 0),
  coalesce(toIntegerOrNull(s.version), 0)];

// name: check_edges
// An edge is there twice, leads to the skill itself, or has another end that is no skill of the namespace.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
      -[r:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]-(other)
WITH s, type(r) AS relation, startNode(r) = s AS forth, other, count(DISTINCT r) AS times
WHERE forth AND times > 1 OR other = s OR NOT coalesce(other:Skill AND other.namespace = $namespace, false)
RETURN s.id AS id, relation + " and " + coalesce(toStringOrNull(other.id), "what has no id") AS detail;

// name: mend_edges
// Removes the edge; of several that say the same, all but one.
// mode: write
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
      -[r:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]-(other)
WITH s, type(r) AS relation, startNode(r) = s AS forth, other, collect(DISTINCT r) AS edges
WHERE forth AND size(edges) > 1 OR other = s OR NOT coalesce(other:Skill AND other.namespace = $namespace, false)
WITH CASE WHEN other <> s AND coalesce(other:Skill AND other.namespace = $namespace, false) THEN tail(edges)
  ELSE edges END AS wrong
UNWIND wrong AS r
DELETE r;

// name: check_orphan_parts
// A step, condition or transfer belongs to no skill.
// mode: read
// try: :param namespace => "default"; :param size => 1000;
CALL () {
  MATCH (p:Step) WHERE p.id STARTS WITH $namespace + "/" AND NOT EXISTS { (:Skill)-[:HAS_STEP]->(p) }
  RETURN p.id AS id, "Step" AS detail
  UNION ALL
  MATCH (c:Condition) WHERE c.id STARTS WITH $namespace + "/" AND NOT EXISTS { (:Skill)-[:REQUIRES|ENSURES]->(c) }
  RETURN c.id AS id, "Condition" AS detail
  UNION ALL
  MATCH (t:Transfer) WHERE t.id STARTS WITH $namespace + "/" AND NOT EXISTS { (:Skill)-[:APPLIED]->(t) }
  RETURN t.id AS id, "Transfer" AS detail
}
RETURN id, detail LIMIT $size;

// name: mend_orphan_parts
// Removes it.
// mode: write
// try: :param ids => ["…"];
UNWIND $ids AS id
OPTIONAL MATCH (p:Step {id: id}) WHERE NOT EXISTS { (:Skill)-[:HAS_STEP]->(p) }
OPTIONAL MATCH (c:Condition {id: id}) WHERE NOT EXISTS { (:Skill)-[:REQUIRES|ENSURES]->(c) }
OPTIONAL MATCH (t:Transfer {id: id}) WHERE NOT EXISTS { (:Skill)-[:APPLIED]->(t) }
DETACH DELETE p, c, t;

// name: check_orphan_keys
// A tag, domain, shape or trace belongs to nothing.
// mode: read
// try: :param namespace => "default"; :param size => 1000;
CALL () {
  MATCH (t:Tag) WHERE t.namespace = $namespace AND t.key > "" AND NOT (t)--() RETURN t.key AS id, "Tag" AS detail
  UNION ALL
  MATCH (d:Domain) WHERE d.namespace = $namespace AND d.key > "" AND NOT (d)--() RETURN d.key AS id, "Domain" AS detail
  UNION ALL
  MATCH (h:Shape) WHERE h.namespace = $namespace AND h.key > "" AND NOT (h)--() RETURN h.key AS id, "Shape" AS detail
  UNION ALL
  MATCH (t:Trace) WHERE t.namespace = $namespace AND t.key > "" AND NOT (t)--() RETURN t.key AS id, "Trace" AS detail
}
RETURN id, detail LIMIT $size;

// name: mend_orphan_keys
// Removes it.
// mode: write
// try: :param namespace => "default"; :param ids => ["…"];
UNWIND $ids AS key
OPTIONAL MATCH (g:Tag {namespace: $namespace, key: key}) WHERE NOT (g)--()
OPTIONAL MATCH (d:Domain {namespace: $namespace, key: key}) WHERE NOT (d)--()
OPTIONAL MATCH (h:Shape {namespace: $namespace, key: key}) WHERE NOT (h)--()
OPTIONAL MATCH (t:Trace {namespace: $namespace, key: key}) WHERE NOT (t)--()
DELETE g, d, h, t;

// name: check_outbox
// Something waits for a mirror that is not noted, or has a number that is still to come.
// mode: read
// try: :param namespace => "default"; :param size => 1000;
OPTIONAL MATCH (n:Namespace {name: $namespace})
MATCH (o:Outbox)
WHERE o.namespace = $namespace AND o.number >= 0 AND NOT coalesce(n.mirror IS NOT NULL AND o.number <= n.noted, false)
RETURN o.skill_id AS id, "number " + toString(o.number) AS detail LIMIT $size;

// name: mend_outbox
// Removes what waits for no mirror, and counts on behind the highest number.
// mode: write
// try: :param namespace => "default"; :param ids => ["…"];
MATCH (n:Namespace {name: $namespace})
UNWIND $ids AS id
MATCH (o:Outbox {namespace: $namespace, skill_id: id})
WITH n, max(o.number) AS latest, CASE WHEN n.mirror IS NULL THEN collect(o) ELSE [] END AS wrong
SET n.noted = CASE WHEN latest > coalesce(n.noted, 0) THEN latest ELSE coalesce(n.noted, 0) END
FOREACH (o IN wrong | DELETE o);

// name: check_deletions
// The deletions that are remembered do not fit the versions: readers may have missed one.
// mode: read
// try: :param namespace => "default"; :param size => 1000;
OPTIONAL MATCH (n:Namespace {name: $namespace})
WITH coalesce(n.version, 0) AS version, coalesce(n.complete_since, 0) AS complete_since
CALL (version, complete_since) {
  WITH version, complete_since WHERE complete_since > version OR complete_since < 0
  RETURN "complete_since" AS id, toString(complete_since) AS detail
  UNION ALL
  MATCH (d:Deletion) WHERE d.namespace = $namespace AND d.version IS NOT NULL
  WITH d, version, complete_since WHERE NOT coalesce(d.version <= version AND d.version > complete_since, false)
    OR EXISTS { MATCH (s:Skill) WHERE s.namespace = $namespace AND s.changed = d.version }
    OR EXISTS { MATCH (e:Deletion) WHERE e.namespace = $namespace AND e.version = d.version AND e <> d }
  RETURN coalesce(toStringOrNull(d.id), "no id") AS id,
    "at version " + coalesce(toStringOrNull(d.version), "none") AS detail
}
RETURN id, detail LIMIT $size;

// name: mend_deletions
// Forgets all deletions; every reader begins anew.
// mode: write
// try: :param namespace => "default";
MATCH (n:Namespace {name: $namespace})
CALL () {
  MATCH (d:Deletion) WHERE d.namespace = $namespace AND d.version IS NOT NULL
  WITH collect(d) AS deletions, max(coalesce(toIntegerOrNull(d.version), 0)) AS latest
  FOREACH (d IN deletions | DELETE d)
  RETURN latest
}
SET n.version = 1 + CASE WHEN latest > n.version AND latest < 4611686018427387904 THEN latest
  ELSE coalesce(n.version, 0) END
SET n.complete_since = n.version, n.deletions_kept = 0, n.newest = [n.version, 0];

// name: check_newest
// How many skills and deletions have the latest version is noted wrongly, so readers wait for them or miss them.
// mode: read
// try: :param namespace => "default";
MATCH (n:Namespace {name: $namespace})
WHERE n.newest IS NOT NULL
WITH n, COUNT { MATCH (s:Skill) WHERE s.namespace = $namespace AND s.changed = n.version }
  + COUNT { MATCH (d:Deletion) WHERE d.namespace = $namespace AND d.version = n.version } AS there
WHERE NOT coalesce(n.newest = [n.version, there], false)
RETURN "newest" AS id, toString(there) + " at version " + coalesce(toStringOrNull(n.version), "none") AS detail;

// name: mend_newest
// Counts them.
// mode: write
// try: :param namespace => "default";
MATCH (n:Namespace {name: $namespace})
WITH n, COUNT { MATCH (s:Skill) WHERE s.namespace = $namespace AND s.changed = n.version }
  + COUNT { MATCH (d:Deletion) WHERE d.namespace = $namespace AND d.version = n.version } AS there
SET n.newest = [n.version, there];

// name: check_counters
// A counter of the namespace is not what a full count gives.
// mode: read
// try: :param namespace => "default";
OPTIONAL MATCH (n:Namespace {name: $namespace})
CALL () {
  MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > ""
  RETURN count(*) AS stored, coalesce(sum(s.counted[0]), 0) AS units, coalesce(sum(s.counted[1]), 0) AS transferable,
    coalesce(sum(s.counted[2]), 0) AS transfers
}
CALL () {
  MATCH (d:Deletion) WHERE d.namespace = $namespace AND d.version IS NOT NULL
  RETURN count(*) AS deletions
}
UNWIND [
  ["stored", n.stored, stored], ["confidence_units", n.confidence_units, units],
  ["transferable", n.transferable, transferable], ["transfers", n.transfers, transfers],
  ["deletions_kept", n.deletions_kept, deletions], ["version", n.version, coalesce(n.version, 0)],
  ["complete_since", n.complete_since, coalesce(n.complete_since, 0)], ["noted", n.noted, coalesce(n.noted, 0)],
  ["store_id", n.store_id, coalesce(n.store_id, "")]
] AS counter
WITH n, stored, deletions, counter
WHERE (n IS NOT NULL OR stored + deletions > 0) AND coalesce(counter[1] <> counter[2], true)
RETURN counter[0] AS id, coalesce(toString(counter[1]), "nothing") + " instead of " + toString(counter[2]) AS detail;

// name: mend_counters
// Counts everything anew.
// mode: write
// try: :param namespace => "default";
MATCH (n:Namespace {name: $namespace})
CALL () {
  MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > ""
  RETURN count(*) AS stored, coalesce(sum(s.counted[0]), 0) AS units, coalesce(sum(s.counted[1]), 0) AS transferable,
    coalesce(sum(s.counted[2]), 0) AS transfers
}
CALL () {
  MATCH (d:Deletion) WHERE d.namespace = $namespace AND d.version IS NOT NULL
  RETURN count(*) AS deletions
}
SET n.stored = stored, n.confidence_units = units, n.transferable = transferable, n.transfers = transfers,
  n.deletions_kept = deletions, n.version = coalesce(n.version, 0), n.complete_since = coalesce(n.complete_since, 0),
  n.noted = coalesce(n.noted, 0), n.store_id = coalesce(n.store_id, randomUUID());
