-- Takes a lock away from whoever holds it, and wakes whoever waits for it.
--
-- KEYS  lock
-- ARGV  1 channel of wakes
--
-- Returns 1 if somebody held it, 0 if nobody did; -1 if what is there is no lock.
--
-- Atomic, as something else could come to lie there between the look and the delete.

local held = redis.pcall('GET', KEYS[1])
if not held then
    return 0
end
if type(held) ~= 'string' or held:sub(33, 33) ~= ' ' or redis.call('PTTL', KEYS[1]) < 0 then
    return -1
end
redis.call('DEL', KEYS[1])
if held:sub(-2) == ' w' then
    redis.call('PUBLISH', ARGV[1], KEYS[1])
end
return 1
