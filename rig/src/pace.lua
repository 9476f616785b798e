-- Makes keys older by a span, whatever time has passed on the server since the last call.
--
-- ARGV  1 pattern of the keys
--       2 the span in ms
--       3 the server's time in ms at the last call, or '' at the first
--       4.. the keys of the last call and their expiries, by turns
--
-- Returns the server's time in ms, then the keys and their expiries, by turns: -1 for a key that has none.
--
-- A key that was written since is made older by the span only: when it was written is not known, so it may be too old
-- by what has passed since the last call, but is never too young.
--
-- Atomic, as what is written between the look at an expiry and the new one would be taken for an old key.

local pattern, span = ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local passed = now - (tonumber(ARGV[3]) or now)

local known = {}
for i = 4, #ARGV, 2 do
    known[ARGV[i]] = ARGV[i + 1]
end

local answer = { string.format('%.0f', now) }
for _, key in ipairs(redis.call('KEYS', pattern)) do
    local expiry = redis.call('PEXPIRETIME', key)
    local shift = known[key] == string.format('%.0f', expiry) and span - passed or span
    if expiry >= 0 and shift ~= 0 then
        expiry = expiry - shift
        redis.call('PEXPIREAT', key, string.format('%.0f', expiry))
    end
    -- An expiry that is not in the future has deleted the key.
    if expiry < 0 or expiry > now then
        table.insert(answer, key)
        table.insert(answer, string.format('%.0f', expiry))
    end
end
return answer
