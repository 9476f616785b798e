-- Counts visitors of one day.
--
-- KEYS  the day
-- ARGV  1 when the day begins, in ms since 1970
--       2 when it ends
--       3 until when it is kept
--       4 for how long the first of the visitors has waited, in ms
--       5 for how long the last has
--       6.. the visitors
--
-- Returns {the server's time in ms, 1 if they are counted, 0 if they came on another day or one that is not kept}.
--
-- Atomic, as between the look at the clock and the counting the day could end, and the key with it.

-- For so long they may have been on their way.
local SLACK = 5000

local day, begins, ends, kept = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local first, last = tonumber(ARGV[4]), tonumber(ARGV[5])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now - first < begins - SLACK or now - last >= ends + SLACK or now >= kept then
    return { now, 0 }
end

local added = redis.pcall('PFADD', day, unpack(ARGV, 6))
if type(added) == 'table' and (added.err:find('WRONGTYPE') or added.err:find('INVALIDOBJ')) then
    redis.call('DEL', day)
    added = redis.pcall('PFADD', day, unpack(ARGV, 6))
end
if type(added) == 'table' then
    return added
end
redis.call('PEXPIREAT', day, ARGV[3])
return { now, 1 }
