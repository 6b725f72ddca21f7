-- Every statement of the SQLite store. Times are microseconds since 1970, UTC; an expiry of NULL is never.
-- What belongs to a skill (body, recall, transfers, tags, traces, edges) goes with it by trigger, and so do the counters of
-- its namespace and the outbox: see migrations/sqlite. CROSS JOIN is a join in the order that is written.

-- name: add_namespace
-- Makes the namespace's row if it is missing.
-- mode: write
INSERT INTO namespace (name, store_id) VALUES (:namespace, :store_id) ON CONFLICT DO NOTHING;

-- name: raise_version
-- Raises the namespace's version by one and returns it; notes the time of this write for the outbox.
-- mode: write
UPDATE namespace SET version = version + 1, written_at = :now WHERE name = :namespace RETURNING version;

-- name: note_write
-- Notes the time of a write that recall does not read, for the outbox.
-- mode: write
UPDATE namespace SET written_at = :now WHERE name = :namespace RETURNING version;

-- name: namespace_state
-- Id of the stored namespace, its version, and the version since which deletions are known one by one.
-- mode: read
SELECT store_id, version, complete_since FROM namespace WHERE name = :namespace;

-- name: note_sweep
-- Notes the time of a lazy sweep, if the last one is not later than :before.
-- mode: write
UPDATE namespace SET swept_at = :now WHERE name = :namespace AND (coalesce(swept_at, :before) <= :before OR swept_at > :now) RETURNING swept_at;

-- name: embedding_stamp
-- Which vectors the namespace holds.
-- mode: read
SELECT embedding FROM namespace WHERE name = :namespace;

-- name: set_embedding
-- Replaces the embedding stamp, if it still is :replaces.
-- mode: write
UPDATE namespace SET embedding = :stamp WHERE name = :namespace AND embedding IS :replaces;

-- name: marks
-- The words that are remembered, between spaces.
-- mode: read
SELECT marks FROM namespace WHERE name = :namespace;

-- name: set_marks
-- Replaces the words that are remembered.
-- mode: write
UPDATE namespace SET marks = :marks WHERE name = :namespace;

-- name: count_skills
-- Skills stored, expired ones included.
-- mode: read
SELECT stored FROM namespace WHERE name = :namespace;

-- name: count_expiring
-- How many skills expire after :now and by :until.
-- mode: read
SELECT count(*) FROM skill WHERE namespace = :namespace AND expires_at > :now AND expires_at <= :until;

-- name: summary
-- Counts over the live skills: all, transferable ones, transfers, and the sum of confidences in 2^40ths.
-- mode: read
SELECT n.stored - count(s.number), n.transferable - coalesce(sum(s.transferable), 0),
    n.transfers - coalesce(sum(s.transfer_count), 0), n.confidence - coalesce(sum(s.confidence_units), 0)
FROM namespace AS n LEFT JOIN skill AS s ON s.namespace = n.name AND s.expires_at <= :now
WHERE n.name = :namespace GROUP BY n.name;

-- name: top_skills
-- Ids of the most used live skills.
-- mode: read
SELECT id FROM skill WHERE namespace = :namespace AND (expires_at IS NULL OR expires_at > :now)
ORDER BY usage_count DESC, confidence DESC, id LIMIT :size;

-- name: stored_skills
-- What is stored under the ids of a JSON list: number, version, whether it is live, expiry.
-- mode: read
SELECT id, number, version, expires_at IS NULL OR expires_at > :now, expires_at FROM skill
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids));

-- name: last_number
-- The highest number of a skill.
-- mode: read
SELECT coalesce(max(number), 0) FROM skill;

-- name: add_skill
-- Writes the columns of a new skill.
-- mode: write
INSERT INTO skill (number, namespace, id, skill_type, confidence, usage_count, transfer_count, transfer_successes, version,
    expires_at, changed, dedup_key, fingerprint, shape)
VALUES (:number, :namespace, :id, :skill_type, :confidence, :usage_count, :transfer_count, :transfer_successes, :version,
    :expires_at, :changed, :dedup_key, :fingerprint, :shape);

