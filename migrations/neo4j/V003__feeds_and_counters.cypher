// What the change feed, the counters and the outbox of a mirror stand on.
CREATE CONSTRAINT outbox_skill_id_unique IF NOT EXISTS FOR (o:Outbox) REQUIRE (o.namespace, o.skill_id) IS UNIQUE;
CREATE INDEX outbox_number_range IF NOT EXISTS FOR (o:Outbox) ON (o.namespace, o.number);
CREATE INDEX deletion_version_range IF NOT EXISTS FOR (d:Deletion) ON (d.namespace, d.version);
CREATE INDEX skill_usage_range IF NOT EXISTS FOR (s:Skill) ON (s.namespace, s.usage_count, s.confidence, s.id);

// Makes the new names known, as V002 did.
CREATE (n:Namespace {
  name: "", store_id: "", stored: 0, transferable: 0, confidence_units: 0, transfers: 0, deletions_kept: 0, mirror: "",
  noted: 0, vector_index: 0, marks: [""], newest: [0], operations_0: [0], operations_1: [0], operations_2: [0], operations_3: [0], operations_4: [0],
  operations_5: [0], operations_6: [0], operations_7: [0], operations_8: [0], operations_9: [0], operations_10: [0],
  operations_11: [0], operations_12: [0], operations_13: [0], operations_14: [0], operations_15: [0]})
CREATE (s:Skill {namespace: "", id: "", terms: "", shape: "", counted: [0], embedding: [0.0]})
CREATE (o:Outbox {namespace: "", skill_id: "", number: 0, noted_at: datetime()})
CREATE (d:Deletion {namespace: "", version: 0, id: ""})
CREATE (s)-[:LEARNED_FROM {operation: 0, created: true}]->(d)
DETACH DELETE n, s, o, d;

// What is stored already is counted: units of confidence (2^-40), transferable or not, transfers; and has the key of its
// shape at hand. In batches, so that a large store needs no large transaction; what was done before an interruption is
// not done again.
MATCH (s:Skill) WHERE s.counted IS NULL
CALL (s) {
  SET s.counted = [
    coalesce(toInteger(round(toFloatOrNull(s.confidence) * 1099511627776.0)), 0),
    CASE WHEN s.transfer_count >= 1 AND 2 * s.transfer_successes >= s.transfer_count THEN 1 ELSE 0 END,
    coalesce(toIntegerOrNull(s.transfer_count), 0)]
  WITH s
  MATCH (s)-[:HAS_SHAPE]->(h:Shape)
  SET s.shape = h.key
} IN TRANSACTIONS OF 2000 ROWS;

// Readers begin anew: which deletions there were is not carried over.
MATCH (n:Namespace)
SET n.store_id = coalesce(n.store_id, randomUUID()), n.stored = 0, n.transferable = 0, n.confidence_units = 0,
  n.transfers = 0, n.deletions_kept = 0, n.noted = 0, n.complete_since = n.version
REMOVE n.deletions, n.operations;

MATCH (s:Skill)
WITH s.namespace AS name, count(*) AS stored, sum(s.counted[0]) AS units, sum(s.counted[1]) AS transferable,
  sum(s.counted[2]) AS transfers
MATCH (n:Namespace {name: name})
SET n.stored = stored, n.confidence_units = units, n.transferable = transferable, n.transfers = transfers;
