-- Removes what a rebuild has begun, if that is still so.
--
-- KEYS  the pointer, the bitmap
-- ARGV  1 the token of the rebuild, as the pointer begins to name its bitmap
--
-- Returns 1 if it was removed, else 0.
--
-- Atomic, as by now another rebuild may have begun, or this bitmap be the one in use.

local pointer = redis.call('GET', KEYS[1]) or ''
local kept = pointer:match('^1|[^|]*|') or ''
if kept == '' or pointer:sub(#kept + 1, #kept + #ARGV[1]) ~= ARGV[1] then
    return 0
end
redis.call('UNLINK', KEYS[2])
if kept == '1||' then
    redis.call('DEL', KEYS[1])
else
    redis.call('SET', KEYS[1], kept, 'PX', math.max(redis.call('PTTL', KEYS[1]), 1))
end
return 1