-- name: change_skill
-- Writes the columns of a stored skill anew. With a :fitting_key, its dedup key is kept only if it is that one.
-- mode: write
UPDATE skill SET skill_type = :skill_type, confidence = :confidence, usage_count = :usage_count, success_rate = NULL,
    transfer_count = :transfer_count, transfer_successes = :transfer_successes, version = :version,
    expires_at = :expires_at, updated_at = NULL, changed = :changed,
    dedup_key = CASE WHEN :fitting_key IS NULL THEN :dedup_key WHEN dedup_key = :fitting_key THEN dedup_key END,
    fingerprint = :fingerprint, shape = :shape
WHERE number = :number;

-- name: add_recall
-- Writes what recall scores of a new skill.
-- mode: write
INSERT INTO recall (number, terms, vector) VALUES (:number, :terms, :vector);

-- name: add_body
-- Writes document and profile of a new skill.
-- mode: write
INSERT INTO body (number, document, profile) VALUES (:number, :document, :profile);

-- name: put_recall
-- Writes what recall scores. A vector that is not given is kept if :keep says so and the text is the same.
-- mode: write
INSERT INTO recall (number, terms, vector) VALUES (:number, :terms, :vector)
ON CONFLICT (number) DO UPDATE SET terms = excluded.terms,
    vector = CASE WHEN excluded.vector IS NULL AND :keep
        AND (SELECT profile FROM body WHERE number = :number) = :profile THEN recall.vector ELSE excluded.vector END;

-- name: put_body
-- Writes document and profile.
-- mode: write
INSERT INTO body (number, document, profile) VALUES (:number, :document, :profile)
ON CONFLICT (number) DO UPDATE SET document = excluded.document, profile = excluded.profile;

-- name: put_tag
-- Tags a skill.
-- mode: write
INSERT INTO tag (namespace, tag, skill_id) VALUES (:namespace, :tag, :id) ON CONFLICT DO NOTHING;

-- name: clear_tags
-- Takes all tags off a skill.
-- mode: write
DELETE FROM tag WHERE namespace = :namespace AND skill_id = :id;

-- name: clear_transfers
-- Removes the applications of a skill that its document lacks.
-- mode: write
DELETE FROM transfer WHERE number = :number;

-- name: note_use
-- Writes what a use changes; what recall reads of the text stays.
-- mode: write
UPDATE skill SET confidence = :confidence, usage_count = :usage_count, success_rate = :success_rate,
    transfer_count = :transfer_count, transfer_successes = :transfer_successes, version = :version,
    expires_at = :expires_at, updated_at = :updated_at, changed = :changed
WHERE namespace = :namespace AND id = :id;

-- name: add_transfer
-- Appends one application to a skill; its place is the skill's count of them.
-- mode: write
INSERT INTO transfer (number, place, record)
SELECT number, transfer_count, :record FROM skill WHERE namespace = :namespace AND id = :id;

-- name: trim_transfers
-- Forgets the applications of a skill but for the latest :kept.
-- mode: write
DELETE FROM transfer WHERE number = (SELECT number FROM skill WHERE namespace = :namespace AND id = :id)
AND place <= :last - :kept;

-- name: skills_by_id
-- The live skills among the ids of a JSON list: the document as last written whole, and the columns.
-- mode: read
SELECT s.number, s.id, b.document, s.confidence, s.usage_count, s.success_rate, s.transfer_count, s.transfer_successes,
    s.version, s.expires_at, s.updated_at
FROM skill AS s LEFT JOIN body AS b ON b.number = s.number
WHERE s.namespace = :namespace AND s.id IN (SELECT value FROM json_each(:ids))
AND (s.expires_at IS NULL OR s.expires_at > :now);

-- name: transfers_of
-- The applications of some skills since their documents were written, in their order.
-- mode: read
SELECT number, record FROM transfer WHERE number IN (SELECT value FROM json_each(:numbers)) ORDER BY number, place;

