// Makes every label, relationship type and property known to the database, so that a question asked of an empty one
// is answered without a warning about unknown names. What is created here is removed in the same statement.
CREATE (n:Namespace {name: "", version: 0, complete_since: 0, deletions: [""], operations: [""], locked: true, embedding: "", swept_at: datetime()})
CREATE (s:Skill {
  namespace: "", id: "", name: "", description: "", skill_type: "", task: "", domain: "", source_context: "",
  confidence: 0.0, usage_count: 0, success_rate: 0.0, created_at: datetime(), updated_at: datetime(),
  expires_at: datetime(), transfer_count: 0, transfer_successes: 0, version: 0, parts: 0, changed: 0, dedup_key: "", extra: "",
  fingerprint: "", profile: "", vector: ""})
CREATE (p:Step {id: "", order: 0, action: "", description: "", parameters: "", is_optional: false, extra: ""})
CREATE (c:Condition {id: "", order: 0, predicate: "", description: "", required: true, extra: ""})
CREATE (r:Transfer {
  id: "", number: 0, target_context: "", success: true, confidence: 0.0, adaptations: "", timestamp: datetime(),
  extra: ""})
CREATE (g:Tag {namespace: "", key: "", name: ""})
CREATE (d:Domain {namespace: "", key: "", name: ""})
CREATE (h:Shape {
  namespace: "", key: "", task_structures: [""], cognitive_patterns: [""], input_shape: "", output_shape: ""})
CREATE (t:Trace {
  namespace: "", key: "", trace_id: "", content: "", domain: "", task: "", success: true, quality: 0.0,
  seen_at: datetime()})
CREATE (s)-[:HAS_STEP {order: 0}]->(p)-[:NEXT]->(p), (s)-[:REQUIRES]->(c), (s)-[:ENSURES]->(c),
  (s)-[:TAGGED {order: 0}]->(g), (s)-[:LEARNED_IN]->(d), (s)-[:HAS_SHAPE]->(h), (s)-[:LEARNED_FROM]->(t),
  (s)-[:APPLIED]->(r)-[:IN_DOMAIN]->(d),
  (s)-[:DERIVES_FROM {metadata: ""}]->(s), (s)-[:COMPOSED_OF]->(s), (s)-[:SPECIALIZES]->(s),
  (s)-[:TRANSFERRED_TO]->(s), (s)-[:CONFLICTS_WITH]->(s), (s)-[:COMPLEMENTS]->(s)
DETACH DELETE n, s, p, c, r, g, d, h, t;
