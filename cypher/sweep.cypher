// Forgetting: what has expired goes, in batches; its cost follows what expired, not what is stored.

// name: expired_ids
// Ids of some skills that have expired, the longest expired first.
// mode: read
// try: :param namespace => "default"; :param now => datetime(); :param size => 1000;
MATCH (s:Skill) USING INDEX s:Skill(namespace, expires_at)
WHERE s.namespace = $namespace AND s.expires_at <= $now
RETURN s.id AS id ORDER BY s.namespace, s.expires_at LIMIT $size;

// name: claim_sweep
// Notes the time of a lazy sweep, if the last one is not later than $before (or in the future, by a clock that was
// wrong); gives a row if so.
// mode: write
// try: :param namespace => "default"; :param now => datetime(); :param before => datetime() - duration("PT1H");
MATCH (n:Namespace {name: $namespace})
WHERE coalesce(n.swept_at, $before) <= $before OR n.swept_at > $now
SET n.swept_at = $now
RETURN n.swept_at AS swept_at;
