-- Takes a member out, and gives back the leases that it does not use.
-- KEYS leases members
-- ARGV member, then for each lease: tool token
local leases, members = unpack(KEYS)
redis.call('ZREM', members, ARGV[1])
for i = 2, #ARGV, 2 do
	local l = held(leases, ARGV[i], 0)
	if l.token == ARGV[i + 1] then
		l.expiry = 0
		hold(leases, ARGV[i], l)
	end
end
return {}
