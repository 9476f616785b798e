-- Frees a name for the one who has claimed it.
--
-- KEYS  the claim
-- ARGV  1 token of the caller
--
-- Returns 1; 0 if the claim is not the caller's.
--
-- Atomic, as the claim could end, and be another's, between the look and the removal.

local claim = KEYS[1]
if redis.pcall('GET', claim) == ARGV[1] then
    return redis.call('DEL', claim)
end
return 0