-- name: page_of_skills
-- Ids of live skills in their order, after :after.
-- mode: read
SELECT id FROM skill
WHERE namespace = :namespace AND id > :after AND (expires_at IS NULL OR expires_at > :now) ORDER BY id LIMIT :size;

-- name: page_of_tagged_skills
-- Ids of live skills with exactly this tag in their order, after :after.
-- mode: read
SELECT t.skill_id FROM tag AS t CROSS JOIN skill AS s ON s.namespace = t.namespace AND s.id = t.skill_id
WHERE t.namespace = :namespace AND t.tag = :tag AND t.skill_id > :after AND (s.expires_at IS NULL OR s.expires_at > :now)
ORDER BY t.skill_id LIMIT :size;

-- name: page_of_rows
-- What a listing shows of live skills in the order of their ids, after :after; some of it as a JSON list.
-- mode: read
SELECT s.id, CASE WHEN json_valid(b.document) THEN json_extract(b.document, '$.name', '$.source_context.metadata.domain',
    '$.tags', '$.success_rate', '$.updated_at') END,
    s.confidence, s.usage_count, s.success_rate, s.transfer_count, s.transfer_successes, s.expires_at, s.updated_at
FROM skill AS s LEFT JOIN body AS b ON b.number = s.number
WHERE s.namespace = :namespace AND s.id > :after AND (s.expires_at IS NULL OR s.expires_at > :now)
ORDER BY s.id LIMIT :size;

-- name: rows_by_id
-- What a listing shows of the live skills among the ids of a JSON list.
-- mode: read
SELECT s.id, CASE WHEN json_valid(b.document) THEN json_extract(b.document, '$.name', '$.source_context.metadata.domain',
    '$.tags', '$.success_rate', '$.updated_at') END,
    s.confidence, s.usage_count, s.success_rate, s.transfer_count, s.transfer_successes, s.expires_at, s.updated_at
FROM skill AS s LEFT JOIN body AS b ON b.number = s.number
WHERE s.namespace = :namespace AND s.id IN (SELECT value FROM json_each(:ids))
AND (s.expires_at IS NULL OR s.expires_at > :now);

-- name: put_trace
-- Notes what a skill was learned from.
-- mode: write
INSERT INTO trace (namespace, key, trace_id, content, domain, task, success, quality, seen_at, skill_id)
VALUES (:namespace, :key, :trace_id, :content, :domain, :task, :success, :quality, :seen_at, :id) ON CONFLICT DO NOTHING;

-- name: clear_traces
-- Removes the traces of a skill.
-- mode: write
DELETE FROM trace WHERE namespace = :namespace AND skill_id = :id;

-- name: traces_of
-- The traces of the skills in a JSON list of ids, in the order they were seen.
-- mode: read
SELECT skill_id, key, trace_id, content, domain, task, success, quality, seen_at FROM trace
WHERE namespace = :namespace AND skill_id IN (SELECT value FROM json_each(:ids)) ORDER BY skill_id, seen_at, key;

-- name: latest_traces
-- The traces of a live skill, the latest first.
-- mode: read
SELECT t.key, t.trace_id, t.content, t.domain, t.task, t.success, t.quality, t.seen_at FROM skill AS s
CROSS JOIN trace AS t INDEXED BY trace_skill_lookup ON t.namespace = s.namespace AND t.skill_id = s.id
WHERE s.namespace = :namespace AND s.id = :id AND (s.expires_at IS NULL OR s.expires_at > :now)
ORDER BY t.seen_at DESC, t.key LIMIT :size;

-- name: skill_of_trace
-- Id of the live skill that a trace was learned as.
-- mode: read
SELECT s.id FROM trace AS t CROSS JOIN skill AS s ON s.namespace = t.namespace AND s.id = t.skill_id
WHERE t.namespace = :namespace AND t.key = :key AND (s.expires_at IS NULL OR s.expires_at > :now)
ORDER BY t.skill_id LIMIT 1;

