// Makes the names of what stands on a skill beside its nodes known, as V002 did: `body` is its steps, conditions and tags
// as one text, `applied` how many applications are kept as nodes. Skills that have neither are read by their nodes until
// they are written again.
CREATE (s:Skill {namespace: "", id: "", body: "", applied: 0})
DELETE s;
