-- Forgets that a caller has begun, as it has done nothing. Where it was not the first to run, it ends its lease.
--
-- KEYS  the record
-- ARGV  1 token of the caller
--
-- Returns 1; 0 if the caller does not run.
--
-- Atomic, as somebody else could begin between the look and the write. Comes after record.lua.

if not running or owner ~= ARGV[1] then
    return 0
end
local left = redis.call('PTTL', key)
if stage == 'r' or left <= 0 then
    redis.call('DEL', key)
else
    redis.call('SET', key, VERSION .. stage .. print .. owner .. '0', 'PX', string.format('%.0f', left))
end
return 1
