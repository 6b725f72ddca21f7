// Which domains share a shape?
// A shape is what a task is like apart from its domain: how it is built, and below that the thinking it takes. Skills
// of several domains hang on each of these three: what one domain knows can help out in the others.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (h:Shape)<-[has:HAS_SHAPE]-(s:Skill)-[learned:LEARNED_IN]->(d:Domain)
WHERE h.namespace = $namespace AND h.key > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
WITH h, d, has, s, learned ORDER BY s.transfer_count DESC, s.id
WITH h, d, collect({has: has, skill: s, learned: learned})[0] AS best
WITH h, d, best ORDER BY COUNT { (d)<-[:LEARNED_IN]-() } DESC, d.name
WITH h, collect({domain: d, best: best}) AS members
WHERE size(members) > 1
ORDER BY size(members) DESC, h.key LIMIT 3
UNWIND members[..5] AS member
RETURN h, member.best.has AS has, member.best.skill AS s, member.best.learned AS learned, member.domain AS d;
