-- The last part of every settlement on packed windows. Comes after packed.lua.
--
-- Returns 1 if anything was corrected, else 0.

if settled == 1 then
    life = math.max(life, redis.call('PTTL', key))
    returned = (returned + math.max(0, -change)) % 2 ^ 40
    value = value:sub(1, 16) .. pack('>I5', returned) .. value:sub(22, 22 + 5 * count) .. records
    redis.call('SET', key, value, 'PX', life)
end
if ARGV[7] ~= '' then
    redis.call('PUBLISH', ARGV[6], ARGV[7])
end
return settled
