// Which steps occur in most skills?
// A row is one wording. Steps that many domains share are what your agents do all the time: good tools to have.
// Parameters: namespace, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[:HAS_STEP]->(p:Step)
WITH toLower(p.action) AS step, count(DISTINCT s) AS skills, count(DISTINCT s.domain) AS domains,
  collect(DISTINCT s.name)[..3] AS such_as
RETURN step, skills, domains, such_as ORDER BY skills DESC, domains DESC, step LIMIT 25;
