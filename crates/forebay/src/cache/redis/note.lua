-- Leaves a note in the place of a lease, if that is still the caller's, and wakes whoever waits for it.
--
-- KEYS  value, lease
-- ARGV  1 token, 2 life of the note in ms, 3 'failed' or 'unshared', 4 channel of wakes
--
-- Returns 1 if the lease was the caller's, else 0; the error of the HSET if that was refused.
--
-- Atomic, as a note over somebody else's lease would hand that out twice.

local held = redis.pcall('HMGET', KEYS[2], 'token', 'waited')
if held.err or held[1] ~= ARGV[1] then
    return 0
end
if ARGV[3] == 'unshared' then
    redis.call('DEL', KEYS[1])
end
redis.call('DEL', KEYS[2])
local noted = redis.pcall('HSET', KEYS[2], 'note', ARGV[3], 'life', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
if held[2] then
    redis.call('PUBLISH', ARGV[4], KEYS[2])
end
return type(noted) == 'table' and noted or 1
