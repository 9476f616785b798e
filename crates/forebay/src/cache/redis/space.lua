-- Part of the scripts on the numbers of a space. KEYS[1] is the hash that has them: `now`, which is above all others
-- but may be equal, and `clear`, which all entries of the space have to reach. Numbers are only ever raised.

local function spelled(number)
    return string.format('%.0f', number)
end

local function micros()
    local time = redis.call('TIME')
    return time[1] * 1000000 + time[2]
end

-- Numbers that are lower than what somebody has seen are of another past, and as good as none.
local function space_numbers(seen)
    local held = redis.pcall('HMGET', KEYS[1], 'now', 'clear')
    local now, clear = tonumber(held[1]), tonumber(held[2])
    if now and clear and now >= seen then
        return now, clear
    end
end

-- Half of a life is as long as an entry can live, and what is left of that is not touched.
local function keep(i, life)
    if redis.call('PTTL', KEYS[i]) * 2 < life then
        redis.call('PEXPIRE', KEYS[i], spelled(life))
    end
end

local function set_space(now, clear, life)
    local set = redis.pcall('HSET', KEYS[1], 'now', spelled(now), 'clear', spelled(clear))
    if type(set) == 'table' then
        redis.call('DEL', KEYS[1])
        redis.call('HSET', KEYS[1], 'now', spelled(now), 'clear', spelled(clear))
    end
    keep(1, life)
end

local function tag_number(i)
    local number = redis.pcall('GET', KEYS[i])
    return type(number) == 'string' and tonumber(number) or nil
end
