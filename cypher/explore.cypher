// A tour for people: what one asks of a skill graph, as Neo4j Browser draws it. No code runs these statements; each
// stands in examples/browser too, to be dropped on Browser as a favourite. What has expired is hidden, as everywhere.
// The parameters fit the graph that examples/sample_graph.py makes. For your own skills, set namespace to "default", and
// id to what a click on a skill shows.

// name: how_a_skill_works
// How does this skill work?
// Follow NEXT from step to step. What must hold before hangs on REQUIRES, what holds afterwards on ENSURES; the shape
// is what its task is like apart from the domain.
// mode: read
// try: :param namespace => "sample"; :param id => "diagnose-chest-pains"; :param now => datetime();
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[r:HAS_STEP|REQUIRES|ENSURES|LEARNED_IN|HAS_SHAPE]->(part)
OPTIONAL MATCH (part)-[next:NEXT]->(:Step)
RETURN s, r, part, next;

// name: where_a_skill_was_applied
// Where was this skill applied, and did it work there?
// Each transfer says whether it was a success; the domain behind it is where the skill went.
// mode: read
// try: :param namespace => "sample"; :param id => "diagnose-chest-pains"; :param now => datetime();
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[applied:APPLIED]->(t:Transfer)
OPTIONAL MATCH (t)-[to:IN_DOMAIN]->(d:Domain)
RETURN s, applied, t, to, d ORDER BY t.number DESC LIMIT 50;

// name: what_taught_a_skill
// Which traces taught this skill?
// A trace is one execution that was seen. The relationship that says created = true is the one that the skill was made
// from; the others reinforced it.
// mode: read
// try: :param namespace => "sample"; :param id => "diagnose-chest-pains"; :param now => datetime();
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[learned:LEARNED_FROM]->(t:Trace)
RETURN s, learned, t ORDER BY t.seen_at DESC LIMIT 50;

// name: where_a_skill_comes_from
// Where does this skill come from, and what came of it?
// DERIVES_FROM points to the older skill: follow the arrows to the origin, against them to what was learned from it.
// mode: read
// try: :param namespace => "sample"; :param id => "diagnose-chest-pains"; :param now => datetime();
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

// name: what_surrounds_a_skill
// Which skills belong to this one?
// What is one of the six relations away, or two. Red ones exclude each other, green ones go well together.
// mode: read
// try: :param namespace => "sample"; :param id => "diagnose-chest-pains"; :param now => datetime();
MATCH (s:Skill {namespace: $namespace, id: $id})
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[first:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|TRANSFERRED_TO|CONFLICTS_WITH|COMPLEMENTS]-(near:Skill)
WHERE coalesce(near.expires_at > $now, near.expires_at IS NULL)
OPTIONAL MATCH (near)-[second:DERIVES_FROM|COMPOSED_OF|SPECIALIZES|CONFLICTS_WITH|COMPLEMENTS]-(far:Skill)
WHERE coalesce(far.expires_at > $now, far.expires_at IS NULL)
RETURN s, first, near, second, far LIMIT 60;

// name: what_a_domain_can_do
// What can be done in this domain?
// Skills that were learned there, and skills from elsewhere that were applied there with success.
// mode: read
// try: :param namespace => "sample"; :param domain => "software"; :param now => datetime();
MATCH (d:Domain) WHERE d.namespace = $namespace AND d.key > "" AND d.name = $domain
CALL (d) {
  MATCH (d)<-[r:LEARNED_IN]-(s:Skill) RETURN s, [r] AS how, null AS t
  UNION
  MATCH (d)<-[r:IN_DOMAIN]-(t:Transfer {success: true})<-[applied:APPLIED]-(s:Skill) RETURN s, [applied, r] AS how, t
}
WITH d, s, how, t WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN d, s, how, t ORDER BY s.confidence DESC, s.id LIMIT 25;