-- name: release_dedup_key
-- Takes the dedup key off an expired holder, so that a live twin can be learned.
-- mode: write
UPDATE skill SET dedup_key = NULL WHERE namespace = :namespace AND dedup_key = :dedup_key AND expires_at <= :now;

-- name: clear_dedup_key
-- Takes the dedup key off its holder.
-- mode: write
UPDATE skill SET dedup_key = NULL WHERE namespace = :namespace AND dedup_key = :dedup_key;

-- name: skill_by_dedup_key
-- Id of the skill that holds a dedup key.
-- mode: read
SELECT id FROM skill WHERE namespace = :namespace AND dedup_key = :dedup_key;

-- name: give_up_dedup_keys
-- Takes the dedup keys of a JSON list off holders that have expired or are among the skills of another list.
-- mode: write
UPDATE skill SET dedup_key = NULL
WHERE namespace = :namespace AND dedup_key IN (SELECT value FROM json_each(:dedup_keys))
AND (expires_at <= :now OR id IN (SELECT value FROM json_each(:ids)));

-- name: held_dedup_keys
-- Which dedup keys of a JSON list are held.
-- mode: read
SELECT dedup_key FROM skill WHERE namespace = :namespace AND dedup_key IN (SELECT value FROM json_each(:dedup_keys));

-- name: put_edge
-- Writes an edge, or its metadata if it is there.
-- mode: write
INSERT INTO edge (namespace, source, relation, target, metadata) VALUES (:namespace, :source, :relation, :target, :metadata)
ON CONFLICT DO UPDATE SET metadata = excluded.metadata;

-- name: remove_edge
-- Removes an edge; returns where it began.
-- mode: write
DELETE FROM edge WHERE namespace = :namespace AND source = :source AND relation = :relation AND target = :target
RETURNING source;

-- name: edges_of
-- Edges from and to a live skill, the other end live too.
-- mode: read
SELECT e.source, e.relation, e.target, e.metadata FROM edge AS e
CROSS JOIN skill AS a ON a.namespace = e.namespace AND a.id = e.source
CROSS JOIN skill AS b ON b.namespace = e.namespace AND b.id = e.target
WHERE e.namespace = :namespace AND e.source = :id
AND (a.expires_at IS NULL OR a.expires_at > :now) AND (b.expires_at IS NULL OR b.expires_at > :now)
UNION
SELECT e.source, e.relation, e.target, e.metadata FROM edge AS e INDEXED BY edge_target_lookup
CROSS JOIN skill AS a ON a.namespace = e.namespace AND a.id = e.source
CROSS JOIN skill AS b ON b.namespace = e.namespace AND b.id = e.target
WHERE e.namespace = :namespace AND e.target = :id
AND (a.expires_at IS NULL OR a.expires_at > :now) AND (b.expires_at IS NULL OR b.expires_at > :now)
ORDER BY relation, source, target;

-- name: page_of_edges
-- Edges between live skills in the order of their ends, after one of them.
-- mode: read
SELECT e.source, e.relation, e.target, e.metadata FROM edge AS e
CROSS JOIN skill AS a ON a.namespace = e.namespace AND a.id = e.source
CROSS JOIN skill AS b ON b.namespace = e.namespace AND b.id = e.target
WHERE e.namespace = :namespace AND (e.source, e.relation, e.target) > (:source, :relation, :target)
AND (a.expires_at IS NULL OR a.expires_at > :now) AND (b.expires_at IS NULL OR b.expires_at > :now)
ORDER BY e.source, e.relation, e.target LIMIT :size;

-- name: neighbours
-- Live skills one edge away from those of a JSON list, in either direction.
-- mode: read
SELECT s.id FROM json_each(:ids) AS f
CROSS JOIN edge AS e ON e.namespace = :namespace AND e.source = f.value AND (:relation IS NULL OR e.relation = :relation)
CROSS JOIN skill AS s ON s.namespace = :namespace AND s.id = e.target
WHERE s.expires_at IS NULL OR s.expires_at > :now
UNION
SELECT s.id FROM json_each(:ids) AS f
CROSS JOIN edge AS e ON e.namespace = :namespace AND e.target = f.value AND (:relation IS NULL OR e.relation = :relation)
CROSS JOIN skill AS s ON s.namespace = :namespace AND s.id = e.source
WHERE s.expires_at IS NULL OR s.expires_at > :now;

