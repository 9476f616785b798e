-- Begins a new bitmap, empty, to which everything that is added from now on is added too. Comes after reign.lua.
--
-- KEYS  the pointer, the new bitmap, that of another rebuild if there is one
-- ARGV  1 the pointer as the caller knows it, 2 the new one without the reign at its end, 3 bits, 4 the life of the
--       pointer in ms, 5 that of the bitmap
--
-- Returns {the pointer} if it is another, the remaining life in ms of the bitmap of another rebuild, or the new pointer;
-- nothing where the server does not say whether it has lost something.
--
-- Atomic, as of two rebuilds that begin at once one is to be refused.

local pointer = redis.call('GET', KEYS[1]) or ''
if pointer ~= ARGV[1] then
    return { pointer }
end
if KEYS[3] then
    local left = redis.call('PTTL', KEYS[3])
    if left > 0 then
        return left
    end
end
local present = reign()
if present == '' then
    return ''
end

redis.call('DEL', KEYS[2])
redis.call('SETBIT', KEYS[2], tonumber(ARGV[3]) - 1, 0)
redis.call('PEXPIRE', KEYS[2], ARGV[5])
pointer = ARGV[2] .. present
redis.call('SET', KEYS[1], pointer, 'PX', ARGV[4])
return pointer
