-- Decides whether a cost fits into the burst of every window, and takes it only then. What was taken is a debt that the
-- time pays off evenly, the limit in the length of the window. Comes after packed.lua, before decided.lua.
--
-- The cells of a window: its limit at the last write, and the debt then, in tokens times ms: a token is the length of
-- the window, and in a ms the limit is paid off.
--
-- ARGV  3 cost
--       4 '1' to take it, '0' to look
--       5.. limit and burst of each window, by turns
--
-- Leaves whether it fits, and the windows with the cost in them; decided.lua says what is returned.
--
-- Atomic, as between the look and the taking somebody else could take what is left.

local fits, cost, gone = 1, ARGV[3] + 0, age - written
local order, records, at = layout, '', 23 + 5 * count
for n = 1, count do
    local length, rate, debt = read('>I5', value, 18 + 5 * n)
    rate, debt, at = read('>I7I7', value, at)
    debt = debt - gone * rate
    if debt < 0 then
        debt = 0
    end
    if n <= asked then
        debt = debt + cost * length
        if debt > ARGV[4 + 2 * n] * length then
            fits = 0
            break
        end
        records = records .. pack('>I7I7', ARGV[3 + 2 * n], debt)
    elseif debt > 0 then
        order, records = order .. pack('>I5', length), records .. pack('>I7I7', rate, debt)
        life = math.max(life, 2 * length)
    end
end
