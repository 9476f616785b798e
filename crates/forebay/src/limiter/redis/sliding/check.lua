-- Decides whether a cost fits into every window, and takes it only then. A window counts itself and, by the share of
-- it that is still to come, the one before. Comes after packed.lua, before decided.lua.
--
-- ARGV  3 cost
--       4 '1' to take it, '0' to look
--       5.. limit of each window
--
-- Leaves whether it fits, and the windows with the cost in them; decided.lua says what is returned.
--
-- Atomic, as between the look and the taking somebody else could take what is left.

local fits, cost, gone = 1, ARGV[3] + 0, age - written
local order, records, at = layout, '', 23 + 5 * count
for n = 1, count do
    local length, current, previous = read('>I5', value, 18 + 5 * n)
    current, previous, at = read('>I6I6', value, at)
    local into = age % length
    if gone > into then
        current, previous = 0, gone <= into + length and current or 0
    end
    if n <= asked then
        if previous * (length - into) > (ARGV[4 + n] - current - cost) * length then
            fits = 0
            break
        end
        records = records .. pack('>I6I6', current + cost, previous)
    elseif current + previous > 0 then
        order, records = order .. pack('>I5', length), records .. pack('>I6I6', current, previous)
        life = math.max(life, 2 * length)
    end
end
