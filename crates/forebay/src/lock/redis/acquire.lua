-- Takes a lock that nobody holds, with a fence above all before.
--
-- KEYS  lock, fence
-- ARGV  1 token
--       2 life of the lock in ms
--       3 life of the fence in ms
--       4 '1' if the caller hears wakes, and will wait
--
-- Returns the fence, or the ms that somebody else's lock has left; -1 if what is there does not end.
--
-- Atomic, as between the grant and the fence somebody else could be given a later one.

local lock, fence = KEYS[1], KEYS[2]
local token, life, kept, waits = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'

local time = redis.call('TIME')
-- Microseconds since 1970, put together as text: formatting a number costs as much as a command.
local new = time[1] .. ('00000' .. time[2]):sub(-6)
if redis.call('SET', lock, token .. ' ' .. new, 'NX', 'PX', life) then
    local last = redis.pcall('SET', fence, new, 'PX', kept, 'GET')
    if last then
        local before = type(last) == 'string' and tonumber(last) or 0
        -- The clock was set back; a number that a float cannot count on from was not written here.
        local is_behind = before >= tonumber(new) and before < 9007199254740991
        if is_behind then
            new = string.format('%.0f', before + 1)
            redis.call('SET', lock, token .. ' ' .. new, 'PX', life)
        end
        if is_behind or (type(last) == 'table' and last.err:find('WRONGTYPE')) then
            redis.call('SET', fence, new, 'PX', kept)
        end
    end
    return new
end

local held = redis.pcall('GET', lock)
-- The holder asks again, as it may where an answer was lost.
local own = type(held) == 'string' and held:match('^' .. token .. ' (%d+)')
local left = redis.call('PTTL', lock)
if own then
    -- Whoever counts on a longer life keeps it.
    if left < tonumber(life) then
        redis.call('PEXPIRE', lock, life)
    end
    return own
end
if waits and left > 0 and type(held) == 'string' and held:sub(-2) ~= ' w' then
    redis.call('SET', lock, held .. ' w', 'KEEPTTL')
end
return left
