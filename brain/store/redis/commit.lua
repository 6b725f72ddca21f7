-- Carries out a plan at once, if what it was made from is still there. Nothing is written otherwise.
-- KEYS: state, operations, receipts, deleted
-- ARGV: operation ('' for none), receipt, '1' to raise the version, an id for a new store, operations kept,
--       deletions kept, checks and commands (MessagePack: lists of lists of strings)
-- Answers {'done', skipped key, ...}, {'repeated', receipt}, {'lost', key}, {'no string', key} or {'forbidden', command}.
local state, operations, receipts, deleted = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local operation = ARGV[1]

if operation ~= '' then
  local receipt = redis.call('HGET', receipts, operation)
  if receipt then return {'repeated', receipt} end
end

local function digest_at(key)
  local document = redis.pcall('GET', key)
  if type(document) == 'table' then return string.rep('!', 40) end
  if not document then return string.rep('-', 40) end
  return redis.sha1hex(document)
end

for _, check in ipairs(cmsgpack.unpack(ARGV[7])) do
  local kind, key, field, wanted = check[1], check[2], check[3], check[4]
  local fits
  if kind == 'document' then
    fits = digest_at(key) == wanted
  elseif kind == 'field' then
    fits = (redis.call('HGET', key, field) or '') == wanted
  else
    fits = redis.call('EXISTS', key) == 1
  end
  if not fits then return {'lost', key} end
end

local kinds = {
  SET = 'string', DEL = 'string', HSET = 'hash', HDEL = 'hash', HINCRBY = 'hash', SADD = 'set', SREM = 'set',
  ZADD = 'zset', ZREM = 'zset', NOTE = 'zset', UNLINK_EDGE = 'set', UNLINK_EDGES = 'set',
}
local function holds(key, kind)
  local found = redis.call('TYPE', key)['ok']
  return found == 'none' or found == kind
end

local own_commands = {NOTE = {'ZADD', '1'}, UNLINK_EDGE = {'SREM'}, UNLINK_EDGES = {'SREM'}}
local function allowed(command) -- where the server can tell; what it refuses halfway would stay half done
  if not redis.acl_check_cmd then return true end
  local own = own_commands[command[1]]
  if not own then return redis.acl_check_cmd(unpack(command)) end
  return redis.acl_check_cmd(own[1], command[2], own[2] or command[3], command[3])
end

local commands, skipped = cmsgpack.unpack(ARGV[8]), {}
for i, command in ipairs(commands) do
  if not allowed(command) then return {'forbidden', command[1]} end
  if not holds(command[2], kinds[command[1]]) then
    if kinds[command[1]] == 'string' then return {'no string', command[2]} end
    skipped[i] = command[2]
  end
end

-- A member of a set of edges that leads to `target`, by `relation` if one is given.
local function leads_to(member, target, spelled, relation)
  if not (string.find(member, spelled, 1, true) or string.find(member, target, 1, true)) then return false end
  local read, edge = pcall(cjson.decode, member)
  return read and type(edge) == 'table' and edge['target'] == target and (not relation or edge['relation'] == relation)
end

local function unlink(key, target, spelled, relation)
  if not holds(key, 'set') then return end
  for _, member in ipairs(redis.call('SMEMBERS', key)) do
    if leads_to(member, target, spelled, relation) then redis.call('SREM', key, member) end
  end
end

-- What makes room comes first and is allowed without memory; what needs it is refused before anything is written.
local makes_room = {HDEL = true, SREM = true, ZREM = true, DEL = true, UNLINK_EDGE = true, UNLINK_EDGES = true}
local version
local function begin()
  if version then return end
  if redis.call('HSETNX', state, 'store_id', ARGV[4]) == 1 then redis.call('HSET', state, 'version', '0') end
  version = redis.call('HGET', state, 'version') or '0'
  if ARGV[3] == '1' then version = tostring(redis.call('HINCRBY', state, 'version', 1)) end
end
for _, command in ipairs(commands) do
  if command[1] == 'SET' then begin() end
end

local own = {}
function own.NOTE(key, member) redis.call('ZADD', key, version, member) end
function own.UNLINK_EDGE(key, target, spelled, relation) unlink(key, target, spelled, relation) end
function own.UNLINK_EDGES(key, prefix, id, spelled)
  for _, member in ipairs(redis.call('SMEMBERS', key)) do
    local read, edge = pcall(cjson.decode, member)
    if read and type(edge) == 'table' and type(edge['target']) == 'string' and edge['target'] ~= id then
      unlink(prefix .. edge['target'], id, spelled)
    end
  end
  redis.call('DEL', key)
end

local answer = {'done'}
for i, command in ipairs(commands) do
  if not makes_room[command[1]] then begin() end
  if skipped[i] then
    answer[#answer + 1] = skipped[i]
  elseif own[command[1]] then
    own[command[1]](unpack(command, 2))
  else
    redis.call(unpack(command))
  end
end

begin()

local forgotten = redis.call('ZCARD', deleted) - tonumber(ARGV[6])
if forgotten > 0 then
  local last = redis.call('ZRANGE', deleted, forgotten - 1, forgotten - 1, 'WITHSCORES')[2]
  redis.call('ZREMRANGEBYRANK', deleted, 0, forgotten - 1)
  redis.call('HSET', state, 'complete_since', last)
end

if operation ~= '' then
  redis.call('HSET', receipts, operation, ARGV[2])
  redis.call('RPUSH', operations, operation)
  while redis.call('LLEN', operations) > tonumber(ARGV[5]) do
    redis.call('HDEL', receipts, redis.call('LPOP', operations))
  end
end
return answer
