-- Reads some messages of a topic that follow each other. Comes after last.
--
-- KEYS  stream
-- ARGV  1 the id after which to read; nothing to read none
--       2 how many messages at most
--       3 after how many bytes no more are read
--
-- Returns {the id of the latest message, the remaining life of the stream in ms, then for each message its id and what
-- it says, nothing where it was not written by a topic}; nothing where there is no stream.
--
-- Atomic, as a message that is trimmed between the messages and the latest id would not be missed.

local from, most, bytes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local STEP = 8

local newest = last()
if not newest then
    return false
end
local answer = { newest, redis.call('PTTL', stream) }
local count, size = 0, 0
while from ~= '' and count < most and size < bytes do
    local some = redis.call('XRANGE', stream, '(' .. from, '+', 'COUNT', STEP)
    for _, entry in ipairs(some) do
        local fields = entry[2]
        local message = fields[1] == 'm' and fields[2] or false
        answer[#answer + 1] = entry[1]
        answer[#answer + 1] = message
        from, count, size = entry[1], count + 1, size + (message and #message or 0)
    end
    if #some < STEP then
        break
    end
end
return answer
