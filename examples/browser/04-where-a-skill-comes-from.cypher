// Where does this skill come from, and what came of it?
// DERIVES_FROM points to the older skill: follow the arrows to the origin, against them to what was learned from it.
// Parameters: namespace, id, now. The favourite "Parameters of the tour" sets them.
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
CALL (s) {
  MATCH (s)-[:DERIVES_FROM]->{0,6}(kin) RETURN DISTINCT kin
  UNION
  MATCH (s)<-[:DERIVES_FROM]-{1,6}(kin) RETURN DISTINCT kin
}
WITH DISTINCT kin WHERE coalesce(kin.expires_at > $now, kin.expires_at IS NULL)
WITH collect(kin) AS family
UNWIND family AS kin
OPTIONAL MATCH (kin)-[r:DERIVES_FROM]->(older) WHERE older IN family
RETURN kin, r, older LIMIT 100;
