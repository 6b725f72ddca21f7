// Which skills stand alone?
// No relation to another skill and no transfer: learned once, recalled by nobody. The next to expire come first.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
  AND s.transfer_count = 0
  AND NOT EXISTS { (s)-[:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]-() }
WITH s ORDER BY s.expires_at, s.id LIMIT 50
OPTIONAL MATCH (s)-[r:LEARNED_IN]->(d:Domain)
RETURN s, r, d;
