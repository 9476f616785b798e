-- Comes before what delivers messages of the stream at KEYS[1], or puts them aside in the one at KEYS[2].

local stream, dead = KEYS[1], KEYS[2]

-- What a message says; nothing where it is no longer kept, and false where it was not written by a topic.
local function message_of(id)
    local entry = redis.call('XRANGE', stream, id, id)[1]
    if not entry then
        return nil
    end
    return entry[2][1] == 'm' and entry[2][2]
end

-- Puts a message aside for as long as messages are kept. It is no longer pending then.
local function bury(group, id, message, attempts, reason, most, kept)
    redis.call('XADD', dead, 'MAXLEN', '~', most, '*',
        'id', id, 'm', message or '', 'attempts', attempts, 'reason', reason)
    redis.call('PEXPIRE', dead, kept)
    redis.call('XACK', stream, group, id)
end
