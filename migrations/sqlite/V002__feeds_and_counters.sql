-- What is written at every use stands apart from what is long: `skill` holds the short columns, `body` the document and
-- the profile as last written whole, `recall` the bytes that recall scores, `transfer` the applications since then. They
-- share `number`. The triggers keep the counters of the namespace and its outbox, whichever statement writes.
ALTER TABLE namespace ADD COLUMN store_id TEXT;
ALTER TABLE namespace ADD COLUMN written_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespace ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespace ADD COLUMN transferable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespace ADD COLUMN transfers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespace ADD COLUMN confidence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespace ADD COLUMN deletions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespace ADD COLUMN mirror TEXT;
ALTER TABLE namespace ADD COLUMN noted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespace ADD COLUMN marks TEXT NOT NULL DEFAULT '';
UPDATE namespace SET store_id = lower(hex(randomblob(16)));

ALTER TABLE skill RENAME TO skill_before;
CREATE TABLE skill (
    number INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    skill_type TEXT NOT NULL,
    confidence REAL NOT NULL,
    usage_count INTEGER NOT NULL,
    success_rate REAL,
    transfer_count INTEGER NOT NULL,
    transfer_successes INTEGER NOT NULL,
    version INTEGER NOT NULL,
    expires_at INTEGER,
    updated_at INTEGER,
    changed INTEGER NOT NULL,
    dedup_key TEXT,
    fingerprint TEXT NOT NULL,
    shape TEXT NOT NULL,
    transferable INTEGER AS (transfer_count >= 1 AND 2 * transfer_successes >= transfer_count),
    confidence_units INTEGER AS (CAST(round(confidence * 1099511627776.0) AS INTEGER)),
    UNIQUE (namespace, id)
);
CREATE TABLE body (number INTEGER PRIMARY KEY, document TEXT NOT NULL, profile TEXT);
CREATE TABLE recall (number INTEGER PRIMARY KEY, terms BLOB, vector BLOB);
CREATE TABLE transfer (
    number INTEGER NOT NULL,
    place INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (number, place)
) WITHOUT ROWID;

INSERT INTO skill (number, namespace, id, skill_type, confidence, usage_count, transfer_count, transfer_successes,
    version, expires_at, changed, dedup_key, fingerprint, shape)
SELECT s.rowid, s.namespace, s.id, s.skill_type, s.confidence, s.usage_count, s.transfer_count, s.transfer_successes,
    s.version, s.expires_at, s.changed, s.dedup_key, s.fingerprint,
    coalesce('[' || h.task_structures || ', ' || h.cognitive_patterns || ', ' || json_quote(h.input_shape) || ', '
    || json_quote(h.output_shape) || ']', '[]')
FROM skill_before AS s LEFT JOIN shape AS h ON h.key = s.shape ORDER BY s.rowid;
INSERT INTO body SELECT rowid, document, profile FROM skill_before ORDER BY rowid;
INSERT INTO recall SELECT rowid, NULL, vector FROM skill_before ORDER BY rowid;
DROP TABLE skill_before;
DROP TABLE shape;

CREATE UNIQUE INDEX skill_dedup_key_unique ON skill (namespace, dedup_key) WHERE dedup_key IS NOT NULL;
CREATE INDEX skill_changed_range ON skill (namespace, changed);
CREATE INDEX skill_expires_at_range ON skill (namespace, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX skill_most_used ON skill (namespace, usage_count DESC, confidence DESC, id);

UPDATE namespace SET
    stored = (SELECT count(*) FROM skill AS s WHERE s.namespace = name),
    transferable = (SELECT coalesce(sum(s.transferable), 0) FROM skill AS s WHERE s.namespace = name),
    transfers = (SELECT coalesce(sum(s.transfer_count), 0) FROM skill AS s WHERE s.namespace = name),
    confidence = (SELECT coalesce(sum(s.confidence_units), 0) FROM skill AS s WHERE s.namespace = name),
    deletions = (SELECT count(*) FROM deletion AS d WHERE d.namespace = name);

-- What a mirror has not got yet: one row a skill, by the number of its latest change, with the time of its first.
CREATE TABLE outbox (
    namespace TEXT NOT NULL,
    skill_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    noted_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, skill_id)
) WITHOUT ROWID;
CREATE INDEX outbox_number_range ON outbox (namespace, number);
CREATE INDEX outbox_noted_at_range ON outbox (namespace, noted_at);

CREATE TRIGGER skill_added AFTER INSERT ON skill BEGIN
    UPDATE namespace SET stored = stored + 1, transferable = transferable + NEW.transferable,
        transfers = transfers + NEW.transfer_count, confidence = confidence + NEW.confidence_units,
        noted = noted + (mirror IS NOT NULL)
    WHERE name = NEW.namespace;
    INSERT INTO outbox (namespace, skill_id, number, noted_at)
    SELECT name, NEW.id, noted, written_at FROM namespace WHERE name = NEW.namespace AND mirror IS NOT NULL
    ON CONFLICT (namespace, skill_id) DO UPDATE SET number = excluded.number;
