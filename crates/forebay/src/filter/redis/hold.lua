-- Holds a bitmap that is being filled for so long from now on.
--
-- KEYS  the pointer, the bitmap
-- ARGV  1 the pointer as the caller knows it, 2 the life in ms
--
-- Returns {the pointer} if it is another, else whether the bitmap was still there.
--
-- Atomic, as the bitmap of another rebuild may lie there by now.

local pointer = redis.call('GET', KEYS[1]) or ''
if pointer ~= ARGV[1] then
    return { pointer }
end
return redis.call('PEXPIRE', KEYS[2], ARGV[2])
