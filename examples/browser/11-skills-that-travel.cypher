// Which skills work in most domains?
// The three skills with successes in most domains, and those domains.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[applied:APPLIED]->(t:Transfer {success: true})-[to:IN_DOMAIN]->(d:Domain)
WITH s, d, collect([applied, t, to])[0] AS one
WITH s, collect({domain: d, one: one}) AS places
ORDER BY size(places) DESC, s.confidence DESC, s.id LIMIT 3
UNWIND places AS place
RETURN s, place.one AS transfer, place.domain AS d;
