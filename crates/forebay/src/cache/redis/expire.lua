-- Leaves what is stored under an id its stale life only and ends its lease, in every version that may be
-- running, and tells all processes. What is stale already keeps what is left of that.
--
-- KEYS  value, lease; first of the caller's version, then of its neighbours
-- ARGV  1 channel of invalidations, 2 message, 3 channel of wakes
--
-- Returns 1.
--
-- Atomic, as a fill between the look at an entry and its new life would get that life.

local MAGIC, VERSIONS = '\251by', '[\1\2]'

local function stale_life(head)
    local readable = type(head) == 'string' and #head == 30 and head:sub(1, 3) == MAGIC and head:sub(4, 4):find(VERSIONS)
    return readable and struct.unpack('>I8', head, 23) or 0
end

for i = 1, #KEYS, 2 do
    local waited = redis.pcall('HGET', KEYS[i + 1], 'waited')
    redis.call('DEL', KEYS[i + 1])
    if waited == '1' then
        redis.call('PUBLISH', ARGV[3], KEYS[i + 1])
    end
    local stale_for = stale_life(redis.pcall('GETRANGE', KEYS[i], 0, 29))
    local left = redis.call('PTTL', KEYS[i])
    if stale_for == 0 then
        redis.call('DEL', KEYS[i])
    elseif left > stale_for or left == -1 then
        redis.call('PEXPIRE', KEYS[i], string.format('%.0f', stale_for))
    end
end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
