-- The beginning of every script.

-- now is Redis's own time in milliseconds: no host of a fleet has another one.
-- skew is 0 except in tests.
local function now(skew)
	local t = redis.call('TIME')
	return t[1] * 1000 + math.floor(t[2] / 1000) + tonumber(skew)
end

local function num(n) return string.format('%.0f', n) end

-- parse reads "1 KIND GENERATION MEMBER INCIDENT JSON". Anything else, other
-- versions included, reads as nothing.
local function parse(text)
	if not text then return nil end
	local kind, gen, member, inc, json = string.match(text, '^1 ([%l_]+) (%d+%-%d+) (%S+) (%S+) (.*)$')
	if not kind then return nil end
	return {kind = kind, gen = gen, member = member, inc = inc, json = json, text = text,
		open = kind == 'opened' or kind == 'probe_failed', closed = kind == 'closed' or kind == 'reset'}
end

-- held reads "TOKEN MEMBER EXPIRY COUNT": the latest lease of a tool, over or
-- not. One that ends later than any lease may (the clock was set back) is over.
local function held(leases, tool, at)
	local token, member, expiry, count = string.match(redis.call('HGET', leases, tool) or '', '^(%d+) (%S+) (%d+) (%d+)$')
	if not token then return {token = '', member = '', expiry = 0, count = 0} end
	local l = {token = token, member = member, expiry = tonumber(expiry), count = tonumber(count)}
	l.live = l.expiry > at and l.expiry <= at + 600000
	return l
end

local function hold(leases, tool, l)
	redis.call('HSET', leases, tool, l.token .. ' ' .. l.member .. ' ' .. num(l.expiry) .. ' ' .. num(math.min(l.count, 1000)))
end

-- seen notes that a member is there, and forgets those that have said nothing for
-- long. Members of a large fleet say so less often: see Options.BeatEvery.
local function seen(members, member, at, presence)
	redis.call('ZADD', members, num(at), member)
	local silent = math.max(tonumber(presence), 10 * redis.call('ZCARD', members))
	redis.call('ZREMRANGEBYSCORE', members, '-inf', num(at - silent))
end
