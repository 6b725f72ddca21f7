"""What does OrKa itself write? Documents, index and sets, without a word to the companion."""

import json


class Orka:
    """Writes as OrKa does: documents, index and sets, and no companion."""

    def __init__(self, spot):
        self._client, self._keys = spot.client, spot.keys

    def save(self, skill_id, fields, ttl=None):
        fields = {"id": skill_id, **fields}
        self._client.set(self._keys.document(skill_id), json.dumps(fields))
        if ttl:
            self._client.expire(self._keys.document(skill_id), ttl)
        self._client.hset(self._keys.index, skill_id, fields["name"])
        for tag in fields.get("tags") or ():
            self._client.sadd(self._keys.tag(tag), skill_id)

    def change(self, skill_id, **fields):
        self.save(skill_id, {**json.loads(self._client.get(self._keys.document(skill_id))), **fields})

    def delete(self, skill_id):
        self._client.delete(self._keys.document(skill_id))
        self._client.hdel(self._keys.index, skill_id)
