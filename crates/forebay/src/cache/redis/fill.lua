-- Stores an entry if the lease is still the caller's, and ends the lease.
--
-- KEYS  value, lease
-- ARGV  1 token, 2 life of the entry in ms, 3 the entry, 4 channel of wakes
--
-- Returns 1 if the lease was the caller's, else 0; the error of the SET if that was refused.
--
-- Atomic, as an invalidate between the look at the token and the write would be undone by it.

local held = redis.pcall('HMGET', KEYS[2], 'token', 'waited')
if held.err or held[1] ~= ARGV[1] then
    return 0
end
local stored = redis.pcall('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
if held[2] then
    redis.call('PUBLISH', ARGV[4], KEYS[2])
end
-- Out of memory, for one: the lease has ended all the same, and the others go on.
return stored.err and stored or 1
