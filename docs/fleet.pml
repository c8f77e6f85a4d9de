/*
 * The protocol of integration/redisfleet for one tool, for spin 6.
 *
 *	make fleetmodel
 *
 * N members, each an engine with its connection, share one store whose scripts
 * are atomic. Against them: calls of the tool that fail (FAILS of them), and
 * TROUBLES of these in any order and mixture:
 *
 *	slow      a lease ends while its holder still counts on it
 *	doubt     a lease ends for its holder alone
 *	cut       a member loses the store, also between a script and its answer,
 *	          and goes on alone
 *	crash     a member dies, its lease stays; another comes in its place
 *	failover  the store loses its latest writes, as many as were not replicated
 *	wipe      the store loses everything
 *
 * Readers lag as long as they like, and time is not modelled: what may happen
 * after a while may happen at once. The adversary may stop at any point; then the
 * tool works. Checked:
 *
 *	1  Of the trials that were begun in one generation of the tool, at most one is
 *	   counted in what the log holds.
 *	2  No opening is accepted on a call that failed before the trial that closed
 *	   the tool had succeeded.
 *	3  A member that has read everything, and whose changes have got their
 *	   verdicts, sees the tool as the store does.
 *	4  Every schedule ends, and with the tool closed everywhere: the members move
 *	   only when that changes something, so a tool that stays open for ever would
 *	   be an end with an open tool, or a cycle.
 *
 * 1 to 3 and the ends are assertions, and a cycle is what spin calls one without
 * progress (-DNP and -l): one search has them all. That the model can fail is shown with a part of the protocol left out:
 *
 *	NOTOKEN   the store counts a trial whatever its token: 1 is violated
 *	NOWISH    a lease is given to a trial that is under way already: 1
 *	NOBASE    the store accepts an opening whatever it is based on: 2
 *	NOSEEN    a member looks for losses only in what it read of the log: 4
 *
 * Left out: the other tools, incidents, an operator's controls and the shared
 * budget. The random schedules of expediter/fleet_model_test.go have them, with
 * real engines, but a store that loses nothing.
 */

#ifndef N
#define N 2
#endif
#ifndef FAILS
#define FAILS 1
#endif
#ifndef TROUBLES
#define TROUBLES 1
#endif
#define IDS 14 /* places in the log */
#define NOBODY N

/* What the latest change made of the tool. */
#define NONE 0
#define OPENED 1
#define FAILED 2
#define CLOSED 3
#define isopen(kind) (kind == OPENED || kind == FAILED)
#define plain(kind) (kind == NONE || kind == CLOSED)

byte fails = FAILS, troubles = TROUBLES;
byte clock; /* of failures and successes, which the members do not see */

/* The store. Its epoch is 0 while it is empty. A generation of the tool is the
   place in the log that it began with. */
typedef Store {
	byte epoch, last, kind;
	byte token;       /* of the latest lease of this generation; 0: none */
	byte owner;
	bool live;        /* the lease has not ended */
	byte when;        /* the clock at the call that the latest change is about */
	short counted     /* the generations of which a trial was counted, a bit each */
};
Store s, replica;
bool lagging; /* the replica gets no more writes; else it is as the store */
byte epochs, places, tokens; /* given out so far; they follow the time, so none comes twice */

typedef Entry { byte prev, kind, when; bool there };
Entry log[IDS];

/* A change that is offered. */
typedef Offer { byte kind, base, token, begun, when };

typedef Member {
	bool open, probing, leased; /* the engine */
	bool bound;                 /* its trials need a lease; else it goes on alone */
	bool tried;                 /* alone: the trial that is due then was made */
	bool live;                  /* changes are offered */
	byte token;                 /* of the lease in hand */
	byte epoch, last;           /* how far the log was read */
	byte gen, kind, when;       /* the tool, as the member knows it */
	byte begun;                 /* the generation that the trial began in */
	byte failedAt;              /* the clock at the call that opened it */
	byte waiting;               /* offers in its queue */
	byte above;                 /* if not 0: what the first in the queue is based on */
	bool sent, accepted;        /* the verdict on sending is under way */
	byte place                  /* where it was accepted */
};
Member m[N];
Offer sending[N];
chan queue[N] = [6] of { byte, byte, byte, byte, byte };

/* ---- the engine ---- */

inline offer(i, k) {
	if
	:: m[i].live ->
		assert(nfull(queue[i]));
		queue[i]!k, m[i].gen, m[i].token, m[i].begun, (k == OPENED -> m[i].failedAt : clock);
		m[i].waiting++
	:: else
	fi
}

inline adopt(i, what, asOf) {
	if
	:: plain(what) && m[i].open -> m[i].open = 0; m[i].probing = 0; m[i].leased = 0; m[i].begun = 0; m[i].failedAt = 0
	:: isopen(what) && !m[i].open -> m[i].open = 1; m[i].failedAt = asOf
	:: what == FAILED && m[i].open -> m[i].probing = 0; m[i].leased = 0; m[i].begun = 0
	:: else
	fi
}

