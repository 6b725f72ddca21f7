-- Is a namespace as it should be? Every check_x names what is wrong, by id, and mend_x mends it: `brain doctor`. Those
-- that take :ids (a JSON list) look at skills, a page at a time; the others at the whole namespace, or the whole file.

-- name: page_of_stored
-- Ids of stored skills in their order, after :after, expired ones included.
-- mode: read
SELECT id FROM skill WHERE namespace = :namespace AND id > :after ORDER BY id LIMIT :size;

-- name: tags_of
-- The tags of the skills in a JSON list of ids.
-- mode: read
SELECT skill_id, tag FROM tag WHERE namespace = :namespace AND skill_id IN (SELECT value FROM json_each(:ids));

-- name: edge_texts
-- The edges that start at the skills in a JSON list of ids, with their metadata.
-- mode: read
SELECT source, relation, target, metadata FROM edge
WHERE namespace = :namespace AND source IN (SELECT value FROM json_each(:ids));

-- name: empty_edge
-- Takes the metadata off an edge.
-- mode: write
UPDATE edge SET metadata = '{}'
WHERE namespace = :namespace AND source = :source AND relation = :relation AND target = :target;

-- name: schema_objects
-- What the file holds of tables, indexes and triggers.
-- mode: read
SELECT name FROM sqlite_master;

-- name: file_faults
-- What SQLite itself finds wrong with the file; "ok" if nothing.
-- mode: read
PRAGMA integrity_check(100);

-- name: rebuild_indexes
-- Makes every index anew from its table.
-- mode: write
REINDEX;

-- name: check_expiry
-- The expiry is no point in time of the years 1 to 9999, so the skill neither lives nor is swept.
-- mode: read
SELECT id, coalesce(expires_at, '') FROM skill
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids))
AND (typeof(expires_at) NOT IN ('integer', 'null')
    OR expires_at >= 253402300800000000 OR expires_at < -62135596800000000);

-- name: mend_expiry
-- Takes the expiry off: the skill lives until another one is saved.
-- mode: write
UPDATE skill SET expires_at = NULL, changed = (SELECT version FROM namespace WHERE name = :namespace)
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: check_recall
-- What recall scores of a skill is missing.
-- mode: read
SELECT s.id, 'no row' FROM skill AS s LEFT JOIN recall AS r ON r.number = s.number
WHERE s.namespace = :namespace AND s.id IN (SELECT value FROM json_each(:ids)) AND r.number IS NULL;

-- name: check_transfers
-- The transfers that are kept are not the latest by number, up to the count of them.
-- mode: read
SELECT id, kept || ' since it was written, of ' || expected FROM (
    SELECT s.id, count(t.place) AS kept, coalesce(min(t.place), 0) AS first, coalesce(max(t.place), 0) AS last,
        s.transfer_count AS total, min(:history, s.transfer_count - coalesce(CASE WHEN json_valid(b.document)
        THEN json_extract(b.document, '$.transfer_count') END, s.transfer_count)) AS expected
    FROM skill AS s JOIN body AS b ON b.number = s.number LEFT JOIN transfer AS t ON t.number = s.number
    WHERE s.namespace = :namespace AND s.id IN (SELECT value FROM json_each(:ids)) GROUP BY s.number
) WHERE kept <> expected OR (kept > 0 AND (last <> total OR first <> total - kept + 1));

-- name: check_changed
-- The version of the skill's last change is missing or still to come, so readers miss it.
-- mode: read
SELECT s.id, 'changed at ' || s.changed FROM skill AS s LEFT JOIN namespace AS n ON n.name = s.namespace
WHERE s.namespace = :namespace AND s.id IN (SELECT value FROM json_each(:ids))
AND (typeof(s.changed) <> 'integer' OR s.changed < 1 OR s.changed > coalesce(n.version, 0));

-- name: mend_changed
-- Notes a change of the skill now; every reader begins anew.
-- mode: write
UPDATE skill SET changed = (SELECT version FROM namespace WHERE name = :namespace)
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: begin_anew
-- Raises the version above every one that was given, and lets every reader begin anew.
-- mode: write
UPDATE namespace SET version = latest + 1, complete_since = latest + 1 FROM (
    SELECT max(n.version,
        coalesce((SELECT max(changed) FROM skill WHERE namespace = :namespace AND typeof(changed) = 'integer'), 0),
        coalesce((SELECT max(version) FROM deletion WHERE namespace = :namespace AND typeof(version) = 'integer'), 0)
    ) AS latest FROM namespace AS n WHERE n.name = :namespace
) WHERE name = :namespace;

