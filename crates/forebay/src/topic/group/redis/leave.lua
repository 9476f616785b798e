-- Hands over what a consumer was given, so that others are at once, and removes the consumer once that is all.
--
-- KEYS  stream
-- ARGV  1 group
--       2 consumer
--       3 the heir, whom there is not
--       4 after how long others get a message, in ms
--       5 the channel of the topic
--
-- Returns {1 if there is more to hand over, how many messages were no longer kept}.
--
-- Atomic, as a consumer that is removed takes with it what it was given in between.

local stream = KEYS[1]
local group, consumer, heir, visibility, channel = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local MOST = 500

local had = redis.pcall('XPENDING', stream, group, '-', '+', MOST, consumer)
if had.err then
    -- There is no such group.
    return had.err:find('NOGROUP') and { 0, 0 } or had
end
local lost = 0
for _, state in ipairs(had) do
    local id = state[1]
    if redis.call('XRANGE', stream, id, id)[1] then
        redis.call('XCLAIM', stream, group, heir, 0, id, 'IDLE', visibility, 'RETRYCOUNT', state[4], 'JUSTID')
    else
        redis.call('XACK', stream, group, id)
        lost = lost + 1
    end
end
if #had == MOST then
    return { 1, lost }
end
redis.call('XGROUP', 'DELCONSUMER', stream, group, consumer)
redis.call('PUBLISH', channel, '')
return { 0, lost }
