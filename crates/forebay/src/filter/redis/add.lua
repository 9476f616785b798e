-- Adds ids to the filter, or to what is to become it.
--
-- KEYS  the pointer, every bitmap that is meant
-- ARGV  1 the pointer as the caller knows it, 2 the ids in 12 bytes each, 3 the life in ms of the pointer and the first
--       bitmap from now on, or 0 for what they have, then for each bitmap its bits and its hashes
--
-- Returns {the pointer} if it is another, else to how many bitmaps the ids were added: one that has ended stays away,
-- as anew it would lack everything else.
--
-- Atomic, as between two bitmaps the one that was left out could come into use.

local pointer = redis.call('GET', KEYS[1]) or ''
if pointer ~= ARGV[1] then
    return { pointer }
end

local added = 0
for n = 2, #KEYS do
    local bits, hashes = tonumber(ARGV[2 * n]), tonumber(ARGV[2 * n + 1])
    if redis.call('STRLEN', KEYS[n]) == math.ceil(bits / 8) then
        for at = 1, #ARGV[2], 12 do
            local x, y = struct.unpack('>I6I6', ARGV[2], at)
            x, y = x % bits, y % bits
            for i = 1, hashes do
                redis.call('SETBIT', KEYS[n], x, 1)
                x = (x + y) % bits
                y = (y + i) % bits
            end
        end
        added = added + 1
    end
end
if ARGV[3] ~= '0' then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    redis.call('PEXPIRE', KEYS[2], ARGV[3])
end
return added
