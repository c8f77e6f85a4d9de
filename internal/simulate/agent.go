package simulate

import "github.com/expediter-go/expediter/cascade"

// Costs of an agent's turn.
const (
	thinkMS      = 4_000 // before every request
	denialTokens = 300   // to read that a request was denied
)

// ending is what became of a sub-task. The zero value is open.
type ending uint8

const (
	open     ending = iota
	done            // as planned, with right data
	degraded        // an alternative stood in
	wrong           // done with wrong data, and nobody knows
	deferred        // not done, and a report names it with its true cause
	givenUp         // not done, and no report says so
)

// tally is what one agent did, or several together.
type tally struct {
	calls, doomed, probes int
	denied, deniedGood    int
	endings               [givenUp + 1]int
	pauses                int
	ms, tokens            int64
}

func (t *tally) add(other tally) {
	t.calls += other.calls
	t.doomed += other.doomed
	t.probes += other.probes
	t.denied += other.denied
	t.deniedGood += other.deniedGood
	for i, n := range other.endings {
		t.endings[i] += n
	}
	t.pauses += other.pauses
	t.ms += other.ms
	t.tokens += other.tokens
}

// agent is one agent at work. now is its clock, in ms.
type agent struct {
	world  *world
	number int
	plan   [][]int
	now    int64
	tally  tally
	doomed []int // calls of each tool made while it was down
}

func newAgent(w *world, number, subtasks int) *agent {
	return &agent{world: w, number: number, plan: plan(w.seed, number, subtasks), doomed: make([]int, len(devices))}
}

// call makes a request: a turn of the agent, then the tool.
func (a *agent) call(q request) fate {
	a.now += thinkMS
	f := a.world.fate(q, a.now)
	a.now += f.took
	a.tally.calls++
	a.tally.tokens += f.tokens
	if f.down {
		a.tally.doomed++
		a.doomed[q.tool]++
	}
	return f
}

// deny is a request that was not made: a turn, and nothing else.
func (a *agent) deny(q request) {
	a.now += thinkMS
	a.tally.denied++
	a.tally.tokens += denialTokens
	if !a.world.fate(q, a.now).down {
		a.tally.deniedGood++
	}
}

// end settles one sub-task.
func (a *agent) end(e ending) { a.tally.endings[e]++ }

// finish is the agent's whole account.
func (a *agent) finish() tally {
	a.tally.ms = a.now
	return a.tally
}

// failedFor reports whether a tool failed in this run, and for that cause.
func (a *agent) failedFor(tool string, cause cascade.Category) bool {
	i := deviceIndex(tool)
	return i >= 0 && a.doomed[i] > 0 && a.world.fault.cause == cause
}
