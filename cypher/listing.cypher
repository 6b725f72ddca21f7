// What a listing shows: a list a skill of its id, name, domain, tags with their places, confidence, usage_count,
// success_rate, transfer_count, transfer_successes, expires_at in microseconds since 1970 (null is never), and updated_at
// as text.

// name: page_of_rows
// What a listing shows of live skills in the order of their ids, after $after.
// mode: read
// try: :param namespace => "default"; :param after => ""; :param size => 25; :param now => datetime();
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.id > $after AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
WITH s, s.expires_at AS expires_at ORDER BY s.namespace, s.id LIMIT $size
RETURN collect([s.id, s.name, s.domain,
  COLLECT { MATCH (s)-[r:TAGGED]->(t:Tag) RETURN [r.order, t.name] },
  s.confidence, s.usage_count, s.success_rate, s.transfer_count, s.transfer_successes,
  expires_at.epochSeconds * 1000000 + expires_at.microsecond, toStringOrNull(s.updated_at)]) AS rows;

// name: rows_by_id
// What a listing shows of the live skills among some ids.
// mode: read
// try: :param namespace => "default"; :param ids => ["…"]; :param now => datetime();
UNWIND $ids AS id
MATCH (s:Skill {namespace: $namespace, id: id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
WITH s, s.expires_at AS expires_at
RETURN collect([s.id, s.name, s.domain,
  COLLECT { MATCH (s)-[r:TAGGED]->(t:Tag) RETURN [r.order, t.name] },
  s.confidence, s.usage_count, s.success_rate, s.transfer_count, s.transfer_successes,
  expires_at.epochSeconds * 1000000 + expires_at.microsecond, toStringOrNull(s.updated_at)]) AS rows;
