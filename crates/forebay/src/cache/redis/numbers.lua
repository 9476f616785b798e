-- Answers the numbers of a space and of some of its tags. For a load, it gives the space numbers if there are none:
-- whatever was stored before has none to reach. For a fill, it gives the tags theirs too. Comes after space.
--
-- KEYS  the numbers of the space, then that of each tag
-- ARGV  1 'look', 'load' or 'fill', 2 life of the numbers in ms, 3 the highest number that the caller has seen
--
-- Returns {now, clear, number of each tag}, with nil for what is not there.
--
-- Atomic, as what is answered for a load or a fill must be of one moment: a tag raised after that is to be higher.

local purpose, life, seen = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now, clear = space_numbers(seen)

if purpose ~= 'look' then
    if not now then
        now = math.max(micros(), seen + 1)
        clear = now
        set_space(now, clear, life)
    else
        keep(1, life)
    end
end

local answer = { now and spelled(now) or false, clear and spelled(clear) or false }
for i = 2, #KEYS do
    local number = tag_number(i)
    if purpose == 'fill' then
        if number then
            keep(i, life)
        else
            number = now
            redis.call('SET', KEYS[i], spelled(number), 'PX', spelled(life))
        end
    end
    answer[i + 1] = number and spelled(number) or false
end
return answer
