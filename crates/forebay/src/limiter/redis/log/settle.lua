-- Corrects what a reservation has taken, where that still counts: down to nothing, up to the limit. What was used beyond
-- the reservation counts from now on. Comes after members.lua.
--
-- ARGV  1 the first member of the reservation
--       2 cost reserved
--       3 actual cost
--       4 channel, 5 message for those who remember a refusal; '' without
--       6 for how long members are kept in ms
--       7.. length in ms and limit of each window, by turns
--
-- Returns 1 if anything was corrected, else 0.
--
-- Atomic, as between the look and the correction somebody else could take a cost.

local reserved, actual, settled = tonumber(ARGV[2]), tonumber(ARGV[3]), 0
local first, tail = tonumber(ARGV[1]:sub(1, 16)), tonumber(ARGV[1]:sub(18))
if newest[1] and actual < reserved then
    local members = {}
    for n = actual, reserved - 1 do
        members[#members + 1] = name(first + n, tail)
    end
    settled = in_parts(members, function(...)
        return redis.call('ZREM', key, ...)
    end)
elseif newest[1] then
    local taken, longest, more = redis.call('ZSCORE', key, ARGV[1]), 0, actual - reserved
    for i = 7, #ARGV, 2 do
        local length = tonumber(ARGV[i])
        longest, more = math.max(longest, length), math.min(more, ARGV[i + 1] - used(length))
    end
    if taken and taken + longest > age and more > 0 then
        add(more)
        redis.call('PEXPIRE', key, ARGV[6])
        settled = more
    end
end
if ARGV[5] ~= '' then
    redis.call('PUBLISH', ARGV[4], ARGV[5])
end
return math.min(settled, 1)
