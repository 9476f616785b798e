-- Counts the visitors of some days, each once.
--
-- KEYS  the days
--
-- Returns {the server's time in ms, how many}.
--
-- Atomic, as what is no count is cleared away first.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local count = redis.pcall('PFCOUNT', unpack(KEYS))
if type(count) == 'table' and (count.err:find('WRONGTYPE') or count.err:find('INVALIDOBJ')) then
    for i = 1, #KEYS do
        -- Twice, as the registers of a single one are not looked at.
        local one = redis.pcall('PFCOUNT', KEYS[i], KEYS[i])
        if type(one) == 'table' and (one.err:find('WRONGTYPE') or one.err:find('INVALIDOBJ')) then
            redis.call('DEL', KEYS[i])
        end
    end
    count = redis.pcall('PFCOUNT', unpack(KEYS))
end
if type(count) == 'table' then
    return count
end
return { now, count }
