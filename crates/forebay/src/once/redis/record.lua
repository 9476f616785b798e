-- The first part of every script on what runs once: what is under its key.
--
-- KEYS  the record
--
-- A value: the version, '1'; the stage in one letter; the fingerprint and the owner's token in 32 hex digits each; then
-- while somebody runs ('r', or 'a' where it runs again) the end of the lease in ms of the server's time, and once it is
-- done ('d') what it brought, or nothing where that was too large to keep ('o'). What does not look so has no stage.

local VERSION = '1'
local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local value = redis.pcall('GET', key)
local stage, print, owner, rest
if type(value) == 'string' and value:find('^1[rado]') and #value >= 66 and not value:sub(3, 66):find('[^0-9a-f]') then
    stage, print, owner, rest = value:sub(2, 2), value:sub(3, 34), value:sub(35, 66), value:sub(67)
end
local running = stage == 'r' or stage == 'a'
if running and not rest:find('^%d+$') then
    stage, running = nil, false
end