/* ---- what a member does with what it hears ---- */

/* The engine comes to agree with what is known, unless it has just come to
   something newer. */
inline reconcile(i) {
	if
	:: m[i].waiting == 0 && !m[i].sent && isopen(m[i].kind) != m[i].open -> adopt(i, m[i].kind, m[i].when)
	:: else
	fi
}

inline learn(i) {
	if
	:: m[i].waiting > 0 || m[i].sent /* a later verdict tells it, when the engine may be told too */
	:: m[i].waiting == 0 && !m[i].sent && m[i].gen < s.last -> m[i].gen = s.last; m[i].kind = s.kind; m[i].when = s.when; m[i].token = 0
	:: m[i].waiting == 0 && !m[i].sent && m[i].gen >= s.last && s.kind == NONE -> m[i].gen = 0; m[i].kind = NONE; m[i].when = 0
	:: else
	fi;
	reconcile(i)
}

/* What was on its way is forgotten: the engine itself knows what it came to. */
inline forget(i) {
	do
	:: nempty(queue[i]) -> queue[i]?_, _, _, _, _
	:: empty(queue[i]) -> break
	od;
	m[i].waiting = 0; m[i].above = 0; m[i].sent = 0; m[i].accepted = 0; m[i].place = 0;
	unsend(i)
}

inline unsend(i) {
	sending[i].kind = 0; sending[i].base = 0; sending[i].token = 0; sending[i].begun = 0; sending[i].when = 0
}

/* The store has forgotten what the waiting offers were based on. */
inline rebase(i) {
	d_step {
		j = 0;
		do
		:: j < m[i].waiting ->
			queue[i]?sending[i].kind, sending[i].base, sending[i].token, sending[i].begun, sending[i].when;
			queue[i]!sending[i].kind, s.last, sending[i].token, sending[i].begun, sending[i].when;
			j++
		:: else -> break
		od;
		j = 0; m[i].above = 0;
		unsend(i)
	}
}

/* The view is read whole, and whoever knows something newer gives it. What still
   waits is offered on top of it. */
inline join(i) {
	if
	:: s.epoch == 0 -> epochs++; s.epoch = epochs
	:: else
	fi;
	if /* it offers what it heard of, not only what it saw itself */
	:: m[i].open && isopen(m[i].kind) && m[i].when > m[i].failedAt -> m[i].failedAt = m[i].when
	:: else
	fi;
	news = (m[i].epoch != s.epoch && s.kind != NONE) || m[i].gen < s.last;
	again = s.kind == FAILED && m[i].gen != s.last;
	if
	:: m[i].epoch != s.epoch -> m[i].leased = 0; m[i].token = 0
	:: else
	fi;
	m[i].epoch = s.epoch; m[i].last = s.last; m[i].live = 1;
	if /* what the engine cannot be shown yet is not known */
	:: m[i].waiting > 0 && m[i].gen <= s.last
	:: m[i].waiting > 0 && m[i].gen > s.last -> rebase(i); m[i].gen = s.last; m[i].kind = s.kind; m[i].when = s.when
	:: m[i].waiting == 0 -> m[i].gen = s.last; m[i].kind = s.kind; m[i].when = s.when
	fi;
	if
	:: m[i].waiting > 0
	:: m[i].waiting == 0 && !news && m[i].open && plain(s.kind) -> offer(i, OPENED)
	:: m[i].waiting == 0 && (news || !m[i].open || isopen(s.kind)) && (isopen(s.kind) != m[i].open || again) -> adopt(i, s.kind, s.when)
	:: else
	fi;
	news = 0; again = 0
}

#ifdef NOSEEN
#define behind(i) (s.last < m[i].last)
#else
#define behind(i) (s.last < m[i].last || s.last < m[i].gen)
#endif
#ifdef NOWISH
#define wishes(i) 1
#else
#define wishes(i) (!m[i].probing)
#endif
#define current(i) (m[i].live && m[i].epoch == s.epoch && !behind(i))

/* ---- the scripts ---- */

