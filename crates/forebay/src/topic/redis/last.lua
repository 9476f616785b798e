-- Comes before what asks for the latest message of a topic. The name is that of the stream at KEYS[1].

local stream = KEYS[1]

-- The id of the latest message; 0-0 where there was none yet, nothing where there is no stream.
local function last()
    local newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
    if newest then
        return newest[1]
    end
    if redis.call('EXISTS', stream) == 0 then
        return nil
    end
    local about = redis.call('XINFO', 'STREAM', stream)
    for i = 1, #about, 2 do
        if about[i] == 'last-generated-id' then
            return about[i + 1]
        end
    end
end
