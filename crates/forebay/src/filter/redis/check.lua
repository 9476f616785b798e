-- Looks whether ids are in the filter. Comes after reign.lua.
--
-- KEYS  the pointer, the bitmap in use if there is one
-- ARGV  1 the pointer as the caller knows it, 2 the ids in 12 bytes each, 3 bits, 4 hashes, 5 the reign in which the
--       bitmap was made, 6 the life in ms from now on, or 0 for what it has
--
-- Returns {the pointer} if it is another, else a byte for each id: 1 if it may be there, 0 if it is not, 2 if it seems
-- not to be, but something was lost. Without a bitmap nothing.
--
-- Atomic, as a bitmap that is not in use any more lacks what was added since, and as the data may have become that of
-- another server.

local pointer = redis.call('GET', KEYS[1]) or ''
if pointer ~= ARGV[1] then
    return { pointer }
end
if not KEYS[2] then
    return ''
end
local bitmap = KEYS[2]
local bits, hashes = tonumber(ARGV[3]), tonumber(ARGV[4])

local function contains(x, y)
    for i = 1, hashes do
        if redis.call('GETBIT', bitmap, x) == 0 then
            return false
        end
        x = (x + y) % bits
        y = (y + i) % bits
    end
    return true
end

local answers, no = {}, nil
for at = 1, #ARGV[2], 12 do
    local x, y = struct.unpack('>I6I6', ARGV[2], at)
    if contains(x % bits, y % bits) then
        answers[#answers + 1] = '1'
    else
        if not no then
            local whole = redis.call('STRLEN', bitmap) == math.ceil(bits / 8)
            no = whole and reign() == ARGV[5] and '0' or '2'
        end
        answers[#answers + 1] = no
    end
end
if ARGV[6] ~= '0' then
    redis.call('PEXPIRE', KEYS[1], ARGV[6])
    redis.call('PEXPIRE', bitmap, ARGV[6])
end
return table.concat(answers)