-- name: page_of_entries
-- What recall needs of live skills in the order of their ids, after :after, but for vectors.
-- mode: read
SELECT s.id, s.skill_type, s.shape, s.confidence, s.transfer_count, s.transfer_successes, s.expires_at, s.fingerprint,
    r.terms, NULL
FROM skill AS s LEFT JOIN recall AS r ON r.number = s.number
WHERE s.namespace = :namespace AND s.id > :after AND (s.expires_at IS NULL OR s.expires_at > :now)
ORDER BY s.id LIMIT :size;

-- name: page_of_entries_with_vectors
-- What recall needs of live skills in the order of their ids, after :after.
-- mode: read
SELECT s.id, s.skill_type, s.shape, s.confidence, s.transfer_count, s.transfer_successes, s.expires_at, s.fingerprint,
    r.terms, r.vector
FROM skill AS s LEFT JOIN recall AS r ON r.number = s.number
WHERE s.namespace = :namespace AND s.id > :after AND (s.expires_at IS NULL OR s.expires_at > :now)
ORDER BY s.id LIMIT :size;

-- name: end_of_page
-- The version of the change that is :offset changes after the first one after :since.
-- mode: read
SELECT changed FROM skill WHERE namespace = :namespace AND changed > :since ORDER BY changed LIMIT 1 OFFSET :offset;

-- name: changed_skills
-- What recall needs of the live skills written after one version and up to another, oldest change first.
-- mode: read
SELECT s.id, s.skill_type, s.shape, s.confidence, s.transfer_count, s.transfer_successes, s.expires_at, s.fingerprint,
    r.terms, r.vector
FROM skill AS s LEFT JOIN recall AS r ON r.number = s.number
WHERE s.namespace = :namespace AND s.changed > :since AND s.changed <= :until
AND (s.expires_at IS NULL OR s.expires_at > :now) ORDER BY s.changed;

-- name: deletions_between
-- Ids of skills deleted after one version and up to another that were not written again.
-- mode: read
SELECT d.skill_id FROM deletion AS d WHERE d.namespace = :namespace AND d.version > :since AND d.version <= :until
AND NOT EXISTS (SELECT 1 FROM skill AS s WHERE s.namespace = :namespace AND s.id = d.skill_id) ORDER BY d.version;

-- name: expired_between
-- Ids of skills written after one version and up to another that have expired.
-- mode: read
SELECT id FROM skill INDEXED BY skill_changed_range
WHERE namespace = :namespace AND changed > :since AND changed <= :until AND expires_at <= :now ORDER BY changed;

-- name: profiles_by_id
-- The profiles of the live skills among the ids of a JSON list.
-- mode: read
SELECT s.id, b.profile FROM skill AS s JOIN body AS b ON b.number = s.number
WHERE s.namespace = :namespace AND s.id IN (SELECT value FROM json_each(:ids)) AND b.profile IS NOT NULL
AND (s.expires_at IS NULL OR s.expires_at > :now);

-- name: set_profile
-- Replaces the profile of a skill.
-- mode: write
UPDATE body SET profile = :profile WHERE number = :number;

-- name: set_terms
-- Replaces the terms of a skill.
-- mode: write
INSERT INTO recall (number, terms) VALUES (:number, :terms) ON CONFLICT (number) DO UPDATE SET terms = :terms;

-- name: set_vector
-- Replaces the vector of a skill.
-- mode: write
INSERT INTO recall (number, vector) VALUES (:number, :vector) ON CONFLICT (number) DO UPDATE SET vector = :vector;

-- name: note_change
-- Notes that recall reads something new of a skill.
-- mode: write
UPDATE skill SET changed = :changed WHERE number = :number;

