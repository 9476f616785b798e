-- Takes a lock that nobody holds, with a fence above all before.
--
-- KEYS  lock, fence
-- ARGV  1 token
--       2 life of the lock in ms
--       3 life of the fence in ms
--       4 '1' if the caller hears wakes, and will wait
--
-- Returns {1, fence} or {0, ms that the lock has left}.
--
-- Atomic, as between the look at the lock and the grant somebody else could take it, or its fence.

local lock, fence = KEYS[1], KEYS[2]
local token, life, kept, waits = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'

local held = redis.pcall('GET', lock)
if held then
    -- The holder asks again, as it may where an answer was lost.
    local own = type(held) == 'string' and held:match('^' .. token .. ' (%d+)')
    if own then
        redis.call('PEXPIRE', lock, life)
        return { 1, own }
    end
    local left = redis.call('PTTL', lock)
    if waits and left > 0 and type(held) == 'string' and held:sub(-2) ~= ' w' then
        redis.call('SET', lock, held .. ' w', 'KEEPTTL')
    end
    return { 0, left }
end

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last = redis.pcall('GET', fence)
last = type(last) == 'string' and tonumber(last) or 0
-- A number that a float cannot count on from was not written here.
if last ~= last or last < 0 or last >= 9007199254740991 then
    last = 0
end
local new = string.format('%.0f', math.max(now, last + 1))
redis.call('SET', fence, new, 'PX', kept)
redis.call('SET', lock, token .. ' ' .. new, 'PX', life)
return { 1, new }
