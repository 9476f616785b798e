-- Puts a bitmap that was filled in the place of the one in use. Comes after reign.lua.
--
-- KEYS  the pointer, the new bitmap, the old one if there is one
-- ARGV  1 the pointer as the caller knows it, 2 the new one, 3 bits, 4 the reign in which the bitmap was begun, 5 the
--       life in ms
--
-- Returns {the pointer} if it is another, 1 if it is done, 0 if the bitmap may lack something.
--
-- Atomic, as whoever adds an id in between would add it to one of the two only.

local pointer = redis.call('GET', KEYS[1]) or ''
if pointer == ARGV[2] then
    return 1
end
if pointer ~= ARGV[1] then
    return { pointer }
end
local whole = redis.call('STRLEN', KEYS[2]) == math.ceil(tonumber(ARGV[3]) / 8)
if not whole or reign() ~= ARGV[4] then
    return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
if KEYS[3] then
    redis.call('UNLINK', KEYS[3])
end
return 1
