-- Holds a lease for at least so long from now on, if it is still the caller's.
--
-- KEYS  value, lease
-- ARGV  1 token, 2 life in ms
--
-- Returns 1 if the lease was the caller's, else 0.
--
-- Atomic, as the lease could end between the look at the token and the prolonging, and be somebody else's.

local held = redis.pcall('HMGET', KEYS[2], 'token', 'life')
if held.err or held[1] ~= ARGV[1] then
    return 0
end
local left = redis.call('PTTL', KEYS[2])
-- A holder who asks for less keeps what it has, unless the clock was set back.
if left < tonumber(ARGV[2]) or left > (tonumber(held[2]) or left) then
    redis.call('HSET', KEYS[2], 'life', ARGV[2])
    redis.call('PEXPIRE', KEYS[2], ARGV[2])
end
return 1
