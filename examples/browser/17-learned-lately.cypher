// What was learned in the last seven days, and from what?
// New skills with the domain they are for; DERIVES_FROM leads to the skill that was recalled on the way.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
  AND s.created_at > $now - duration({days: 7})
WITH s ORDER BY s.created_at DESC, s.id LIMIT 12
OPTIONAL MATCH (s)-[learned:LEARNED_IN]->(d:Domain)
OPTIONAL MATCH (s)-[r:DERIVES_FROM]->(older:Skill)
RETURN s, learned, d, r, older;