-- name: kept_of
-- What is kept of the skills in a JSON list of ids beside their fields.
-- mode: read
SELECT s.id, b.profile, r.terms, s.dedup_key, r.vector FROM skill AS s
LEFT JOIN body AS b ON b.number = s.number LEFT JOIN recall AS r ON r.number = s.number
WHERE s.namespace = :namespace AND s.id IN (SELECT value FROM json_each(:ids));

-- name: note_deletion
-- Remembers that a skill was deleted.
-- mode: write
INSERT INTO deletion (namespace, version, skill_id) VALUES (:namespace, :version, :id);

-- name: count_deletions
-- How many deletions are remembered.
-- mode: read
SELECT deletions FROM namespace WHERE name = :namespace;

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

-- name: any_expired
-- Whether some skill has expired.
-- mode: read
SELECT 1 FROM skill WHERE namespace = :namespace AND expires_at <= :now LIMIT 1;

-- name: expired_numbers
-- Some skills that have expired, the longest expired first.
-- mode: read
SELECT number FROM skill WHERE namespace = :namespace AND expires_at <= :now ORDER BY expires_at LIMIT :size;

-- name: delete_bodies
-- Removes the documents of many skills at once, before the trigger looks for that of each.
-- mode: write
DELETE FROM body WHERE number IN (SELECT value FROM json_each(:numbers));

-- name: delete_recalls
-- Removes what recall reads of many skills, likewise.
-- mode: write
DELETE FROM recall WHERE number IN (SELECT value FROM json_each(:numbers));

-- name: delete_transfers
-- Removes the applications of many skills, likewise.
-- mode: write
DELETE FROM transfer WHERE number IN (SELECT value FROM json_each(:numbers));

-- name: delete_tags
-- Takes the tags off many skills, likewise.
-- mode: write
DELETE FROM tag WHERE namespace = :namespace AND skill_id IN (
    SELECT id FROM skill WHERE number IN (SELECT value FROM json_each(:numbers)));

-- name: delete_traces
-- Removes the traces of many skills, likewise.
-- mode: write
DELETE FROM trace WHERE namespace = :namespace AND skill_id IN (
    SELECT id FROM skill WHERE number IN (SELECT value FROM json_each(:numbers)));

-- name: delete_skills
-- Removes many skills, and by trigger all else that belongs to them.
-- mode: write
DELETE FROM skill WHERE number IN (SELECT value FROM json_each(:numbers));

-- name: mirror
-- The mirror that is noted.
-- mode: read
SELECT mirror FROM namespace WHERE name = :namespace;

-- name: set_mirror
-- Notes a mirror, or that there is none.
-- mode: write
UPDATE namespace SET mirror = :target, written_at = :now WHERE name = :namespace;

-- name: empty_outbox
-- Removes everything from the outbox.
-- mode: write
DELETE FROM outbox WHERE namespace = :namespace;

-- name: fill_outbox
-- Puts every stored skill into the empty outbox.
-- mode: write
INSERT INTO outbox (namespace, skill_id, number, noted_at)
SELECT s.namespace, s.id, n.noted + row_number() OVER (ORDER BY s.id), n.written_at
FROM namespace AS n JOIN skill AS s ON s.namespace = n.name WHERE n.name = :namespace;

-- name: count_filling
-- Goes on counting behind what filled the outbox.
-- mode: write
UPDATE namespace SET noted = noted + stored WHERE name = :namespace;

-- name: outbox
-- The oldest entries of the outbox.
-- mode: read
SELECT number, skill_id, noted_at FROM outbox WHERE namespace = :namespace ORDER BY number LIMIT :size;

-- name: delivered
-- Takes the entries up to a number out of the outbox.
-- mode: write
DELETE FROM outbox WHERE namespace = :namespace AND number <= :number;

-- name: waiting
-- How many entries are in the outbox, and the time of the oldest.
-- mode: read
SELECT count(*), min(noted_at) FROM outbox WHERE namespace = :namespace;
