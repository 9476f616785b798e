-- The last part of a check on packed windows, where nothing is taken. Comes after packed.lua.
--
-- Returns {1 if the cost fits, the key's own time, 1 unless what was there is unreadable, the value}. In this form a
-- check answers, too, when it has taken a cost in the place of what was unreadable.

for n = asked + 1, count do
    life = math.max(life, 2 * read('>I5', value, 18 + 5 * n))
end
if now < last then
    redis.call('SET', key, value:sub(1, 1) .. pack('>I6', now) .. value:sub(8), 'PX', life)
elseif redis.call('PTTL', key) == -1 then
    redis.call('PEXPIRE', key, life)
end
return { fits, age, readable, value }
