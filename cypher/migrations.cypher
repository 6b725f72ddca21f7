// The history of the schema, itself a graph: (:BrainMigration)-[:MIGRATED_TO]->(:BrainMigration).

// name: migration_history
// Every migration that was applied, in order. Version 0 is the empty database.
// mode: read
MATCH (m:BrainMigration) WHERE m.version > 0
RETURN m.version AS version, m.name AS name, m.checksum AS checksum ORDER BY version;

// name: migration_version_constraint
// Makes the version of a migration unique, so that two processes that start at once find one history.
// mode: write
CREATE CONSTRAINT brain_migration_version_unique IF NOT EXISTS FOR (m:BrainMigration) REQUIRE m.version IS UNIQUE;

// name: lock_migrations
// Makes the beginning of the history if it is missing, and takes its write lock until the transaction ends.
// mode: write
MERGE (m:BrainMigration {version: 0})
ON CREATE SET m.name = "empty"
SET m.locked = true
RETURN m.version AS version;

// name: record_migration
// Adds a migration to the end of the history.
// mode: write
// try: :param version => 1; :param name => "…"; :param checksum => "…"; :param now => datetime();
MATCH (before:BrainMigration) WHERE before.version < $version
WITH before ORDER BY before.version DESC LIMIT 1
CREATE (before)-[:MIGRATED_TO]->(:BrainMigration {version: $version, name: $name, checksum: $checksum, applied_at: $now});
