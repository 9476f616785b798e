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
local records, at, all = '', 23 + 5 * count, '>' .. ('I' .. width):rep(CELLS)
for n = 1, count do
    local length, cells = read('>I5', value, 18 + 5 * n), { read(all, value, at) }
    at, cells[CELLS + 1] = cells[CELLS + 1], nil
    local passed = floor(written * 10 / length) - floor(held * 10 / length)
    if n <= asked and born == key_born and passed >= 0 and passed <= 10 then
        local used, got = cells[1], cells[passed + 1]
        for cell = 2, passed == 0 and CELLS or 0 do
            got = got - cells[cell]
        end
        local corrected = math.max(-got, math.min(math.max(0, ARGV[7 + n] - used), change))
        cells[1] = used + corrected
        if passed > 0 then
            cells[passed + 1] = got + corrected
        end
        settled = 1
    end
    records = records .. pack(all, unpack(cells))
end
