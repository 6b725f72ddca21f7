// Which traces taught this skill?
// A trace is one execution that was seen. The relationship that says created = true is the one that the skill was made
// from; the others reinforced it.
// Parameters: namespace, id, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[learned:LEARNED_FROM]->(t:Trace)
RETURN s, learned, t ORDER BY t.seen_at DESC LIMIT 50;
