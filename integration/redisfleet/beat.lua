-- Says that a member is there, and where the log ends.
-- KEYS fleet members
-- ARGV member skew presence
-- Returns {epoch, last, members}.
local fleet, members = unpack(KEYS)
local member, skew, presence = unpack(ARGV)
seen(members, member, now(skew), presence)
local head = redis.call('HMGET', fleet, 'epoch', 'last')
return {head[1] or '', head[2] or '', redis.call('ZCARD', members)}
