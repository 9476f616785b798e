-- Tries what every script does: a key is written with an expiry in one step, read, and taken away.
-- KEYS[1]  a key that nothing else uses
-- Returns 1 if the key was there, with an expiry, and then was not.
-- Atomic like all others: that is what is tried.
redis.call('SET', KEYS[1], 'doctor', 'PX', 60000)
local life = redis.call('PTTL', KEYS[1])
redis.call('DEL', KEYS[1])
if life > 0 and redis.call('EXISTS', KEYS[1]) == 0 then
  return 1
end
return 0
