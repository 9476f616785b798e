-- Reads some dead letters.
--
-- KEYS  dead letters
-- ARGV  1 the id behind which to read
--       2 how many at most
--
-- Returns for each its id, then its fields and their values.
--
-- It is a script so that it is asked as everything else.

return redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
