-- Lists the keys that have no expiry.
-- Returns: an array of keys
-- Atomic, so that a key that is given its expiry meanwhile is never listed.
local without_expiry = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  if redis.call('PTTL', key) == -1 then
    table.insert(without_expiry, key)
  end
end
return without_expiry
