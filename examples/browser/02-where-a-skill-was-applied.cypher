// Where was this skill applied, and did it work there?
// Each transfer says whether it was a success; the domain behind it is where the skill went.
// Parameters: namespace, id, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[applied:APPLIED]->(t:Transfer)
OPTIONAL MATCH (t)-[to:IN_DOMAIN]->(d:Domain)
RETURN s, applied, t, to, d ORDER BY t.number DESC LIMIT 50;
