-- The first part of every script on packed windows: what is under the key, and the key's own time.
--
-- KEYS  the subject's key
-- ARGV  1 layout: the width of a cell in one byte, then the length of each window in five
--       2 life of what is written in ms
--
-- A value: the mode in one byte, the server's time at the last write in six, the key's own time then in five, the µs of
-- the first write, which tell the key from its predecessors, in four, and what settlements have returned in all in five;
-- a layout; and of each window its cells. A value of another tier is brought into the order of the caller's layout, with
-- the windows behind that this does not have. Times and lengths are in ms. MODE, CELLS, how many a window has, and
-- WIDEST, the most bytes of one, are set before.
--
-- A key's own time begins at 0 and goes on as the server's clock does, but never back: a clock that steps back frees
-- nothing and freezes nobody.

local floor, pack, read = math.floor, struct.pack, struct.unpack
local key, layout, life = KEYS[1], ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + floor(time[2] / 1000)

local value = redis.pcall('GET', key)
local asked, readable = (#layout - 1) / 5, 1
local count = asked
local kind, last, written, born, returned, width
if value then
    if type(value) == 'string' and #value > 22 and #value < 16384 then
        kind, last, written, born, returned, width = read('>BI6I5I4I5B', value)
        count = (#value - 22) / (5 + CELLS * width)
    end
    if kind ~= MODE or width < 4 or width == 5 or width > WIDEST or count % 1 > 0 then
        value, readable = nil, 0
    elseif count < asked or value:sub(22, 21 + #layout) ~= layout then
        local wide, windows, form = math.max(width, layout:byte()), {}, ('I' .. width):rep(CELLS)
        for n = 1, count do
            local length = read('>I5', value, 18 + 5 * n)
            local cells = { read('>' .. form, value, 23 + 5 * count + (n - 1) * CELLS * width) }
            cells[CELLS + 1] = nil
            windows[length] = pack('>' .. ('I' .. wide):rep(CELLS), unpack(cells))
        end
        local order, records = string.char(wide) .. layout:sub(2), ''
        for at = 2, #layout, 5 do
            local length = read('>I5', layout, at)
            records = records .. (windows[length] or ('\0'):rep(CELLS * wide))
            windows[length] = nil
        end
        for length, record in pairs(windows) do
            order, records = order .. pack('>I5', length), records .. record
        end
        value, width, count = value:sub(1, 21) .. order .. records, wide, (#order - 1) / 5
    end
end
if not value then
    last, written, born, returned = now, 0, (time[1] * 1000000 + time[2]) % 2 ^ 32, 0
    width, count = layout:byte(), asked
    value = ('\0'):rep(21) .. layout .. ('\0'):rep(count * CELLS * width)
end
local age = now > last and written + now - last or written
