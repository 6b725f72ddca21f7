// What can be done in this domain?
// Skills that were learned there, and skills from elsewhere that were applied there with success.
// Parameters: namespace, domain, now. The favourite "Parameters of the tour" sets them.
MATCH (d:Domain) WHERE d.namespace = $namespace AND d.key > "" AND d.name = $domain
CALL (d) {
  MATCH (d)<-[r:LEARNED_IN]-(s:Skill) RETURN s, [r] AS how, null AS t
  UNION
  MATCH (d)<-[r:IN_DOMAIN]-(t:Transfer {success: true})<-[applied:APPLIED]-(s:Skill) RETURN s, [applied, r] AS how, t
}
WITH d, s, how, t WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN d, s, how, t ORDER BY s.confidence DESC, s.id LIMIT 25;
