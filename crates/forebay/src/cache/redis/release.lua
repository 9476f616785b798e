-- Ends a lease that is still the caller's, and wakes whoever waits for it.
--
-- KEYS  value, lease
-- ARGV  1 token, 2 'discard' to remove what is stored as well, or 'keep', 3 channel of wakes
--
-- Returns 1 if the lease was the caller's, else 0.
--
-- Atomic, as the lease could end between the look at the token and the delete, and be somebody else's.

local held = redis.pcall('HMGET', KEYS[2], 'token', 'waited')
if held.err or held[1] ~= ARGV[1] then
    return 0
end
if ARGV[2] == 'discard' then
    redis.call('DEL', KEYS[1])
end
redis.call('DEL', KEYS[2])
if held[2] then
    redis.call('PUBLISH', ARGV[3], KEYS[2])
end
return 1
