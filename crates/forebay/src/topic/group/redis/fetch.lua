-- Delivers messages of a topic to a consumer of a group: first those that it was given under its name before, then those
-- that others have had for too long, then new ones. Comes after letters.
--
-- KEYS  stream, dead letters
-- ARGV  1 group
--       2 consumer
--       3 how many messages at most
--       4 for how long others have a message, in ms
--       5 how often a message is delivered
--       6 behind which id to look for those that it was given before; nothing once all were looked at
--       7 from which id on to look for those of others
--       8 where a new group begins: 0 or $
--       9 how many dead letters are kept
--       10 for how long messages are kept, in ms
--       11 '1' if those that it was given before count as delivered once more
--
-- Returns {where to look on for those that it was given before, and for those of others (0-0 once all were looked at),
-- how many messages were no longer kept, how many were put aside, then for each message its id, what it says and how
-- often it was delivered}.
--
-- Atomic, as a message that is put aside and not acknowledged would be put aside again, and a consumer that is removed
-- takes what it was given in between with it.

local group, consumer, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
local visibility, limit = tonumber(ARGV[4]), tonumber(ARGV[5])
local own, claim, begins = ARGV[6], ARGV[7], ARGV[8]
local dead_most, kept, counts = ARGV[9], ARGV[10], ARGV[11] == '1'

-- A window is ten times as many entries as are claimed.
local WINDOWS = 20
-- A consumer that has nothing and was not heard of for so long is gone.
local GONE = 3600000

local answer, count, lost, buried = { '', '', 0, 0 }, 0, 0, 0

local function table_of(pairs_of)
    local named = {}
    for i = 1, #pairs_of, 2 do
        named[pairs_of[i]] = pairs_of[i + 1]
    end
    return named
end

local function find_group()
    if redis.call('EXISTS', stream) == 0 then
        return nil
    end
    for _, about in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
        local known = table_of(about)
        if known.name == group then
            return known
        end
    end
end

local function give(id, message, attempts)
    count = count + 1
    answer[#answer + 1] = id
    answer[#answer + 1] = message
    answer[#answer + 1] = attempts
end

-- Delivers a message that was delivered before, which counts or does not.
local function again(id, once_more)
    local state = redis.call('XPENDING', stream, group, id, id, 1)[1]
    if not state then
        return
    end
    local message, attempts = message_of(id), state[4]
    if message == nil then
        redis.call('XACK', stream, group, id)
        lost = lost + 1
    elseif not message or attempts + once_more > limit then
        local reason = message and 'nobody has acknowledged it' or 'it was not written by a topic'
        bury(group, id, message, attempts, reason, dead_most, kept)
        buried = buried + 1
    else
        attempts = attempts + once_more
        redis.call('XCLAIM', stream, group, consumer, 0, id, 'RETRYCOUNT', attempts, 'JUSTID')
        give(id, message, attempts)
    end
end

local known = find_group()
if not known then
    redis.call('XGROUP', 'CREATE', stream, group, begins, 'MKSTREAM')
    if redis.call('PTTL', stream) < 0 then
        redis.call('PEXPIRE', stream, kept)
    end
    known = { pending = 0, ['last-delivered-id'] = '0-0' }
end

if own == '0-0' then
    for _, about in ipairs(redis.call('XINFO', 'CONSUMERS', stream, group)) do
        local other = table_of(about)
        if other.name ~= consumer and other.pending == 0 and other.idle > GONE + visibility then
            redis.call('XGROUP', 'DELCONSUMER', stream, group, other.name)
        end
    end
end

if own ~= '' then
    local had = redis.call('XPENDING', stream, group, '(' .. own, '+', most, consumer)
    for _, state in ipairs(had) do
        own = state[1]
        again(own, counts and 1 or 0)
    end
    if #had < most then
        own = ''
    end
end

local windows = known.pending > 0 and WINDOWS or 0
while own == '' and count < most and windows > 0 do
    local found = redis.call('XAUTOCLAIM', stream, group, consumer, visibility, claim,
        'COUNT', most - count, 'JUSTID')
    claim, windows = found[1], windows - 1
    for _, id in ipairs(found[2]) do
        again(id, 1)
    end
    -- The server has acknowledged those itself, since 7.0.
    lost = lost + (found[3] and #found[3] or 0)
    if claim == '0-0' then
        break
    end
end

local new = nil
if own == '' and count < most then
    new = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', most - count, 'STREAMS', stream, '>')
end
if new then
    local entries = new[1][2]
    local last, first = known['last-delivered-id']:match('-(%d+)$'), entries[1][1]:match('-(%d+)$')
    if tonumber(last) > 0 then
        lost = lost + math.max(tonumber(first) - tonumber(last) - 1, 0)
    end
    for _, entry in ipairs(entries) do
        if entry[2][1] == 'm' then
            give(entry[1], entry[2][2], 1)
        else
            bury(group, entry[1], nil, 1, 'it was not written by a topic', dead_most, kept)
            buried = buried + 1
        end
    end
end

answer[1], answer[2], answer[3], answer[4] = own, claim, lost, buried
return answer