-- name: check_edges
-- An edge leads from a skill to itself.
-- mode: read
SELECT source, relation FROM edge
WHERE namespace = :namespace AND source IN (SELECT value FROM json_each(:ids)) AND source = target;

-- name: mend_edges
-- Removes the edge.
-- mode: write
DELETE FROM edge WHERE namespace = :namespace AND source IN (SELECT value FROM json_each(:ids)) AND source = target;

-- name: check_orphan_edges
-- An edge has an end that is no skill of the namespace.
-- mode: read
SELECT e.source, e.relation || ' ' || e.target FROM edge AS e WHERE e.namespace = :namespace
AND NOT (EXISTS (SELECT 1 FROM skill AS s WHERE s.namespace = e.namespace AND s.id = e.source)
    AND EXISTS (SELECT 1 FROM skill AS s WHERE s.namespace = e.namespace AND s.id = e.target)) LIMIT :size;

-- name: mend_orphan_edges
-- Removes the edge.
-- mode: write
DELETE FROM edge AS e WHERE e.namespace = :namespace AND e.source IN (SELECT value FROM json_each(:ids))
AND NOT (EXISTS (SELECT 1 FROM skill AS s WHERE s.namespace = e.namespace AND s.id = e.source)
    AND EXISTS (SELECT 1 FROM skill AS s WHERE s.namespace = e.namespace AND s.id = e.target));

-- name: check_orphan_names
-- A tag or a trace belongs to no skill.
-- mode: read
SELECT skill_id, kind FROM (
    SELECT skill_id, 'tag' AS kind FROM tag WHERE namespace = :namespace
    UNION ALL SELECT skill_id, 'trace' FROM trace WHERE namespace = :namespace
) AS x WHERE NOT EXISTS (SELECT 1 FROM skill AS s WHERE s.namespace = :namespace AND s.id = x.skill_id) LIMIT :size;

-- name: mend_orphan_names
-- Removes it.
-- mode: write
DELETE FROM tag WHERE namespace = :namespace AND skill_id IN (SELECT value FROM json_each(:ids))
AND NOT EXISTS (SELECT 1 FROM skill AS s WHERE s.namespace = :namespace AND s.id = skill_id);

-- name: also_mend_orphan_names
-- Removes traces that belong to no skill.
-- mode: write
DELETE FROM trace WHERE namespace = :namespace AND skill_id IN (SELECT value FROM json_each(:ids))
AND NOT EXISTS (SELECT 1 FROM skill AS s WHERE s.namespace = :namespace AND s.id = skill_id);

-- name: check_orphan_rows
-- A document, what recall scores or a transfer belongs to no skill of the file.
-- mode: read
SELECT number, kind FROM (
    SELECT number, 'document' AS kind FROM body UNION ALL SELECT number, 'recall' FROM recall
    UNION ALL SELECT DISTINCT number, 'transfer' FROM transfer
) AS x WHERE NOT EXISTS (SELECT 1 FROM skill AS s WHERE s.number = x.number) LIMIT :size;

-- name: mend_orphan_rows
-- Removes it.
-- mode: write
DELETE FROM body WHERE number IN (SELECT CAST(value AS INTEGER) FROM json_each(:ids))
AND NOT EXISTS (SELECT 1 FROM skill AS s WHERE s.number = body.number);

-- name: also_mend_orphan_rows
-- Removes what recall scores of no skill.
-- mode: write
DELETE FROM recall WHERE number IN (SELECT CAST(value AS INTEGER) FROM json_each(:ids))
AND NOT EXISTS (SELECT 1 FROM skill AS s WHERE s.number = recall.number);

-- name: then_mend_orphan_rows
-- Removes transfers of no skill.
-- mode: write
DELETE FROM transfer WHERE number IN (SELECT CAST(value AS INTEGER) FROM json_each(:ids))
AND NOT EXISTS (SELECT 1 FROM skill AS s WHERE s.number = transfer.number);

