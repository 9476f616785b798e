-- Copies a key, its value and its life, to keys with other numbers in their names.
--
-- KEYS  the key
-- ARGV  1 what its name has before the number, 2 what it has behind, 3 the first number, 4 the last one
--
-- Returns nothing. A script, as a million round trips would take longer than what is measured afterwards.

for number = ARGV[3], ARGV[4] do
    redis.call('COPY', KEYS[1], ARGV[1] .. string.format('%09d', number) .. ARGV[2])
end
