-- Answers all that there is about an id. Changes nothing.
--
-- KEYS  value, lease
--
-- Returns {ms that the value has left, the value or nil, ms that the lease has left, its token or nil, its note or nil,
--          '1' if somebody waits for its end, else nil}, with 0 for a value of another type.
--
-- Atomic, as between the two looks a fill would show neither a value nor who loads.

local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' then
    value = 0
end
local held = redis.pcall('HMGET', KEYS[2], 'token', 'note', 'waited')
if held.err then
    held = { false, false, false }
end
return { redis.call('PTTL', KEYS[1]), value, redis.call('PTTL', KEYS[2]), held[1], held[2], held[3] }