-- name: check_outbox
-- Something waits for a mirror that is not noted, or has a number that is still to come.
-- mode: read
SELECT o.skill_id, 'number ' || o.number FROM outbox AS o LEFT JOIN namespace AS n ON n.name = o.namespace
WHERE o.namespace = :namespace AND (n.mirror IS NULL OR o.number > n.noted) LIMIT :size;

-- name: mend_outbox
-- Removes what waits for no mirror, and counts on behind the highest number.
-- mode: write
DELETE FROM outbox WHERE namespace = :namespace AND skill_id IN (SELECT value FROM json_each(:ids))
AND (SELECT mirror FROM namespace WHERE name = :namespace) IS NULL;

-- name: also_mend_outbox
-- Counts on behind the highest number in the outbox.
-- mode: write
UPDATE namespace SET noted = max(noted, coalesce((SELECT max(number) FROM outbox WHERE namespace = :namespace), 0))
WHERE name = :namespace;

-- name: check_deletions
-- The deletions that are remembered do not fit the versions: readers may have missed one.
-- mode: read
SELECT d.skill_id, 'at version ' || d.version FROM deletion AS d LEFT JOIN namespace AS n ON n.name = d.namespace
WHERE d.namespace = :namespace AND (typeof(d.version) <> 'integer' OR d.version > coalesce(n.version, 0)
    OR d.version <= coalesce(n.complete_since, 0)
    OR EXISTS (SELECT 1 FROM skill AS s WHERE s.namespace = d.namespace AND s.changed = d.version)
    OR EXISTS (SELECT 1 FROM deletion AS e
        WHERE e.namespace = d.namespace AND e.version = d.version AND e.skill_id <> d.skill_id))
UNION ALL
SELECT 'complete_since', complete_since FROM namespace
WHERE name = :namespace AND NOT (complete_since BETWEEN 0 AND version) LIMIT :size;

-- name: mend_deletions
-- Forgets all deletions; every reader begins anew.
-- mode: write
DELETE FROM deletion WHERE namespace = :namespace;

-- name: check_counters
-- A counter of the namespace is not what a full count gives.
-- mode: read
WITH skills AS (
    SELECT count(*) AS stored, coalesce(sum(transferable), 0) AS transferable,
        coalesce(sum(transfer_count), 0) AS transfers, coalesce(sum(confidence_units), 0) AS confidence
    FROM skill WHERE namespace = :namespace
), gone AS (SELECT count(*) AS deletions FROM deletion WHERE namespace = :namespace),
counter (name, kept, counted, known) AS (
    SELECT 'stored', n.stored, skills.stored, n.name FROM skills LEFT JOIN namespace AS n ON n.name = :namespace
    UNION ALL SELECT 'transferable', n.transferable, skills.transferable, n.name
        FROM skills LEFT JOIN namespace AS n ON n.name = :namespace
    UNION ALL SELECT 'transfers', n.transfers, skills.transfers, n.name
        FROM skills LEFT JOIN namespace AS n ON n.name = :namespace
    UNION ALL SELECT 'confidence', n.confidence, skills.confidence, n.name
        FROM skills LEFT JOIN namespace AS n ON n.name = :namespace
    UNION ALL SELECT 'deletions', n.deletions, gone.deletions, n.name
        FROM gone LEFT JOIN namespace AS n ON n.name = :namespace
    UNION ALL SELECT 'store_id', n.store_id, coalesce(n.store_id, ''), n.name
        FROM namespace AS n WHERE n.name = :namespace
)
SELECT name, coalesce(kept, 'nothing') || ' instead of ' || counted FROM counter
WHERE kept IS NOT counted AND (known IS NOT NULL OR counted > 0);

-- name: mend_counters
-- Counts everything anew.
-- mode: write
UPDATE namespace SET
    stored = (SELECT count(*) FROM skill AS s WHERE s.namespace = name),
    transferable = (SELECT coalesce(sum(s.transferable), 0) FROM skill AS s WHERE s.namespace = name),
    transfers = (SELECT coalesce(sum(s.transfer_count), 0) FROM skill AS s WHERE s.namespace = name),
    confidence = (SELECT coalesce(sum(s.confidence_units), 0) FROM skill AS s WHERE s.namespace = name),
    deletions = (SELECT count(*) FROM deletion AS d WHERE d.namespace = name),
    store_id = coalesce(store_id, lower(hex(randomblob(16))))
WHERE name = :namespace;
