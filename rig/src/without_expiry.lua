-- Lists the keys that have no expiry.
--
-- Returns the keys.
--
-- Atomic, as a key that is given its expiry meanwhile would be listed.

local without_expiry = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
    if redis.call('PTTL', key) == -1 then
        table.insert(without_expiry, key)
    end
end
return without_expiry
