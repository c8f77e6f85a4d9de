-- Reads a scope whole, and for a member begins it where there is none.
-- KEYS fleet log tools closed leases charges members
-- ARGV epoch member skew most presence
-- Returns {epoch, last, incident, cycle, members, tools, charges}; tools are
-- names and entries in turn, at most so many.
local fleet, log, tools, closed, leases, charges, members = unpack(KEYS)
local epoch, member, skew, most, presence = unpack(ARGV)
if member ~= '' then
	if redis.call('HSETNX', fleet, 'epoch', epoch) == 1 then
		redis.call('DEL', log, tools, closed, leases, charges)
		redis.call('HDEL', fleet, 'last', 'incident', 'cycle')
	end
	seen(members, member, now(skew), presence)
end

local all = {}
if redis.call('HLEN', tools) <= tonumber(most) then
	all = redis.call('HGETALL', tools)
else
	local cursor = '0'
	repeat
		local page = redis.call('HSCAN', tools, cursor, 'COUNT', 500)
		cursor = page[1]
		for _, text in ipairs(page[2]) do all[#all + 1] = text end
	until cursor == '0' or #all >= 2 * tonumber(most)
end
local head = redis.call('HMGET', fleet, 'epoch', 'last', 'incident', 'cycle')
return {head[1] or '', head[2] or '', head[3] or '', head[4] or '', redis.call('ZCARD', members), all, redis.call('LRANGE', charges, 0, -1)}
