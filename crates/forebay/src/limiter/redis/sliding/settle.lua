-- Corrects what a reservation has taken, where that still counts: down to nothing, up to the limit. Comes after
-- packed.lua, before settled.lua.
--
-- ARGV  3 the value after the reservation
--       4 cost reserved
--       5 actual cost
--       6 channel, 7 message for those who remember a refusal; '' without
--       8.. limit of each window
--
-- Leaves whether anything was corrected, and the windows with the correction in them.
--
-- Atomic, as between the look and the correction somebody else could take a cost.

local held, key_born = read('>I5I4', ARGV[3], 8)
local change, settled = ARGV[5] - ARGV[4], 0
local records, at = '', 23 + 5 * count
for n = 1, count do
    local length, current, previous = read('>I5', value, 18 + 5 * n)
    current, previous, at = read('>I6I6', value, at)
    local passed = floor(written / length) - floor(held / length)
    if n <= asked and born == key_born and (passed == 0 or passed == 1) then
        local used = current + math.ceil(previous * (length - written % length) / length)
        local least = passed == 0 and -current or -previous
        local most = math.max(0, ARGV[7 + n] - used)
        local corrected = math.max(least, math.min(most, change))
        if passed == 0 then
            current = current + corrected
        else
            previous = previous + corrected
        end
        settled = 1
    end
    records = records .. pack('>I6I6', current, previous)
end
