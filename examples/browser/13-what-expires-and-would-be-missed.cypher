// What expires within a week and would be missed?
// The skills in the middle go unless they are used; the skills around them were derived from them or are built on them.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.expires_at > $now AND s.expires_at <= $now + duration({days: 7})
MATCH (s)<-[r:DERIVES_FROM|COMPOSED_OF|SPECIALIZES]-(other:Skill)
WHERE other.expires_at > s.expires_at OR other.expires_at IS NULL
RETURN s, r, other ORDER BY s.expires_at, s.id, other.id LIMIT 20;
