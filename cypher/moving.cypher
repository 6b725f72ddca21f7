// Taking skills elsewhere: what a store keeps beside the skill itself, and the outbox of a mirror.

// name: kept_beside
// What is kept of some live skills and is no part of them: profile, terms, vector, dedup key and traces.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"]; :param now => datetime();
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN s.id AS id, s.version AS version, s.profile AS profile, s.terms AS terms, s.vector AS vector, s.dedup_key AS dedup_key,
  COLLECT { MATCH (s)-[:LEARNED_FROM]->(t:Trace) WITH t ORDER BY t.seen_at, t.key RETURN t {.*} } AS traces;

// name: holders
// Who holds some dedup keys, and whether it is live.
// mode: read
// try: :param namespace => "default"; :param keys => ["…"]; :param now => datetime();
UNWIND $keys AS key
MATCH (s:Skill {namespace: $namespace, dedup_key: key})
RETURN key, s.id AS id, coalesce(s.expires_at > $now, s.expires_at IS NULL) AS live;

// name: note_mirror
// Notes which mirror follows a namespace; null for none. Tells whether that is news.
// mode: write
// try: :param namespace => "default"; :param target => null;
MATCH (n:Namespace {name: $namespace})
WITH n, n.mirror AS before
SET n.mirror = $target
RETURN coalesce(before <> $target, (before IS NULL) <> ($target IS NULL)) AS news;

// name: clear_outbox
// Takes $size entries out, if no mirror is noted; gives how many.
// mode: write
// try: :param namespace => "default"; :param size => 5000;
MATCH (n:Namespace {name: $namespace})
CALL (n) {
  MATCH (o:Outbox) USING INDEX o:Outbox(namespace, number)
  WHERE o.namespace = $namespace AND o.number >= 0 AND n.mirror IS NULL
  WITH o LIMIT $size
  DELETE o
  RETURN count(*) AS removed
}
RETURN removed;

// name: mirror
// Which mirror follows a namespace.
// mode: read
// try: :param namespace => "default";
MATCH (n:Namespace {name: $namespace})
RETURN n.mirror AS mirror;

// name: page_of_stored
// Ids of stored skills in their order, after $after, expired ones included.
// mode: read
// try: :param namespace => "default"; :param after => ""; :param size => 25;
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.id > $after
RETURN s.id AS id ORDER BY s.namespace, s.id LIMIT $size;

// name: put_in_outbox
// Notes that a mirror has to follow some skills: each once, by the number of its latest change, with the time of its
// first.
// mode: write
// try: :param namespace => "default"; :param ids => ["…"]; :param now => datetime();
MATCH (n:Namespace {name: $namespace})
UNWIND range(0, size($ids) - 1) AS i
MERGE (o:Outbox {namespace: $namespace, skill_id: $ids[i]})
ON CREATE SET o.noted_at = $now
SET o.number = n.noted + i + 1
WITH n, count(o) AS added
SET n.noted = n.noted + added;

// name: outbox
// The oldest entries.
// mode: read
// try: :param namespace => "default"; :param size => 100;
MATCH (o:Outbox)
WHERE o.namespace = $namespace AND o.number >= 0
RETURN o.number AS number, o.skill_id AS skill_id, o.noted_at AS noted_at ORDER BY o.namespace, o.number LIMIT $size;

// name: empty_outbox
// Takes the entries up to a number out.
// mode: write
// try: :param namespace => "default"; :param number => 0;
MATCH (o:Outbox)
WHERE o.namespace = $namespace AND o.number <= $number
DELETE o;

// name: waiting
// How many entries there are, and the time of the oldest.
// mode: read
// try: :param namespace => "default";
MATCH (o:Outbox)
WHERE o.namespace = $namespace AND o.number >= 0
RETURN count(o) AS entries, min(o.noted_at) AS since;

// name: clear_traces
// Parts some skills from their traces, and removes traces that nobody was learned from then.
// mode: write
// try: :param namespace => "default"; :param ids => [];
UNWIND $ids AS id
MATCH (:Skill {namespace: $namespace, id: id})-[r:LEARNED_FROM]->(t:Trace)
DELETE r
WITH DISTINCT t WHERE NOT (t)--()
DELETE t;
