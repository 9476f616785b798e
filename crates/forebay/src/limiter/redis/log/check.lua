-- Decides whether a cost fits into every window, and takes it only then. Comes after members.lua.
--
-- ARGV  1 cost
--       2 '1' to take it, '0' to look
--       3 for how long members are kept in ms: the longest window of any tier
--       4.. length in ms and limit of each window, by turns
--
-- Returns {1 if it fits, ms until it does, 1 unless what was there is unreadable, the first member taken or '',
--         used and ms until nothing is, of each window by turns}.
--
-- Atomic, as between the look and the taking somebody else could take what is left.

local fits, retry, cost, horizon, answer = 1, 0, tonumber(ARGV[1]), ARGV[3], {}
for i = 4, #ARGV, 2 do
    local length, limit = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
    local taken, beginning = used(length)
    local beyond = taken + cost - limit
    if beyond > 0 then
        local leaving = redis.call('ZRANGEBYSCORE', key, beginning, '+inf', 'WITHSCORES', 'LIMIT', beyond - 1, 1)
        fits, retry = 0, math.max(retry, leaving[2] + length - age)
    end
    answer[i + 1], answer[i + 2] = taken, taken > 0 and written + length - age or 0
end

local member = ''
if fits == 1 and ARGV[2] == '1' then
    add(cost)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', text(age - horizon))
    redis.call('PEXPIRE', key, horizon)
    member = name(number + 1, now)
    for i = 4, #ARGV, 2 do
        answer[i + 1], answer[i + 2] = answer[i + 1] + cost, tonumber(ARGV[i])
    end
elseif newest[1] and now < last then
    redis.call('ZREM', key, newest[1])
    redis.call('ZADD', key, text(written), name(number, now))
    redis.call('PEXPIRE', key, horizon)
elseif redis.call('PTTL', key) == -1 then
    redis.call('PEXPIRE', key, horizon)
end
answer[1], answer[2], answer[3], answer[4] = fits, retry, readable, member
return answer
