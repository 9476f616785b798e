-- The first part of every script on logs: the newest member, and the key's own time.
--
-- KEYS  the subject's key
--
-- A log is a sorted set with a member for every unit that was taken: its number in sixteen digits and the server's time
-- in fifteen, by the key's own time. The newest member carries the clock: a key's own time goes on as the server's clock
-- has since then, but never back, so that a clock that steps back frees nothing and freezes nobody.

local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function text(number)
    return string.format('%.0f', number)
end

local function name(number, stamp)
    return string.format('%016.0f:%015.0f', number, stamp)
end

local newest, readable = redis.pcall('ZREVRANGE', key, 0, 0, 'WITHSCORES'), 1
-- Begins elsewhere after a reset, so that no member of a reservation is taken for one that came later.
local number, last, written = time[2] * 10000, now, 0
if newest.err or newest[1] then
    local digits, stamp = tostring(newest[1]):match('^(%d+):(%d+)$')
    if digits and #digits == 16 and #stamp == 15 then
        number, last, written = tonumber(digits), tonumber(stamp), tonumber(newest[2])
    else
        newest, readable = {}, 0
    end
end
local age = written + math.max(0, now - last)

-- How much a window of `length` has got, and where it begins.
local function used(length)
    local beginning = '(' .. text(age - length)
    return newest[1] and redis.call('ZCOUNT', key, beginning, '+inf') or 0, beginning
end

-- Hands the members to `act` in such parts as Lua can pass.
local function in_parts(members, act)
    local done = 0
    for first = 1, #members, 1000 do
        done = done + act(unpack(members, first, math.min(first + 999, #members)))
    end
    return done
end

-- Takes a cost, in the place of what could not be read.
local function add(cost)
    local members = {}
    if readable == 0 then
        redis.call('DEL', key)
    end
    for n = 1, cost do
        members[2 * n - 1], members[2 * n] = text(age), name(number + n, now)
    end
    in_parts(members, function(...)
        return redis.call('ZADD', key, ...)
    end)
end
