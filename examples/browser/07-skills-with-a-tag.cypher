// Which skills have this tag?
// Tags are the structures and ways of thinking of a skill's task, its domain, and what you gave it yourself. The most
// reliable skills come first.
// Parameters: namespace, tag, now. The favourite "Parameters of the tour" sets them.
MATCH (g:Tag) WHERE g.namespace = $namespace AND g.key > "" AND g.name = $tag
MATCH (g)<-[r:TAGGED]-(s:Skill)
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN g, r, s ORDER BY s.confidence DESC, s.id LIMIT 25;