END;

CREATE TRIGGER skill_changed AFTER UPDATE OF confidence, transfer_count, transfer_successes, changed ON skill BEGIN
    UPDATE namespace SET transferable = transferable + NEW.transferable - OLD.transferable,
        transfers = transfers + NEW.transfer_count - OLD.transfer_count,
        confidence = confidence + NEW.confidence_units - OLD.confidence_units,
        noted = noted + (mirror IS NOT NULL)
    WHERE name = NEW.namespace;
    INSERT INTO outbox (namespace, skill_id, number, noted_at)
    SELECT name, NEW.id, noted, written_at FROM namespace WHERE name = NEW.namespace AND mirror IS NOT NULL
    ON CONFLICT (namespace, skill_id) DO UPDATE SET number = excluded.number;
END;

CREATE TRIGGER skill_removed AFTER DELETE ON skill BEGIN
    DELETE FROM body WHERE number = OLD.number;
    DELETE FROM recall WHERE number = OLD.number;
    DELETE FROM transfer WHERE number = OLD.number;
    DELETE FROM tag WHERE namespace = OLD.namespace AND skill_id = OLD.id;
    DELETE FROM trace WHERE namespace = OLD.namespace AND skill_id = OLD.id;
    DELETE FROM edge WHERE namespace = OLD.namespace AND source = OLD.id;
    DELETE FROM edge WHERE namespace = OLD.namespace AND target = OLD.id;
    UPDATE namespace SET stored = stored - 1, transferable = transferable - OLD.transferable,
        transfers = transfers - OLD.transfer_count, confidence = confidence - OLD.confidence_units,
        noted = noted + (mirror IS NOT NULL)
    WHERE name = OLD.namespace;
    INSERT INTO outbox (namespace, skill_id, number, noted_at)
    SELECT name, OLD.id, noted, written_at FROM namespace WHERE name = OLD.namespace AND mirror IS NOT NULL
    ON CONFLICT (namespace, skill_id) DO UPDATE SET number = excluded.number;
END;

CREATE TRIGGER edge_added AFTER INSERT ON edge
WHEN (SELECT mirror FROM namespace WHERE name = NEW.namespace) IS NOT NULL BEGIN
    UPDATE namespace SET noted = noted + 2 WHERE name = NEW.namespace;
    INSERT INTO outbox (namespace, skill_id, number, noted_at)
    SELECT name, NEW.source, noted - 1, written_at FROM namespace WHERE name = NEW.namespace
    ON CONFLICT (namespace, skill_id) DO UPDATE SET number = excluded.number;
    INSERT INTO outbox (namespace, skill_id, number, noted_at)
    SELECT name, NEW.target, noted, written_at FROM namespace WHERE name = NEW.namespace
    ON CONFLICT (namespace, skill_id) DO UPDATE SET number = excluded.number;
END;

CREATE TRIGGER edge_changed AFTER UPDATE ON edge
WHEN (SELECT mirror FROM namespace WHERE name = NEW.namespace) IS NOT NULL BEGIN
    UPDATE namespace SET noted = noted + 2 WHERE name = NEW.namespace;
    INSERT INTO outbox (namespace, skill_id, number, noted_at)
    SELECT name, NEW.source, noted - 1, written_at FROM namespace WHERE name = NEW.namespace
    ON CONFLICT (namespace, skill_id) DO UPDATE SET number = excluded.number;
    INSERT INTO outbox (namespace, skill_id, number, noted_at)
    SELECT name, NEW.target, noted, written_at FROM namespace WHERE name = NEW.namespace
    ON CONFLICT (namespace, skill_id) DO UPDATE SET number = excluded.number;
END;

CREATE TRIGGER edge_removed AFTER DELETE ON edge
WHEN (SELECT mirror FROM namespace WHERE name = OLD.namespace) IS NOT NULL BEGIN
    UPDATE namespace SET noted = noted + 2 WHERE name = OLD.namespace;
    INSERT INTO outbox (namespace, skill_id, number, noted_at)
    SELECT name, OLD.source, noted - 1, written_at FROM namespace WHERE name = OLD.namespace
    ON CONFLICT (namespace, skill_id) DO UPDATE SET number = excluded.number;
    INSERT INTO outbox (namespace, skill_id, number, noted_at)
    SELECT name, OLD.target, noted, written_at FROM namespace WHERE name = OLD.namespace
    ON CONFLICT (namespace, skill_id) DO UPDATE SET number = excluded.number;
END;

CREATE TRIGGER deletion_added AFTER INSERT ON deletion BEGIN
    UPDATE namespace SET deletions = deletions + 1 WHERE name = NEW.namespace;
END;

CREATE TRIGGER deletion_forgotten AFTER DELETE ON deletion BEGIN
    UPDATE namespace SET deletions = deletions - 1 WHERE name = OLD.namespace;
END;
