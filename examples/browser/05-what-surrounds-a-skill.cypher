// Which skills belong to this one?
// What is one of the six relations away, or two. Red ones exclude each other, green ones go well together.
// Parameters: namespace, id, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[first:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]-(near:Skill)
WHERE coalesce(near.expires_at > $now, near.expires_at IS NULL)
OPTIONAL MATCH (near)-[second:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|CONFLICTS_WITH|COMPLEMENTS]-(far:Skill)
WHERE coalesce(far.expires_at > $now, far.expires_at IS NULL)
RETURN s, first, near, second, far LIMIT 60;
