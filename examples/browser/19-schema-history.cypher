// Which migrations made this schema?
// Read along MIGRATED_TO, from the first to the latest.
MATCH (m:BrainMigration) WHERE m.version >= 0
OPTIONAL MATCH (m)-[r:MIGRATED_TO]->(later:BrainMigration)
RETURN m, r, later ORDER BY m.version;
