-- Raises the number of a tag, or of a whole space, above all that the space has had, and tells all processes: entries
-- whose loads began before have not reached it. Comes after space.
--
-- KEYS  the numbers of the space, then that of the tag if it is one
-- ARGV  1 life of the numbers in ms, 2 the highest number that the caller has seen, 3 the least that this one is to be,
--       4 channel of invalidations, 5 message without its last word
--
-- Returns the number.
--
-- Atomic, as a load that begins between two steps would have a number that is too high or too low.

local life, seen, least = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now, clear = space_numbers(seen)
local number = math.max((now or seen) + 1, micros(), least)

-- Before all else: who may not publish raises nothing.
redis.call('PUBLISH', ARGV[4], ARGV[5] .. ' ' .. spelled(number))
-- Where the numbers were lost, nobody knows what else had been raised.
set_space(number, KEYS[2] and clear or number, life)
if KEYS[2] then
    local left = redis.call('PTTL', KEYS[2])
    redis.call('SET', KEYS[2], spelled(number), 'PX', spelled(math.max(left, life)))
end
return spelled(number)
