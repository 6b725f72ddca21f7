// Which skills exclude each other and are both used for the same domain?
// A red arrow between two skills, and below them the domain to which both were applied: one of them should win there.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (a:Skill) WHERE a.namespace = $namespace AND a.id > "" AND coalesce(a.expires_at > $now, a.expires_at IS NULL)
MATCH (a)-[r:CONFLICTS_WITH]->(b:Skill)
WHERE coalesce(b.expires_at > $now, b.expires_at IS NULL)
MATCH (a)-[applied:APPLIED]->(t:Transfer)-[to:IN_DOMAIN]->(d:Domain)
MATCH (b)-[also_applied:APPLIED]->(u:Transfer)-[also_to:IN_DOMAIN]->(d)
RETURN a, r, b, applied, t, to, also_applied, u, also_to, d ORDER BY a.id, b.id, t.number, u.number LIMIT 12;
