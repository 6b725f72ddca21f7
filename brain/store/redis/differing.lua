-- Which documents are not those that their notes saw?
-- KEYS: notes. ARGV: how the documents' keys begin, ids.
local found = {}
for i = 2, #ARGV do
  local document, digest = redis.pcall('GET', ARGV[1] .. ARGV[i]), nil
  if type(document) == 'table' then
    digest = string.rep('!', 40)
  elseif document then
    digest = redis.sha1hex(document)
  else
    digest = string.rep('-', 40)
  end
  local note = redis.call('HGET', KEYS[1], ARGV[i])
  if not note or string.sub(note, 1, 40) ~= digest then found[#found + 1] = ARGV[i] end
end
return found
