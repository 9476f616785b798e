-- Removes what is stored under an id and ends its lease, in every version that may be running, and tells all
-- processes. With a token, the first lease is the caller's afterwards: the first half of a put.
--
-- KEYS  value, lease; first of the caller's version, then of its neighbours
-- ARGV  1 channel of invalidations, 2 message, 3 channel of wakes, 4 token or '', 5 life of the lease in ms
--
-- Returns 1.
--
-- Atomic, as a fill between two deletes would store what was loaded before.

for i = 1, #KEYS, 2 do
    local waited = redis.pcall('HGET', KEYS[i + 1], 'waited')
    redis.call('DEL', KEYS[i], KEYS[i + 1])
    if waited == '1' then
        redis.call('PUBLISH', ARGV[3], KEYS[i + 1])
    end
end
redis.call('PUBLISH', ARGV[1], ARGV[2])
if ARGV[4] ~= '' then
    redis.call('HSET', KEYS[2], 'token', ARGV[4], 'life', ARGV[5])
    redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
return 1
