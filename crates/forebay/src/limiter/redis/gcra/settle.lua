-- Corrects what a reservation has taken, where it is not paid off: down to nothing, up to the burst. Comes after
-- packed.lua, before settled.lua.
--
-- ARGV  3 the value after the reservation
--       4 cost reserved
--       5 actual cost
--       6 channel, 7 message for those who remember a refusal; '' without
--       8.. limit and burst of each window, by turns
--
-- Leaves whether anything was corrected, and the windows with the correction in them.
--
-- Atomic, as between the look and the correction somebody else could take a cost.

local hold = ARGV[3]
local held, key_born, returned_then = read('>I5I4I5', hold, 8)
local change, settled = ARGV[5] - ARGV[4], 0
local records, at, hold_at = '', 23 + 5 * count, 23 + 5 * (#hold - 22) / (5 + 14)
for n = 1, count do
    local length, rate, debt = read('>I5', value, 18 + 5 * n)
    rate, debt, at = read('>I7I7', value, at)
    if n <= asked and born == key_born then
        local held_rate, held_debt
        held_rate, held_debt, hold_at = read('>I7I7', hold, hold_at)
        -- What is left of the debt of then: what was reserved last is paid off last. What was returned since may have
        -- been a part of it.
        local paid = (written - held) * math.max(rate, held_rate)
        local left = held_debt - paid - (returned - returned_then) % 2 ^ 40 * length
        if left > 0 then
            local most = math.max(0, ARGV[7 + 2 * n] * length - debt)
            debt = debt + math.max(-debt, -left, math.min(most, change * length))
            settled = 1
        end
    end
    records = records .. pack('>I7I7', rate, debt)
end
