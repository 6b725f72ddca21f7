-- Every statement of the SQLite store. Times are microseconds since 1970, UTC; an expiry of NULL is never.

-- name: add_namespace
-- Makes the namespace's row if it is missing.
-- mode: write
INSERT INTO namespace (name) VALUES (:namespace) ON CONFLICT DO NOTHING;

-- name: raise_version
-- Raises the namespace's version by one and returns it; takes the write lock.
-- mode: write
UPDATE namespace SET version = version + 1 WHERE name = :namespace RETURNING version;

-- name: namespace_state
-- Version, the version since which deletions are known one by one, and the embedding stamp.
-- mode: read
SELECT version, complete_since, embedding FROM namespace WHERE name = :namespace;

-- name: note_sweep
-- Notes the time of a lazy sweep, if the last one is not later than :before.
-- mode: write
UPDATE namespace SET swept_at = :now WHERE name = :namespace AND (coalesce(swept_at, :before) <= :before OR swept_at > :now) RETURNING swept_at;

-- name: set_embedding
-- Replaces the embedding stamp, if it still is :replaces.
-- mode: write
UPDATE namespace SET embedding = :stamp WHERE name = :namespace AND embedding IS :replaces;

-- name: put_skill
-- Writes a skill, new or in place of the stored one. A dedup key is kept only if it still fits, and a vector that is not
-- given only if the text is the same.
-- mode: write
INSERT INTO skill (namespace, id, skill_type, confidence, usage_count, transfer_count, transfer_successes, document,
    version, shape, fingerprint, profile, vector, dedup_key, expires_at, changed)
VALUES (:namespace, :id, :skill_type, :confidence, :usage_count, :transfer_count, :transfer_successes, :document,
    :version, :shape, :fingerprint, :profile, :vector, :dedup_key, :expires_at, :changed)
ON CONFLICT (namespace, id) DO UPDATE SET
    skill_type = excluded.skill_type, confidence = excluded.confidence, usage_count = excluded.usage_count,
    transfer_count = excluded.transfer_count, transfer_successes = excluded.transfer_successes,
    document = excluded.document, version = excluded.version, shape = excluded.shape,
    fingerprint = excluded.fingerprint, profile = excluded.profile,
    vector = CASE WHEN excluded.vector IS NULL AND skill.profile = excluded.profile THEN skill.vector
        ELSE excluded.vector END,
    dedup_key = CASE WHEN skill.dedup_key = :fitting_key THEN skill.dedup_key END,
    expires_at = excluded.expires_at, changed = excluded.changed;

-- name: update_use
-- Writes a skill after a use; what recall reads of its text stays.
-- mode: write
UPDATE skill SET confidence = :confidence, usage_count = :usage_count, transfer_count = :transfer_count,
    transfer_successes = :transfer_successes, document = :document, version = :version, expires_at = :expires_at,
    changed = :changed
WHERE namespace = :namespace AND id = :id;

-- name: put_shape
-- Makes a shape if it is missing.
-- mode: write
INSERT INTO shape (key, task_structures, cognitive_patterns, input_shape, output_shape)
VALUES (:key, :task_structures, :cognitive_patterns, :input_shape, :output_shape) ON CONFLICT DO NOTHING;

-- name: put_tag
-- Tags a skill.
-- mode: write
INSERT INTO tag (namespace, tag, skill_id) VALUES (:namespace, :tag, :id) ON CONFLICT DO NOTHING;

-- name: clear_tags
-- Takes all tags off a skill.
-- mode: write
DELETE FROM tag WHERE namespace = :namespace AND skill_id = :id;

-- name: put_trace
-- Notes what a skill was learned from.
-- mode: write
INSERT INTO trace (namespace, key, trace_id, content, domain, task, success, quality, seen_at, skill_id)
VALUES (:namespace, :key, :trace_id, :content, :domain, :task, :success, :quality, :seen_at, :id) ON CONFLICT DO NOTHING;

-- name: skill_of_trace
-- The live skill that a trace was learned as.
-- mode: read
SELECT s.document FROM trace AS t JOIN skill AS s ON s.namespace = t.namespace AND s.id = t.skill_id
WHERE t.namespace = :namespace AND t.key = :key AND (s.expires_at IS NULL OR s.expires_at > :now);

-- name: release_dedup_key
-- Takes the dedup key off an expired holder, so that a live twin can be learned.
-- mode: write
UPDATE skill SET dedup_key = NULL WHERE namespace = :namespace AND dedup_key = :dedup_key AND expires_at <= :now;

-- name: clear_dedup_key
-- Takes the dedup key off its holder.
-- mode: write
UPDATE skill SET dedup_key = NULL WHERE namespace = :namespace AND dedup_key = :dedup_key;

-- name: live_version
-- Version of a skill, if it is live.
-- mode: read
SELECT version FROM skill WHERE namespace = :namespace AND id = :id AND (expires_at IS NULL OR expires_at > :now);

-- name: skill_by_dedup_key
-- Id of the skill that holds a dedup key.
-- mode: read
SELECT id FROM skill WHERE namespace = :namespace AND dedup_key = :dedup_key;

-- name: skills_by_id
-- The live skills among the ids of a JSON list.
-- mode: read
SELECT id, document FROM skill
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids)) AND (expires_at IS NULL OR expires_at > :now);

-- name: page_of_skills
-- Live skills by id, after :after.
-- mode: read
SELECT id, document FROM skill
WHERE namespace = :namespace AND id > :after AND (expires_at IS NULL OR expires_at > :now) ORDER BY id LIMIT :size;

