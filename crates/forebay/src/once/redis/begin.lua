-- Lets one caller run, and tells the others how it stands.
--
-- KEYS  the record
-- ARGV  1 token of the caller
--       2 fingerprint of what it wants
--       3 life of the lease in ms
--       4 life of the record in ms, from the first request
--       5 '1' if what nobody may know the end of is run again
--       6 how many bytes of a record the caller takes
--
-- Returns {'run', ms}, {'running', ms}, {'d', bytes}, {'o', ''}, {'large'}, {'mismatch'}, {'indeterminate'}
--         or {'unreadable'}.
--
-- Atomic, as of several callers one may run. Comes after record.lua.

local caller, wanted, lease, keep, again, most =
    ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] == '1', tonumber(ARGV[6])

local function run(as, left)
    local life = math.min(lease, left)
    local record = VERSION .. as .. wanted .. caller .. string.format('%.0f', now + life)
    redis.call('SET', key, record, 'PX', string.format('%.0f', left))
    return { 'run', life }
end

if not value then
    return run('r', keep)
end
local left = redis.call('PTTL', key)
if left < 0 then
    redis.call('PEXPIRE', key, ARGV[4])
    left = keep
end
left = math.max(left, 1)
if not stage then
    return { 'unreadable' }
end
if print ~= wanted then
    return { 'mismatch' }
end
if not running then
    if #rest > most then
        return { 'large' }
    end
    return { stage, rest }
end
if owner == caller then
    return run(stage, left)
end
local ends = tonumber(rest)
if now < ends then
    return { 'running', math.min(ends - now, left) }
end
if again then
    return run('a', left)
end
return { 'indeterminate' }
