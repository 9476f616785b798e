-- Holds a lock for at least so long from now on, if it is still the caller's.
--
-- KEYS  lock
-- ARGV  1 token, 2 life in ms
--
-- Returns 1 if the lock was the caller's, else 0.
--
-- Atomic, as the lock could end between the look at the token and the prolonging, and be somebody else's.

local held = redis.pcall('GET', KEYS[1])
if type(held) ~= 'string' or held:sub(1, 33) ~= ARGV[1] .. ' ' then
    return 0
end
-- Whoever counts on a longer life keeps it.
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
