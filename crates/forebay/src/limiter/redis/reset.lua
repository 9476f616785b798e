-- Gives a subject its whole quota back.
--
-- KEYS  the subject's key
-- ARGV  1 channel, 2 message for those who remember a refusal
--
-- Returns how many keys there were.
--
-- Atomic, as whoever hears the message asks at once.

local was_there = redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return was_there