-- name: page_of_tagged_skills
-- Live skills with exactly this tag by id, after :after.
-- mode: read
SELECT s.id, s.document FROM tag AS t JOIN skill AS s ON s.namespace = t.namespace AND s.id = t.skill_id
WHERE t.namespace = :namespace AND t.tag = :tag AND t.skill_id > :after AND (s.expires_at IS NULL OR s.expires_at > :now)
ORDER BY t.skill_id LIMIT :size;

-- name: put_edge
-- Writes an edge, or its metadata if it is there.
-- mode: write
INSERT INTO edge (namespace, source, relation, target, metadata) VALUES (:namespace, :source, :relation, :target, :metadata)
ON CONFLICT DO UPDATE SET metadata = excluded.metadata;

-- name: edges_of
-- Edges from and to a live skill, the other end live too.
-- mode: read
SELECT e.source, e.relation, e.target, e.metadata FROM edge AS e
JOIN skill AS a ON a.namespace = e.namespace AND a.id = e.source
JOIN skill AS b ON b.namespace = e.namespace AND b.id = e.target
WHERE e.namespace = :namespace AND e.source = :id
AND (a.expires_at IS NULL OR a.expires_at > :now) AND (b.expires_at IS NULL OR b.expires_at > :now)
UNION
SELECT e.source, e.relation, e.target, e.metadata FROM edge AS e
JOIN skill AS a ON a.namespace = e.namespace AND a.id = e.source
JOIN skill AS b ON b.namespace = e.namespace AND b.id = e.target
WHERE e.namespace = :namespace AND e.target = :id
AND (a.expires_at IS NULL OR a.expires_at > :now) AND (b.expires_at IS NULL OR b.expires_at > :now)
ORDER BY relation, source, target;

-- name: neighbours
-- Live skills one edge away from those of a JSON list, in either direction.
-- mode: read
SELECT DISTINCT s.id FROM json_each(:ids) AS f
JOIN edge AS e ON e.namespace = :namespace AND e.source = f.value AND (:relation IS NULL OR e.relation = :relation)
JOIN skill AS s ON s.namespace = :namespace AND s.id = e.target
WHERE s.expires_at IS NULL OR s.expires_at > :now
UNION
SELECT DISTINCT s.id FROM json_each(:ids) AS f
JOIN edge AS e ON e.namespace = :namespace AND e.target = f.value AND (:relation IS NULL OR e.relation = :relation)
JOIN skill AS s ON s.namespace = :namespace AND s.id = e.source
WHERE s.expires_at IS NULL OR s.expires_at > :now;

-- name: changed_skills
-- What recall needs of the live skills written after a version.
-- mode: read
SELECT s.id, s.skill_type, h.task_structures, h.cognitive_patterns, h.input_shape, h.output_shape, s.confidence,
    s.usage_count, s.transfer_count, s.transfer_successes, s.expires_at, s.fingerprint, s.profile, s.vector
FROM skill AS s JOIN shape AS h ON h.key = s.shape
WHERE s.namespace = :namespace AND s.changed > :since AND (s.expires_at IS NULL OR s.expires_at > :now);

-- name: deletions_since
-- Ids of skills deleted after a version.
-- mode: read
SELECT skill_id FROM deletion WHERE namespace = :namespace AND version > :since;

-- name: note_deletion
-- Remembers that a skill was deleted.
-- mode: write
INSERT INTO deletion (namespace, version, skill_id) VALUES (:namespace, :version, :id);

-- name: trim_deletions
-- Forgets the oldest deletions, so that at most :kept are remembered; returns their versions.
-- mode: write
DELETE FROM deletion WHERE namespace = :namespace AND version <= (
    SELECT version FROM deletion WHERE namespace = :namespace ORDER BY version DESC LIMIT 1 OFFSET :kept
) RETURNING version;

-- name: set_complete_since
-- Notes from which version on all deletions are remembered.
-- mode: write
UPDATE namespace SET complete_since = :version WHERE name = :namespace;

-- name: expired_ids
-- Some skills that have expired.
-- mode: read
SELECT id FROM skill WHERE namespace = :namespace AND expires_at <= :now ORDER BY expires_at LIMIT :size;

-- name: delete_skill
-- Removes one skill.
-- mode: write
DELETE FROM skill WHERE namespace = :namespace AND id = :id;

-- name: delete_edges
-- Removes the edges of one skill in both directions.
-- mode: write
DELETE FROM edge WHERE namespace = :namespace AND (source = :id OR target = :id);

-- name: delete_traces
-- Removes the traces of one skill.
-- mode: write
DELETE FROM trace WHERE namespace = :namespace AND skill_id = :id;

-- name: count_skills
-- Skills stored, expired ones included.
-- mode: read
SELECT count(*) FROM skill WHERE namespace = :namespace;

-- name: summary
-- Counts and averages over the live skills.
-- mode: read
SELECT count(*), coalesce(sum(transfer_count >= 1 AND 2 * transfer_successes >= transfer_count), 0),
    coalesce(avg(confidence), 0.0), coalesce(sum(transfer_count), 0)
FROM skill WHERE namespace = :namespace AND (expires_at IS NULL OR expires_at > :now);

-- name: top_skills
-- The most used live skills.
-- mode: read
SELECT id, document FROM skill WHERE namespace = :namespace AND (expires_at IS NULL OR expires_at > :now)
ORDER BY usage_count DESC, confidence DESC, id LIMIT :size;

-- name: set_vector
-- Replaces the vector of a skill.
-- mode: write
UPDATE skill SET vector = :vector, changed = :changed WHERE namespace = :namespace AND id = :id;
