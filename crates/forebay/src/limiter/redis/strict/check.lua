-- Decides whether a cost fits into every window, and takes it only then. A window is cut into ten; the tenth that runs
-- and the ten before it count, the oldest of them in whole. Comes after packed.lua, before look.lua.
--
-- The cells of a window: what its eleven tenths have got, the newest first.
--
-- ARGV  3 cost
--       4 '1' to take it, '0' to look
--       5.. limit of each window
--
-- Returns the value if it was taken; see look.lua for what else.
--
-- Atomic, as between the look and the taking somebody else could take what is left.

local fits, cost = 1, tonumber(ARGV[3])
local all, one = '>I4I4I4I4I4I4I4I4I4I4I4', '>I4'
if width ~= 4 then
    all, one = '>' .. ('I' .. width):rep(CELLS), '>I' .. width
end
local order, records, at = value:sub(20, 19 + #layout), '', 21 + 5 * count
for n = 1, count do
    local length = read('>I5', value, 16 + 5 * n)
    local a, b, c, d, e, f, g, h, i, j, k, next_at = read(all, value, at)
    local passed = floor(age * 10 / length) - floor(written * 10 / length)
    local used, newest, older = 0, 0, ''
    if passed == 0 then
        used, newest = a + b + c + d + e + f + g + h + i + j + k, a
        older = value:sub(at + width, next_at - 1)
    else
        local cells = { a, b, c, d, e, f, g, h, i, j, k }
        for cell = 1, CELLS - passed do
            used = used + cells[cell]
        end
        passed = math.min(passed, CELLS)
        older = ('\0'):rep((passed - 1) * width) .. value:sub(at, next_at - 1 - passed * width)
    end
    at = next_at
    if n <= asked then
        if used + cost > tonumber(ARGV[4 + n]) then
            fits = 0
            break
        end
        records = records .. pack(one, newest + cost) .. older
    elseif used > 0 then
        order, records = order .. pack('>I5', length), records .. pack(one, newest) .. older
        life = math.max(life, 2 * length)
    end
end
if fits == 1 and ARGV[4] == '1' then
    value = pack('>BI6I6I6', MODE, now, age, born) .. order .. records
    redis.call('SET', key, value, 'PX', life)
    return readable == 1 and value or { 1, age, 0, value }
end
