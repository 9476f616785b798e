-- Settles one delivery of a message. Comes after letters.
--
-- KEYS  stream, dead letters
-- ARGV  1 group
--       2 consumer
--       3 id
--       4 how often it was delivered
--       5 'done', 'failed', 'renewed' or 'unseen'
--       6 for how long it counts as delivered already, in ms
--       7 how often a message is delivered
--       8 why it failed
--       9 how many dead letters are kept
--       10 for how long messages are kept, in ms
--       11 the channel of the topic
--
-- Returns 1; 2 if it was put aside; 3 if it failed and is no longer kept; 0 if it was not this delivery that the group
-- waits for.
--
-- Atomic, as between the look and what follows the message could be delivered to somebody else.

local group, consumer, id, attempts = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local verdict, idle, limit, reason = ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8]
local dead_most, kept, channel = ARGV[9], ARGV[10], ARGV[11]

if verdict == 'done' then
    return redis.call('XACK', stream, group, id)
end

local states = redis.pcall('XPENDING', stream, group, id, id, 1)
local state = not states.err and states[1]
if not state or state[2] ~= consumer or state[4] ~= attempts then
    return 0
end
if verdict == 'failed' then
    local message = message_of(id)
    if not message then
        redis.call('XACK', stream, group, id)
        return 3
    end
    if attempts >= limit then
        bury(group, id, message, attempts, reason, dead_most, kept)
        return 2
    end
end
local delivered = verdict == 'unseen' and attempts - 1 or attempts
redis.call('XCLAIM', stream, group, consumer, 0, id, 'IDLE', idle, 'RETRYCOUNT', delivered, 'JUSTID')
if verdict == 'unseen' then
    redis.call('PUBLISH', channel, id)
end
return 1
