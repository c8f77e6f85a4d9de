package cascade_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
)

var (
	now      = cascade.Moment{Step: 10, At: 1_000_000}
	edge     = cascade.Moment{Step: 7, At: 700_000}
	tooFar   = cascade.Moment{Step: 6, At: 1_000_000}
	tooLong  = cascade.Moment{Step: 10, At: 699_999}
	detector = cascade.Detector{Window: cascade.Window{Steps: 3, MS: 300_000}, MinTools: 3}

	network = cascade.Failure{Category: cascade.Network}
	dns     = cascade.Failure{Category: cascade.Network, Signature: "no such host"}
	host    = cascade.Failure{Category: cascade.Unknown, Signature: "no such host"}
	broken  = cascade.Failure{Category: cascade.Upstream}
)

func TestWindowSection7(t *testing.T) {
	for name, tt := range map[string]struct {
		then cascade.Moment
		want bool
	}{
		"now": {now, true}, "the edge": {edge, true}, "one step more": {tooFar, false}, "one millisecond more": {tooLong, false},
		"no time given": {cascade.Moment{Step: 10}, false},
	} {
		if got := detector.Window.Holds(tt.then, now); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

// open is a tool that opened by itself.
func open(tool int, trip cascade.Failure, at cascade.Moment) cascade.View {
	return cascade.View{Source: cascade.Source{Tool: tool}, Tripped: true, Trip: trip, TripAt: at, Failing: true, Latest: broken, LatestAt: at}
}

// suspect is a CLOSED tool whose latest outcome is a failure.
func suspect(tool int, latest cascade.Failure, at cascade.Moment) cascade.View {
	return cascade.View{Source: cascade.Source{Tool: tool}, Closed: true, Failing: true, Latest: latest, LatestAt: at}
}

func with(v cascade.View, change func(*cascade.View)) cascade.View {
	change(&v)
	return v
}

// Tool 5 opens with a network failure.
func TestOpenedSection7(t *testing.T) {
	self := open(5, network, now)
	tests := []struct {
		name  string
		f     cascade.Failure
		views []cascade.View
		want  *cascade.Finding
	}{
		{"alone", network, []cascade.View{self}, nil},
		{"a matching peer", network, []cascade.View{open(1, network, edge), self}, &cascade.Finding{Cause: "network", Members: []int{5, 1}}},
		{"by its tripping failure, not by its latest", broken, []cascade.View{open(1, network, now), self}, nil},
		{"too many steps ago", network, []cascade.View{open(1, network, tooFar), self}, nil},
		{"too long ago", network, []cascade.View{open(1, network, tooLong), self}, nil},
		{"closed since", network, []cascade.View{with(open(1, network, now), func(v *cascade.View) { v.Closed, v.Failing = true, false }), self}, nil},
		{"forced open", network, []cascade.View{with(open(1, network, now), func(v *cascade.View) { v.Tripped = false }), self}, nil},
		{"only a suspect", network, []cascade.View{suspect(1, network, now), self}, nil},
		{"a peer and suspects", network, []cascade.View{suspect(1, network, edge), open(2, network, now), self, suspect(6, network, now)},
			&cascade.Finding{Cause: "network", Members: []int{5, 2, 1, 6}, Suspects: []int{1, 6}}},
		{"suspects of another failure, or of long ago", network, []cascade.View{suspect(1, broken, now), open(2, network, now), suspect(3, network, tooFar), self},
			&cascade.Finding{Cause: "network", Members: []int{5, 2}}},
		{"a suspect that works again", network, []cascade.View{open(1, network, now), with(suspect(2, network, now), func(v *cascade.View) { v.Failing = false }), self},
			&cascade.Finding{Cause: "network", Members: []int{5, 1}}},
		{"by words alone", host, []cascade.View{open(1, dns, now), self}, &cascade.Finding{Cause: "signature", Members: []int{5, 1}}},
		{"the category of one peer is enough", dns, []cascade.View{open(1, host, now), open(2, network, now), self}, &cascade.Finding{Cause: "network", Members: []int{5, 1, 2}}},
		{"the category of a suspect is enough", dns, []cascade.View{open(1, host, now), suspect(2, network, now), self},
			&cascade.Finding{Cause: "network", Members: []int{5, 1, 2}, Suspects: []int{2}}},
		{"unknown is no cause", host, []cascade.View{open(1, host, now), self}, &cascade.Finding{Cause: "signature", Members: []int{5, 1}}},
		{"two at once", broken, []cascade.View{open(1, network, now), self}, nil},
		{"three at once", broken, []cascade.View{open(1, network, now), open(2, host, now), self}, &cascade.Finding{Cause: "mixed", Members: []int{5, 1, 2}}},
		{"three, one of them long ago", broken, []cascade.View{open(1, network, now), open(2, host, tooLong), self}, nil},
		{"suspects do not make three", broken, []cascade.View{open(1, network, now), suspect(2, broken, now), self}, nil},
		{"a shared cause goes first", network, []cascade.View{open(1, network, now), open(2, broken, now), self}, &cascade.Finding{Cause: "network", Members: []int{5, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, ok := detector.Opened(cascade.Source{Tool: 5}, tt.f, now, tt.views)
			if ok != (tt.want != nil) {
				t.Fatalf("got %+v, %v, want %+v", found, ok, tt.want)
			}
			if tt.want != nil {
				if diff := cmp.Diff(*tt.want, found); diff != "" {
					t.Errorf("finding (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Tool 5 is CLOSED and its failure exhausts the budget.
func TestVergeSection7(t *testing.T) {
	self := suspect(5, network, now)
	tests := []struct {
		name  string
		views []cascade.View
		want  []int // members; nil: none
	}{
		{"alone", []cascade.View{self}, nil},
		{"a matching peer", []cascade.View{open(1, network, now), self}, []int{5, 1}},
		{"a suspect", []cascade.View{suspect(1, network, now), self}, []int{5, 1}},
		{"others, which do not match", []cascade.View{open(1, broken, now), open(2, host, now), suspect(3, broken, now), self}, nil},
	}
	for _, tt := range tests {
		found, ok := detector.Verge(cascade.Source{Tool: 5}, network, now, tt.views)
		if ok != (tt.want != nil) {
			t.Errorf("%s: got %+v, %v", tt.name, found, ok)
		}
		if diff := cmp.Diff(tt.want, found.Members); ok && diff != "" {
			t.Errorf("%s: members (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestSuspectedSection7(t *testing.T) {
	worked := func(v cascade.View) cascade.View {
		v.Succeeded = true
		return v
	}
	self := worked(suspect(5, network, now))
	one, two := worked(suspect(1, network, edge)), worked(open(2, host, now))
	two.Latest = network
	tests := []struct {
		name  string
		views []cascade.View
		want  bool
	}{
		{"three that worked before", []cascade.View{one, two, self}, true},
		{"two", []cascade.View{one, self}, false},
		{"one that never worked", []cascade.View{one, suspect(2, network, now), self}, false},
		{"one of long ago", []cascade.View{one, worked(suspect(2, network, tooLong)), self}, false},
		{"one that works again", []cascade.View{one, with(two, func(v *cascade.View) { v.Failing = false }), self}, false},
		{"one that fails otherwise", []cascade.View{one, worked(suspect(2, broken, now)), self}, false},
	}
	for _, tt := range tests {
		found, ok := detector.Suspected(cascade.Source{Tool: 5}, network, now, tt.views)
		if ok != tt.want {
			t.Errorf("%s: got %+v, %v", tt.name, found, ok)
		}
		if diff := cmp.Diff(cascade.Finding{Cause: "network", Members: []int{1, 2, 5}}, found); ok && diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	a, b, c := worked(suspect(1, host, now)), worked(suspect(2, host, now)), worked(suspect(5, host, now))
	if found, ok := detector.Suspected(cascade.Source{Tool: 5}, host, now, []cascade.View{a, b, c}); !ok || found.Cause != cascade.CauseSignature {
		t.Errorf("by words alone: got %+v, %v", found, ok)
	}
}
