-- Renews leases, or with a ttl of 0 gives them back. One that is over is not
-- renewed: another member of its incident may be tried by now.
-- KEYS leases
-- ARGV skew ttl, then for each: tool token
-- Returns for each 1, or 0 where it is over.
local leases = KEYS[1]
local skew, ttl = ARGV[1], tonumber(ARGV[2])
local at, answers = now(skew), {}
for i = 3, #ARGV, 2 do
	local l = held(leases, ARGV[i], at)
	local own = l.live and l.token == ARGV[i + 1]
	if own then
		l.expiry = ttl > 0 and at + ttl or 0
		hold(leases, ARGV[i], l)
	end
	answers[#answers + 1] = own and 1 or 0
end
return answers
