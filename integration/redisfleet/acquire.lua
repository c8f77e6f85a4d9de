-- Gives the lease for the one trial of an open tool, or says who stands in the
-- way. A member that does not know the tool's latest generation gets none: what
-- it believes to be due may be so no longer.
-- KEYS fleet tools leases
-- ARGV epoch member skew ttl hold max-hold tool base, then the other tools of
-- which one at a time is tried
-- Returns {'ok', token, how long it may go unused}, {'busy', milliseconds},
-- {'no', entry} or {'epoch'}.
local fleet, tools, leases = unpack(KEYS)
local epoch, member, skew, ttl, unused, longest, tool, base = unpack(ARGV, 1, 8)
redis.call('HLEN', leases)
if redis.call('HGET', fleet, 'epoch') ~= epoch then return {'epoch'} end
local e = parse(redis.call('HGET', tools, tool))
if not e or not e.open or e.gen ~= base then return {'no', e and e.text or ''} end

local at = now(skew)
local l = held(leases, tool, at)
if l.live and l.member ~= member then return {'busy', num(l.expiry - at)} end
for i = 9, #ARGV do
	local other = held(leases, ARGV[i], at)
	if ARGV[i] ~= tool and other.live then return {'busy', num(other.expiry - at)} end
end
if not l.live then -- else it is the member's already, and the answer was lost
	-- Tokens follow the time, so that a Redis that has lost some gives none twice.
	local last = tonumber(redis.call('HGET', fleet, 'token') or 0) or 0
	l.token, l.count = num(math.max(last + 1, at * 1000)), l.count + 1
	redis.call('HSET', fleet, 'token', l.token)
end
l.member, l.expiry = member, at + tonumber(ttl)
hold(leases, tool, l)
-- Leases that nobody used hold ever longer, so that an agent that calls seldom
-- comes to its turn too.
return {'ok', l.token, num(math.min(tonumber(unused) * 2 ^ math.min(l.count - 1, 30), tonumber(longest)))}
