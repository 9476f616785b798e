-- Lets the lease of a caller that runs begin anew, also after its end unless somebody else has run since.
--
-- KEYS  the record
-- ARGV  1 token of the caller
--       2 life of the lease in ms
--       3 life of the record in ms where it has none
--
-- Returns the life in ms that the lease has now; 0 if the caller does not run.
--
-- Atomic, as somebody else could begin between the look and the write. Comes after record.lua.

if not running or owner ~= ARGV[1] then
    return 0
end
local left = redis.call('PTTL', key)
if left < 0 then
    left = tonumber(ARGV[3])
end
left = math.max(left, 1)
local life = math.min(tonumber(ARGV[2]), left)
local record = VERSION .. stage .. print .. owner .. string.format('%.0f', now + life)
redis.call('SET', key, record, 'PX', string.format('%.0f', left))
return life
