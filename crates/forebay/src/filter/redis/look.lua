-- Tells how a filter stands. Comes after reign.lua.
--
-- KEYS  the pointer, then the bitmap in use and the one to come; another key stands for one that is not there
-- ARGV  1 the pointer as the caller knows it, 2 bits of the bitmap in use, 0 without one, 3 the reign in which it was
--       made, 4 how many bytes are looked at, 5 whether one is to come
--
-- Returns {the pointer} if it is another, else whether a "no" is believed, whether a rebuild is under way, and how many
-- bits of the bytes are set. With the pointer alone nothing.
--
-- Atomic, as the bitmaps may be others a moment later.

local pointer = redis.call('GET', KEYS[1]) or ''
if pointer ~= ARGV[1] then
    return { pointer }
end
if not KEYS[2] then
    return ''
end
local bits, believed, set, comes = tonumber(ARGV[2]), 0, 0, 0
if bits > 0 and redis.call('STRLEN', KEYS[2]) == math.ceil(bits / 8) then
    believed = reign() == ARGV[3] and 1 or 0
    set = redis.call('BITCOUNT', KEYS[2], 0, tonumber(ARGV[4]) - 1)
end
if ARGV[5] == '1' then
    comes = redis.call('EXISTS', KEYS[3])
end
return { believed, comes, set }