// name: skills_with_a_tag
// Which skills have this tag?
// Tags are the structures and ways of thinking of a skill's task, its domain, and what you gave it yourself. The most
// reliable skills come first.
// mode: read
// try: :param namespace => "sample"; :param tag => "planning"; :param now => datetime();
MATCH (g:Tag) WHERE g.namespace = $namespace AND g.key > "" AND g.name = $tag
MATCH (g)<-[r:TAGGED]-(s:Skill)
WHERE coalesce(s.expires_at > $now, s.expires_at IS NULL)
RETURN g, r, s ORDER BY s.confidence DESC, s.id LIMIT 25;

// name: domains_that_share_a_shape
// Which domains share a shape?
// A shape is what a task is like apart from its domain: how it is built, and below that the thinking it takes. Skills
// of several domains hang on each of these three: what one domain knows can help out in the others.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
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

// name: what_transferred_where
// What transferred where?
// Each orange arrow is a skill that was recalled in another domain and led to a new one there; the latest twelve.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
MATCH (a:Skill) WHERE a.namespace = $namespace AND a.id > "" AND coalesce(a.expires_at > $now, a.expires_at IS NULL)
MATCH (a)-[r:TRANSFERRED_TO]->(b:Skill)
WHERE coalesce(b.expires_at > $now, b.expires_at IS NULL)
WITH a, r, b ORDER BY b.created_at DESC, b.id LIMIT 12
OPTIONAL MATCH (a)-[from:LEARNED_IN]->(source:Domain)
OPTIONAL MATCH (b)-[to:LEARNED_IN]->(target:Domain)
RETURN a, r, b, from, source, to, target;

// name: transfers_between_domains
// From which domains to which do skills transfer, and how often does it work?
// A row is a pair of domains. A low rate over many transfers says that what works in the one misleads in the other.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[:APPLIED]->(t:Transfer)-[:IN_DOMAIN]->(d:Domain)
WHERE d.name <> s.domain
WITH s.domain AS source, d.name AS target, count(*) AS transfers, sum(CASE WHEN t.success THEN 1 ELSE 0 END) AS worked
RETURN source, target, transfers, worked, round(100.0 * worked / transfers) AS percent
ORDER BY transfers DESC, source, target LIMIT 50;

// name: skills_that_travel
// Which skills work in most domains?
// The three skills with successes in most domains, and those domains.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[applied:APPLIED]->(t:Transfer {success: true})-[to:IN_DOMAIN]->(d:Domain)
WITH s, d, collect([applied, t, to])[0] AS one
WITH s, collect({domain: d, one: one}) AS places
ORDER BY size(places) DESC, s.confidence DESC, s.id LIMIT 3
UNWIND places AS place
RETURN s, place.one AS transfer, place.domain AS d;

// name: skills_that_fail_elsewhere
// Which skills fail in some domains and work in others?
// Look at the transfers: success = false beside success = true. Such a skill wants a second one beside it, not more use.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
  AND s.transfer_count > s.transfer_successes AND s.transfer_successes > 0
WITH s ORDER BY s.transfer_count - s.transfer_successes DESC, s.id LIMIT 3
MATCH (s)-[applied:APPLIED]->(t:Transfer)-[to:IN_DOMAIN]->(d:Domain)
RETURN s, applied, t, to, d;

// name: what_expires_and_would_be_missed
// What expires within a week and would be missed?
// The skills in the middle go unless they are used; the skills around them were derived from them or are built on them.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
MATCH (s:Skill)
WHERE s.namespace = $namespace AND s.expires_at > $now AND s.expires_at <= $now + duration({days: 7})
MATCH (s)<-[r:DERIVES_FROM|COMPOSED_OF|SPECIALIZES]-(other:Skill)
WHERE other.expires_at > s.expires_at OR other.expires_at IS NULL
RETURN s, r, other ORDER BY s.expires_at, s.id, other.id LIMIT 20;

