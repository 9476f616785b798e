-- Keeps a message, under a number that counts on from the one before. Comes after last.
--
-- KEYS  stream
-- ARGV  1 message
--       2 how many messages are kept
--       3 for how long, in ms
--       4 the channel of the topic
--
-- Returns the id.
--
-- Atomic, as between the look at the latest number and the next one somebody else could publish.

local message, most, kept, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ms, number = (last() or '0-0'):match('^(%d+)-(%d+)$')
-- The clock may have been set back.
ms = math.max(now, tonumber(ms))
local id = string.format('%.0f-%.0f', ms, tonumber(number) + 1)

redis.call('XADD', stream, 'MAXLEN', '~', most, id, 'm', message)
redis.call('XTRIM', stream, 'MINID', '~', string.format('%.0f-0', math.max(now - kept, 0)))
redis.call('PEXPIRE', stream, ARGV[3])
redis.call('PUBLISH', channel, id)
return id
