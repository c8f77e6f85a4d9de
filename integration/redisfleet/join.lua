-- Reads a scope whole, and for a member begins it where there is none.
-- KEYS fleet log tools closed leases charges members
-- ARGV epoch member skew most presence
-- Returns {epoch, last, incident, cycle, members, tools, charges}; tools are
-- names and entries in turn, at most so many. Who is no member gets the leases
-- too, likewise, the length of the log, and the time.
local fleet, log, tools, closed, leases, charges, members = unpack(KEYS)
local epoch, member, skew, most, presence = unpack(ARGV)
if member ~= '' then
	if redis.call('HSETNX', fleet, 'epoch', epoch) == 1 then
		redis.call('DEL', log, tools, closed, leases, charges)
		redis.call('HDEL', fleet, 'last', 'incident', 'cycle')
	end
	seen(members, member, now(skew), presence)
end

local function pairsOf(key)
	if redis.call('HLEN', key) <= tonumber(most) then return redis.call('HGETALL', key) end
	local all, cursor = {}, '0'
	repeat
		local page = redis.call('HSCAN', key, cursor, 'COUNT', 500)
		cursor = page[1]
		for _, text in ipairs(page[2]) do all[#all + 1] = text end
	until cursor == '0' or #all >= 2 * tonumber(most)
	return all
end

local head = redis.call('HMGET', fleet, 'epoch', 'last', 'incident', 'cycle')
local answer = {head[1] or '', head[2] or '', head[3] or '', head[4] or '', redis.call('ZCARD', members), pairsOf(tools),
	redis.call('LRANGE', charges, 0, -1)}
if member == '' then
	answer[8], answer[9], answer[10] = pairsOf(leases), redis.call('XLEN', log), num(now(skew))
end
return answer