// name: conflicting_skills_in_use
// Which skills exclude each other and are both used for the same domain?
// A red arrow between two skills, and below them the domain to which both were applied: one of them should win there.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
MATCH (a:Skill) WHERE a.namespace = $namespace AND a.id > "" AND coalesce(a.expires_at > $now, a.expires_at IS NULL)
MATCH (a)-[r:CONFLICTS_WITH]->(b:Skill)
WHERE coalesce(b.expires_at > $now, b.expires_at IS NULL)
MATCH (a)-[applied:APPLIED]->(t:Transfer)-[to:IN_DOMAIN]->(d:Domain)
MATCH (b)-[also_applied:APPLIED]->(u:Transfer)-[also_to:IN_DOMAIN]->(d)
RETURN a, r, b, applied, t, to, also_applied, u, also_to, d ORDER BY a.id, b.id, t.number, u.number LIMIT 12;

// name: skills_nobody_uses
// Which skills does nobody use?
// Learned once and never again, recalled for nothing, and nothing was built on them; the skill that each was derived from
// stands beside it. The next to expire come first: use them, or let them go.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
  AND s.transfer_count = 0 AND s.usage_count <= 1
  AND NOT EXISTS { (s)<-[:DERIVES_FROM|COMPOSED_OF|SPECIALIZES]-() }
WITH s ORDER BY s.expires_at, s.id LIMIT 12
OPTIONAL MATCH (s)-[r:LEARNED_IN]->(d:Domain)
OPTIONAL MATCH (s)-[from:DERIVES_FROM]->(older:Skill) WHERE coalesce(older.expires_at > $now, older.expires_at IS NULL)
RETURN s, r, d, from, older;

// name: most_reused_steps
// Which steps occur in most skills?
// A row is one wording. Steps that many domains share are what your agents do all the time: good tools to have.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
MATCH (s)-[:HAS_STEP]->(p:Step)
WITH toLower(p.action) AS step, count(DISTINCT s) AS skills, count(DISTINCT s.domain) AS domains,
  collect(DISTINCT s.name)[..3] AS such_as
RETURN step, skills, domains, such_as ORDER BY skills DESC, domains DESC, step LIMIT 25;

// name: learned_lately
// What was learned in the last seven days, and from what?
// New skills with the domain they are for; DERIVES_FROM leads to the skill that was recalled on the way.
// mode: read
// try: :param namespace => "sample"; :param now => datetime();
MATCH (s:Skill) WHERE s.namespace = $namespace AND s.id > "" AND coalesce(s.expires_at > $now, s.expires_at IS NULL)
  AND s.created_at > $now - duration({days: 7})
WITH s ORDER BY s.created_at DESC, s.id LIMIT 12
OPTIONAL MATCH (s)-[learned:LEARNED_IN]->(d:Domain)
OPTIONAL MATCH (s)-[r:DERIVES_FROM]->(older:Skill)
RETURN s, learned, d, r, older;

// name: namespaces
// Which namespaces are there, and what do they hold?
// A row is a namespace: skills stored (expired ones too, until a sweep), how many are transferable, transfers, mean
// confidence, and the number of changes so far.
// mode: read
MATCH (n:Namespace) WHERE n.name > ""
RETURN n.name AS namespace, n.stored AS skills, n.transferable AS transferable, n.transfers AS transfers,
  CASE WHEN n.stored > 0 THEN round(1.0 * n.confidence_units / n.stored / 1099511627776, 3) END AS mean_confidence,
  n.version AS changes
ORDER BY namespace LIMIT 100;

// name: schema_history
// Which migrations made this schema?
// Read along MIGRATED_TO, from the first to the latest.
// mode: read
MATCH (m:BrainMigration) WHERE m.version >= 0
OPTIONAL MATCH (m)-[r:MIGRATED_TO]->(later:BrainMigration)
RETURN m, r, later ORDER BY m.version;
