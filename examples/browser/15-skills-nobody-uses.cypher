// Which skills does nobody use?
// Learned once and never again, recalled for nothing, and nothing was built on them; the skill that each was derived
// from stands beside it. The next to expire come first: use them, or let them go.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
  AND s.transfer_count = 0 AND s.usage_count <= 1
  AND NOT EXISTS { (s)<-[:DERIVES_FROM|COMPOSED_OF|SPECIALIZES]-() }
WITH s ORDER BY s.expires_at, s.id LIMIT 12
OPTIONAL MATCH (s)-[r:LEARNED_IN]->(d:Domain)
OPTIONAL MATCH (s)-[from:DERIVES_FROM]->(older:Skill) WHERE coalesce(older.expires_at > $now, older.expires_at IS NULL)
RETURN s, r, d, from, older;
