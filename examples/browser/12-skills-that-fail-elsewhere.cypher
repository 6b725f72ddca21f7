// Which skills fail in some domains and work in others?
// Look at the transfers: success = false beside success = true. Such a skill wants a second one beside it, not more
// use.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
  AND s.transfer_count > s.transfer_successes AND s.transfer_successes > 0
WITH s ORDER BY s.transfer_count - s.transfer_successes DESC, s.id LIMIT 3
MATCH (s)-[applied:APPLIED]->(t:Transfer)-[to:IN_DOMAIN]->(d:Domain)
RETURN s, applied, t, to, d;
