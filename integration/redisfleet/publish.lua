-- Accepts or refuses changes, in their order, and appends the accepted ones to the
-- log together with what they make of the tools. All or nothing: every key is
-- read before the first write, so that a wrong type stops it early, and the first
-- write is one that a full Redis refuses.
-- KEYS fleet log tools closed leases charges
-- ARGV epoch member skew log-length max-closed max-tools max-charges, then for
-- each change: serial kind tool base token json count, and the names of so many
-- members of an incident
-- Returns for each change {'ok', id}, {'no', entry} or {'full'}, or {'epoch'}.
local fleet, log, tools, closed, leases, charges = unpack(KEYS)
local epoch, member, skew, length, maxClosed, maxTools, maxCharges = unpack(ARGV, 1, 7)
redis.call('XLEN', log)
redis.call('ZCARD', closed)
redis.call('HLEN', leases)
redis.call('LLEN', charges)
local size = redis.call('HLEN', tools)
if redis.call('HGET', fleet, 'epoch') ~= epoch then return {'epoch'} end

local serial, json

local function append()
	local last = redis.call('HGET', fleet, 'last') or ''
	local id = redis.call('XADD', log, 'MAXLEN', '~', length, '*', 'v', '1', 'm', member, 's', serial, 'p', last, 'c', json)
	redis.call('HSET', fleet, 'last', id)
	return id
end

local function put(key, field, kind, gen, inc, text)
	redis.call('HSET', key, field, '1 ' .. kind .. ' ' .. gen .. ' ' .. member .. ' ' .. inc .. ' ' .. text)
end

-- settle notes what a tool is now. Of closed ones the generation is kept, of the
-- latest of them.
local function settle(tool, kind, id, inc)
	redis.call('HDEL', leases, tool)
	if kind ~= 'closed' and kind ~= 'reset' then
		put(tools, tool, kind, id, inc, json)
		redis.call('ZREM', closed, tool)
		return
	end
	put(tools, tool, kind, id, '-', '-')
	redis.call('ZADD', closed, string.match(id, '^%d+'), tool)
	while redis.call('ZCARD', closed) > tonumber(maxClosed) do
		redis.call('HDEL', tools, redis.call('ZPOPMIN', closed)[1])
	end
end

-- holds reports whether the change is that of the latest lease. Without a token
-- the lease must not be over, and be the member's.
local function holds(tool, token)
	local l = held(leases, tool, now(skew))
	if token ~= '' then return l.token == token end
	return l.live and l.member == member
end

local function change(kind, tool, base, token)
	local e = parse(redis.call('HGET', tools, tool))
	if not e and size >= tonumber(maxTools) + tonumber(maxClosed) then return {'full'} end
	local accepted = true -- the controls
	if kind == 'opened' then -- the token may name an entry that is not understood
		accepted = not e or e.closed and e.gen == base or e.gen == token
	elseif kind == 'probe_failed' or kind == 'closed' then
		accepted = e and e.open and holds(tool, token)
	end
	if not accepted then return {'no', e and e.text or ''} end
	local id = append()
	settle(tool, kind, id, kind == 'probe_failed' and e.inc or '-')
	if not e then size = size + 1 end
	return {'ok', id}
end

local function incident(kind, base, token, members)
	local text = redis.call('HGET', fleet, 'incident')
	local e = parse(text)
	if e and e.gen == token then e, base = nil, '' end -- not understood
	local active = e and e.kind == 'incident'
	local current = e and e.gen or ''
	if current ~= base or active == (kind == 'incident') or not e and kind == 'confirmed' then
		return {'no', e and text or ''}
	end
	local id = append()
	if kind == 'confirmed' then
		put(fleet, 'incident', kind, id, e.inc, e.json)
		return {'ok', id}
	end
	put(fleet, 'incident', kind, id, id, json)
	for _, tool in ipairs(members) do -- they opened before it was flagged
		local m = parse(redis.call('HGET', tools, tool))
		if m and m.open then
			redis.call('HSET', tools, tool, '1 ' .. m.kind .. ' ' .. m.gen .. ' ' .. m.member .. ' ' .. id .. ' ' .. m.json)
		end
	end
	return {'ok', id}
end

local function budget(kind)
	local id = append()
	if kind == 'cycle' then
		redis.call('DEL', charges)
		redis.call('HSET', fleet, 'cycle', id)
	else
		redis.call('RPUSH', charges, '1 ' .. id .. ' ' .. serial .. ' ' .. json)
		redis.call('LTRIM', charges, -tonumber(maxCharges), -1)
	end
	return {'ok', id}
end

local answers, i = {}, 8
while ARGV[i] do
	local kind, tool, base, token, count = ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], tonumber(ARGV[i + 6])
	serial, json = ARGV[i], ARGV[i + 5]
	if kind == 'incident' or kind == 'confirmed' then
		local members = {}
		for j = 1, count do members[j] = ARGV[i + 6 + j] end
		answers[#answers + 1] = incident(kind, base, token, members)
	elseif kind == 'charged' or kind == 'cycle' then
		answers[#answers + 1] = budget(kind)
	else
		answers[#answers + 1] = change(kind, tool, base, token)
	end
	i = i + 7 + count
end
return answers
