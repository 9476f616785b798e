-- The last part of every check on packed windows: takes the cost, or leaves everything as it is. Comes after packed.lua.
--
-- Returns the value alone if the cost was taken, else {1 if it fits, the key's own time, 1 unless what was there is
-- unreadable, the value}; in this form also where the cost was taken in the place of what was unreadable.

if fits == 1 and ARGV[4] == '1' then
    value = pack('>BI6I5I4I5', MODE, now, age, born, returned) .. order .. records
    redis.call('SET', key, value, 'PX', life)
    return readable == 1 and value or { 1, age, 0, value }
end

for n = asked + 1, count do
    life = math.max(life, 2 * read('>I5', value, 18 + 5 * n))
end
if now < last then
    redis.call('SET', key, value:sub(1, 1) .. pack('>I6', now) .. value:sub(8), 'PX', life)
elseif redis.call('PTTL', key) == -1 then
    redis.call('PEXPIRE', key, life)
end
return { fits, age, readable, value }
