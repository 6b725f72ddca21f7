// Every id and key is unique within its namespace. Keys are digests, so that long texts fit an index.
CREATE CONSTRAINT namespace_name_unique IF NOT EXISTS FOR (n:Namespace) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT skill_id_unique IF NOT EXISTS FOR (s:Skill) REQUIRE (s.namespace, s.id) IS UNIQUE;
CREATE CONSTRAINT skill_dedup_key_unique IF NOT EXISTS FOR (s:Skill) REQUIRE (s.namespace, s.dedup_key) IS UNIQUE;
CREATE CONSTRAINT step_id_unique IF NOT EXISTS FOR (p:Step) REQUIRE p.id IS UNIQUE;
CREATE CONSTRAINT condition_id_unique IF NOT EXISTS FOR (c:Condition) REQUIRE c.id IS UNIQUE;
CREATE CONSTRAINT transfer_id_unique IF NOT EXISTS FOR (t:Transfer) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT tag_key_unique IF NOT EXISTS FOR (t:Tag) REQUIRE (t.namespace, t.key) IS UNIQUE;
CREATE CONSTRAINT domain_key_unique IF NOT EXISTS FOR (d:Domain) REQUIRE (d.namespace, d.key) IS UNIQUE;
CREATE CONSTRAINT shape_key_unique IF NOT EXISTS FOR (h:Shape) REQUIRE (h.namespace, h.key) IS UNIQUE;
CREATE CONSTRAINT trace_key_unique IF NOT EXISTS FOR (t:Trace) REQUIRE (t.namespace, t.key) IS UNIQUE;

// What recall asks for (changed since a version) and what the sweep asks for (expired by now).
CREATE INDEX skill_changed_range IF NOT EXISTS FOR (s:Skill) ON (s.namespace, s.changed);
CREATE INDEX skill_expires_at_range IF NOT EXISTS FOR (s:Skill) ON (s.namespace, s.expires_at);
