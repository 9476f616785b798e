-- Makes every key look older.
-- ARGV: milliseconds
-- Atomic, so that nobody sees a world in which some keys are older and others are not.
for _, key in ipairs(redis.call('KEYS', '*')) do
  local time_to_live = redis.call('PTTL', key)
  if time_to_live >= 0 then
    -- An expiry that is not in the future deletes.
    redis.call('PEXPIRE', key, time_to_live - tonumber(ARGV[1]))
  end
end