inline publish(i) {
	if
#ifdef NOBASE
	:: sending[i].kind == OPENED -> m[i].accepted = plain(s.kind)
#else
	:: sending[i].kind == OPENED -> m[i].accepted = plain(s.kind) && (s.kind == NONE || sending[i].base == s.last)
#endif
#ifdef NOTOKEN
	:: else -> m[i].accepted = isopen(s.kind)
#else
	:: else -> m[i].accepted = isopen(s.kind) && ((sending[i].token != 0 && sending[i].token == s.token) ||
		(sending[i].token == 0 && s.live && s.owner == i))
#endif
	fi;
	if
	:: m[i].accepted ->
		assert(sending[i].kind == OPENED || !(s.counted & (1 << sending[i].begun)));      /* 1 */
		assert(sending[i].kind != OPENED || s.kind == NONE || sending[i].when > s.when); /* 2 */
		places++;
		assert(places < IDS);
		log[places].prev = s.last; log[places].kind = sending[i].kind; log[places].when = sending[i].when; log[places].there = 1;
		s.last = places; s.kind = sending[i].kind;
		s.token = 0; s.owner = 0; s.live = 0;
		s.when = sending[i].when;
		s.counted = (sending[i].kind == OPENED -> s.counted : s.counted | (1 << sending[i].begun));
		m[i].place = places
	:: else
	fi
}

/* ---- the members ---- */

byte j, next;     /* all of these are 0 between steps */
bool news, again;

inline after(i) { /* the next entry of the log that i has not read; 0: none */
	d_step {
		next = m[i].last + 1;
		do
		:: next >= IDS -> next = 0; break
		:: next < IDS && log[next].there -> break
		:: else -> next++
		od
	}
}

inline erase(place) { log[place].prev = 0; log[place].kind = 0; log[place].when = 0; log[place].there = 0 }

#define unread(i, place) (m[i].live && m[i].epoch == s.epoch && m[i].last < place)

/* 3, and what nobody will read again is cleared. */
inline check(i) {
	d_step {
		j = 1;
		do
		:: j <= places && !unread(0, j) && !unread(1, j) && !unread(N - 1, j) -> erase(j); j++
		:: else -> break
		od;
		j = 0
	}
	assert(!(current(i) && m[i].last == s.last && m[i].waiting == 0 && !m[i].sent && m[i].gen == s.last) || m[i].open == isopen(s.kind))
}

active [N] proctype member() {
	byte i = _pid;
end:	do
	/* The engine. A tool of which three calls failed opens; of a trial one counts. */
	:: atomic { !m[i].open && fails > 0 ->
		fails--; clock++;
		m[i].open = 1; m[i].failedAt = clock;
		offer(i, OPENED); check(i)
	}
	:: atomic { m[i].open && !m[i].probing && (m[i].leased || !m[i].bound && !m[i].tried) ->
		m[i].tried = !m[i].bound; m[i].probing = 1; m[i].begun = m[i].gen; check(i)
	}
	:: atomic { m[i].probing && !m[i].leased && m[i].bound -> /* stale */
		m[i].probing = 0; m[i].begun = 0; check(i)
	}
	:: atomic { m[i].probing && (m[i].leased || !m[i].bound) -> /* it succeeds */
		clock++;
		m[i].open = 0; m[i].probing = 0; m[i].leased = 0; m[i].failedAt = 0;
		offer(i, CLOSED); m[i].begun = 0; check(i)
	}
	:: atomic { m[i].probing && (m[i].leased || !m[i].bound) && fails > 0 -> /* it fails */
		fails--; clock++;
		m[i].probing = 0; m[i].leased = 0; m[i].failedAt = clock;
		offer(i, FAILED); m[i].begun = 0; check(i)
	}

	/* The loop: one thing at a time. */
	:: atomic { !m[i].live -> join(i); check(i) }
	:: atomic { m[i].live && !m[i].bound && m[i].waiting == 0 && !m[i].sent && m[i].epoch == s.epoch ->
		m[i].bound = 1; m[i].tried = 0; check(i) /* connected */
	}
	:: atomic { m[i].live && !m[i].sent && (m[i].epoch != s.epoch || behind(i)) ->
		forget(i); join(i); check(i) /* a beat, or a script, says so */
	}
	:: atomic { m[i].live && !m[i].sent && m[i].waiting > 0 && m[i].epoch == s.epoch ->
		queue[i]?sending[i].kind, sending[i].base, sending[i].token, sending[i].begun, sending[i].when;
		m[i].waiting--;
		if
		:: m[i].above != 0 -> sending[i].base = m[i].above; m[i].above = 0
		:: else
		fi;
		m[i].sent = 1;
		publish(i)
	}
	:: atomic { m[i].sent -> /* the verdict is there */
		if
		:: sending[i].token != 0 && sending[i].token == m[i].token -> m[i].token = 0
		:: else
		fi;
		m[i].sent = 0;
		if
		:: m[i].accepted ->
			m[i].gen = m[i].place; m[i].kind = sending[i].kind; m[i].when = sending[i].when;
			if
			:: m[i].waiting > 0 -> m[i].above = m[i].place
			:: else
			fi;
			m[i].accepted = 0; m[i].place = 0;
			unsend(i);
			reconcile(i)
		:: else -> unsend(i); learn(i)
		fi;
		check(i)
	}
	:: atomic { m[i].live && !m[i].sent && m[i].epoch == s.epoch && s.last > m[i].last -> /* read */
		after(i);
		if
		:: next == 0
		:: next != 0 && log[next].prev != m[i].last -> join(i)
		:: next != 0 && log[next].prev == m[i].last ->
			m[i].last = next;
			if
			:: next > m[i].gen -> m[i].gen = next; m[i].kind = log[next].kind; m[i].when = log[next].when; adopt(i, log[next].kind, log[next].when)
			:: else
			fi
		fi;
		next = 0;
		check(i)
	}

	/* The lease. */
	:: atomic { m[i].live && m[i].bound && m[i].open && !m[i].leased && wishes(i) && m[i].waiting == 0 && !m[i].sent &&
			m[i].epoch == s.epoch && isopen(s.kind) && s.last == m[i].gen && (!s.live || s.owner == i) ->
		if
		:: s.live
		:: else -> tokens++; s.token = tokens; s.owner = i; s.live = 1
		fi;
		m[i].token = s.token; m[i].leased = 1; check(i)
	}
	:: atomic { m[i].live && m[i].bound && m[i].open && !m[i].leased && !m[i].probing && m[i].waiting == 0 && !m[i].sent &&
			m[i].epoch == s.epoch && !(isopen(s.kind) && s.last == m[i].gen) &&
			(m[i].gen < s.last || s.kind == NONE && m[i].kind != NONE) ->
		learn(i); check(i) /* refused, and why */
	}
	:: atomic { m[i].live && !m[i].sent && m[i].token != 0 && m[i].waiting == 0 && m[i].epoch == s.epoch && !(s.live && s.token == m[i].token) ->
		m[i].leased = 0; m[i].token = 0; check(i) /* not renewed */
	}

	/* Troubles of one member. */
	:: atomic { troubles > 0 && m[i].leased -> /* doubt */
		troubles--; m[i].leased = 0; check(i)
	}
	:: atomic { troubles > 0 && m[i].live -> /* cut */
		troubles--;
		forget(i);
		m[i].live = 0; m[i].bound = 0; m[i].leased = 0; m[i].token = 0; check(i)
	}
	:: atomic { troubles > 0 && m[i].live -> /* crash */
		troubles--;
		forget(i);
		if
		:: s.token != 0 && s.owner == i -> s.owner = NOBODY
		:: else
		fi;
		if
		:: replica.token != 0 && replica.owner == i -> replica.owner = NOBODY
		:: else
		fi;
		m[i].open = 0; m[i].probing = 0; m[i].leased = 0; m[i].bound = 0; m[i].tried = 0; m[i].live = 0;
		m[i].token = 0; m[i].epoch = 0; m[i].last = 0; m[i].gen = 0; m[i].kind = 0; m[i].when = 0;
		m[i].begun = 0; m[i].failedAt = 0;
		check(i)
	}
	od
}

