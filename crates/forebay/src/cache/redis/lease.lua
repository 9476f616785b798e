-- Answers an entry that the caller can use, or who else loads, or grants the lease.
--
-- KEYS  value, lease
-- ARGV  1 token
--       2 life of the lease in ms
--       3 what the caller cannot use whatever its age: '' nothing, '*' everything, else the 8 bytes of an entry id
--       4 the 8 bytes of the id of the entry that the caller wants to replace, or ''
--       5 '1' if the caller hears wakes
--       6 remaining fresh life of that entry in ms, at or below which the caller wants to load; any other is a later one
--
-- Returns {'entry', ms, bytes}, {'busy', ms}, {'failed', ms}, {'unshared', ms}
--         or {'granted', 1 if the entry of 4 is still stored, else 0}.
--
-- Atomic, as between the look at the entry and the grant somebody else could fill or take the lease.

local MAGIC, VERSIONS = '\251by', '[\1\2]'

local function readable(head)
    return type(head) == 'string' and #head == 30 and head:sub(1, 3) == MAGIC and head:sub(4, 4):find(VERSIONS)
end

local value, lease = KEYS[1], KEYS[2]
local token, life, reject, stale, listening = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'

local head = redis.pcall('GETRANGE', value, 0, 29)
local id = ''
if readable(head) then
    id = head:sub(7, 14)
    local left = redis.call('PTTL', value)
    local stale_for = struct.unpack('>I8', head, 23)
    local ahead = id == stale and tonumber(ARGV[6]) or 0
    if left - stale_for > ahead and reject ~= '*' and reject ~= id then
        return { 'entry', left, redis.call('GET', value) }
    end
end

local held = redis.pcall('HMGET', lease, 'token', 'note', 'life')
local left = redis.call('PTTL', lease)
local most = not held.err and tonumber(held[3]) or left
-- The clock was set back: for as long as that, nobody would load.
if left > most then
    redis.call('PEXPIRE', lease, most)
    left = most
end
if left > 0 and not held.err then
    if held[1] then
        if listening then
            redis.call('HSET', lease, 'waited', '1')
        end
        return { 'busy', left }
    end
    if held[2] and reject ~= '*' then
        return { held[2], left }
    end
end

redis.call('DEL', lease)
if listening then
    redis.call('HSET', lease, 'token', token, 'life', life, 'waited', '1')
else
    redis.call('HSET', lease, 'token', token, 'life', life)
end
redis.call('PEXPIRE', lease, life)
return { 'granted', (stale ~= '' and stale == id) and 1 or 0 }
