-- The first part of scripts that ask whose data this is.
--
-- Names the time for which this server has been a primary without a break, or says '' where it is none or does not
-- say. Its id of replication changes with every start and every promotion: whatever was acknowledged under one is
-- there while it lasts.

local function reign()
    local info = redis.pcall('INFO', 'replication')
    if type(info) ~= 'string' or not info:find('role:master', 1, true) then
        return ''
    end
    return info:match('master_replid:(%x+)') or ''
end