/* A lease that nobody renews ends. */
active proctype expiry() {
end:	do
	:: atomic { s.live && (s.owner == NOBODY || m[s.owner].token != s.token) -> s.live = 0 }
	od
}

inline copy(to, from) {
	to.epoch = from.epoch; to.last = from.last; to.kind = from.kind; to.when = from.when;
	to.token = from.token; to.owner = from.owner; to.live = from.live; to.counted = from.counted
}

inline void(store) {
	store.epoch = 0; store.last = 0; store.kind = 0; store.when = 0; store.token = 0; store.owner = 0; store.live = 0; store.counted = 0
}

/* The log ends at a place. */
inline cut(place) {
	d_step {
		j = place + 1;
		do
		:: j < IDS -> erase(j); j++
		:: else -> break
		od;
		j = 0
	}
}

active proctype store() {
end:	do
	:: atomic { troubles > 0 && s.live && s.owner != NOBODY && m[s.owner].token == s.token -> /* slow */
		troubles--; s.live = 0
	}
	:: atomic { troubles > 0 && !lagging && s.epoch != 0 -> troubles--; lagging = 1; copy(replica, s) }
	:: atomic { lagging -> cut(replica.last); copy(s, replica); void(replica); lagging = 0 } /* failover */
	:: atomic { troubles > 0 && s.epoch != 0 -> /* wipe */
		troubles--; cut(0); void(s); void(replica); lagging = 0
	}
	:: atomic { fails + troubles + lagging > 0 -> /* nothing more happens */
		fails = 0; troubles = 0; lagging = 0; void(replica)
	}
	od
}

/* 4: every end is a good one. */
#define recovered(i) (m[i].live && m[i].bound && !m[i].open && m[i].epoch == s.epoch && m[i].last == s.last)

active proctype verdict() {
end:	atomic { timeout -> assert(plain(s.kind) && recovered(0) && recovered(1) && recovered(N - 1)) }
}

