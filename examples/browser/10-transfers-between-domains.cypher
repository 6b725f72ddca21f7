// From which domains to which do skills transfer, and how often does it work?
// A row is a pair of domains. A low rate over many transfers says that what works in the one misleads in the other.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[:APPLIED]->(t:Transfer)-[:IN_DOMAIN]->(d:Domain)
WHERE d.name <> s.domain
WITH s.domain AS source, d.name AS target, count(*) AS transfers, sum(CASE WHEN t.success THEN 1 ELSE 0 END) AS worked
RETURN source, target, transfers, worked, round(100.0 * worked / transfers) AS percent
ORDER BY transfers DESC, source, target LIMIT 50;
