-- Holds a lease for at least so long from now on, if it is still the caller's.
--
-- KEYS  value, lease
-- ARGV  1 token, 2 life in ms
--
-- Returns 1 if the lease was the caller's, else 0.
--
-- Atomic, as the lease could end between the look at the token and the prolonging, and be somebody else's.

local holder = redis.pcall('HGET', KEYS[2], 'token')
if holder ~= ARGV[1] then
    return 0
end
-- A holder who asks for less keeps what it has.
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[2], ARGV[2])
end
return 1
