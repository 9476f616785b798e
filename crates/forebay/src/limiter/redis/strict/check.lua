-- Decides whether a cost fits into every window, and takes it only then. A window is cut into ten; the tenth that runs
-- and the ten before it count, the oldest of them in whole. Comes after packed.lua, before decided.lua.
--
-- The cells of a window: what all eleven have got, and what the ten older ones have, the newest of them first. So as long
-- as no tenth passes one cell changes.
--
-- ARGV  3 cost
--       4 '1' to take it, '0' to look
--       5.. limit of each window
--
-- Leaves whether it fits, and the windows with the cost in them; decided.lua says what is returned.
--
-- Atomic, as between the look and the taking somebody else could take what is left.

local fits, cost, form = 1, ARGV[3] + 0, width == 4 and '>I4c40' or '>I6c60'
local order, records, at = layout, '', 23 + 5 * count
if width ~= layout:byte() then
    order = value:sub(22, 21 + #layout)
end
for n = 1, count do
    local length, used, older = read('>I5', value, 18 + 5 * n)
    used, older, at = read(form, value, at)
    local passed = floor(age * 10 / length) - floor(written * 10 / length)
    if passed > 10 then
        used, older = 0, ('\0'):rep(10 * width)
    elseif passed > 0 then
        local one, newest = '>I' .. width, used
        for cell = 1, 10 do
            local got = read(one, older, 1 + (cell - 1) * width)
            newest = newest - got
            if cell > 10 - passed then
                used = used - got
            end
        end
        older = ('\0'):rep((passed - 1) * width) .. pack(one, newest) .. older:sub(1, (10 - passed) * width)
    end
    if n <= asked then
        if used + cost > ARGV[4 + n] + 0 then
            fits = 0
            break
        end
        records = records .. pack(form, used + cost, older)
    elseif used > 0 then
        order, records = order .. pack('>I5', length), records .. pack(form, used, older)
        life = math.max(life, 2 * length)
    end
end
