// What transferred where?
// Each orange arrow is a skill that was recalled in another domain and led to a new one there; the latest twelve.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (a:Skill) WHERE a.namespace = $namespace AND a.id > "" AND coalesce(a.expires_at > $now, a.expires_at IS NULL)
MATCH (a)-[r:TRANSFERRED_TO]->(b:Skill)
WHERE coalesce(b.expires_at > $now, b.expires_at IS NULL)
WITH a, r, b ORDER BY b.created_at DESC, b.id LIMIT 12
OPTIONAL MATCH (a)-[from:LEARNED_IN]->(source:Domain)
OPTIONAL MATCH (b)-[to:LEARNED_IN]->(target:Domain)
RETURN a, r, b, from, source, to, target;
