-- Keeps what a caller that ran has brought, unless somebody else has run since, or it has brought something before.
--
-- KEYS  the record
-- ARGV  1 token of the caller
--       2 stage: 'd', or 'o' without the bytes
--       3 bytes
--       4 life of the record in ms where it has none
--       5 fingerprint, if the record is to be made anew where the server has lost it; else ''
--
-- Returns 1, also where the same is kept already; 2 if the caller has brought something else before, which stays; 0 if
--         somebody else has run, or nobody knows.
--
-- Atomic, as somebody else could begin between the look and the write. Comes after record.lua.

local caller, as, bytes, life, lost = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if not value and lost ~= '' then
    redis.call('SET', key, VERSION .. as .. lost .. caller .. bytes, 'PX', life)
    return 1
end
if owner ~= caller or not stage then
    return 0
end
if not running then
    return (stage == as and rest == bytes) and 1 or 2
end
local left = redis.call('PTTL', key)
if left > 0 then
    life = string.format('%.0f', left)
end
redis.call('SET', key, VERSION .. as .. print .. owner .. bytes, 'PX', life)
return 1
