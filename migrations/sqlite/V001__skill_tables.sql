-- One row a skill: the document holds every field; the columns beside it are what statements search and recall reads.
-- Times are microseconds since 1970, UTC. `changed` is the namespace's version at the skill's last write.
PRAGMA application_id = 0x42524E31;

CREATE TABLE namespace (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL DEFAULT 0,
    complete_since INTEGER NOT NULL DEFAULT 0,
    swept_at INTEGER,
    embedding TEXT
) WITHOUT ROWID;

CREATE TABLE skill (
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    skill_type TEXT NOT NULL,
    confidence REAL NOT NULL,
    usage_count INTEGER NOT NULL,
    transfer_count INTEGER NOT NULL,
    transfer_successes INTEGER NOT NULL,
    document TEXT NOT NULL,
    version INTEGER NOT NULL,
    shape TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    profile TEXT,
    vector BLOB,
    dedup_key TEXT,
    expires_at INTEGER,
    changed INTEGER NOT NULL,
    UNIQUE (namespace, id)
);
CREATE UNIQUE INDEX skill_dedup_key_unique ON skill (namespace, dedup_key) WHERE dedup_key IS NOT NULL;
CREATE INDEX skill_changed_range ON skill (namespace, changed);
CREATE INDEX skill_expires_at_range ON skill (namespace, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE shape (
    key TEXT PRIMARY KEY,
    task_structures TEXT NOT NULL,
    cognitive_patterns TEXT NOT NULL,
    input_shape TEXT NOT NULL,
    output_shape TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE tag (
    namespace TEXT NOT NULL,
    tag TEXT NOT NULL,
    skill_id TEXT NOT NULL,
    PRIMARY KEY (namespace, tag, skill_id)
) WITHOUT ROWID;
CREATE INDEX tag_skill_lookup ON tag (namespace, skill_id);

CREATE TABLE edge (
    namespace TEXT NOT NULL,
    source TEXT NOT NULL,
    relation TEXT NOT NULL,
    target TEXT NOT NULL,
    metadata TEXT NOT NULL,
    PRIMARY KEY (namespace, source, relation, target)
) WITHOUT ROWID;
CREATE INDEX edge_target_lookup ON edge (namespace, target);

CREATE TABLE trace (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    skill_id TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    content TEXT NOT NULL,
    domain TEXT NOT NULL,
    task TEXT NOT NULL,
    success INTEGER NOT NULL,
    quality REAL NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, key, skill_id)
) WITHOUT ROWID;
CREATE INDEX trace_skill_lookup ON trace (namespace, skill_id);

CREATE TABLE deletion (
    namespace TEXT NOT NULL,
    version INTEGER NOT NULL,
    skill_id TEXT NOT NULL,
    PRIMARY KEY (namespace, version, skill_id)
) WITHOUT ROWID;
