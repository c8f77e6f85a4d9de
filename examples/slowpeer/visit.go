package main

import "time"

// ending is what a caller of the orchestrator got.
type ending uint8

const (
	gaveUp  ending = iota // no slot within its patience
	refused               // an error at once: the call was not made
	failed                // an error after the call's deadline
	standIn               // something instead, at once or after the deadline
	own                   // the peer's own answer
)

// visit is one request from its arrival to its end.
type visit struct {
	peer    int
	arrived time.Duration
	started time.Duration // it got a slot; or it gave up
	ended   time.Duration
	end     ending
	reached bool          // the call was made: the peer heard of it
	probe   bool          // as the trial of a breaker that was not closed
	late    time.Duration // the machine's own delay before the caller came; virtual time has none
}

func (v visit) took() time.Duration { return v.ended - v.arrived }

// slower puts the times of a run that was made faster back into the plan's.
func slower(visits []visit, times float64) {
	for i := range visits {
		for _, d := range []*time.Duration{&visits[i].arrived, &visits[i].started, &visits[i].ended, &visits[i].late} {
			*d = time.Duration(float64(*d) * times)
		}
	}
}

// instead is the ending of a call that brought no answer of the peer.
func instead(end ending, standsIn bool) ending {
	if standsIn {
		return standIn
	}
	return end
}
