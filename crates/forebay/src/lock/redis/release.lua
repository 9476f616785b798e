-- Frees a lock that is still the caller's, and wakes whoever waits for it.
--
-- KEYS  lock
-- ARGV  1 token, 2 channel of wakes
--
-- Returns 1 if the lock was the caller's, else 0.
--
-- Atomic, as the lock could end between the look at the token and the delete, and be somebody else's.

local held = redis.pcall('GET', KEYS[1])
if type(held) ~= 'string' or held:sub(1, 33) ~= ARGV[1] .. ' ' then
    return 0
end
redis.call('DEL', KEYS[1])
if held:sub(-2) == ' w' then
    redis.call('PUBLISH', ARGV[2], KEYS[1])
end
return 1
