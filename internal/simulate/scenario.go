package simulate

import (
	"slices"

	"github.com/expediter-go/expediter/capability"
)

// device is one tool of the scenario.
type device struct {
	name    string
	weight  int    // how often sub-tasks need it
	network bool   // falls with the others in an episode
	instead string // what may stand in for it; empty: nothing
	level   capability.Level
	final   bool // nothing may ever stand in
}

// devices are the tools of every scenario: three have an alternative, one of
// them a poor one.
var devices = []device{
	{name: "fetch", weight: 4, network: true, instead: "mirror", level: capability.Low},
	{name: "search", weight: 4, network: true, instead: "index", level: capability.High},
	{name: "files", weight: 5, instead: "shell", level: capability.Low},
	{name: "shell", weight: 3},
	{name: "mirror", weight: 1, network: true},
	{name: "index", weight: 1},
	{name: "database", weight: 3},
	{name: "deploy", weight: 1, network: true, final: true},
}

func deviceIndex(name string) int {
	return slices.IndexFunc(devices, func(d device) bool { return d.name == name })
}

// capabilities is the map that the engine is given.
func capabilities() capability.Map {
	m := make(capability.Map, 0, len(devices))
	for _, d := range devices {
		e := capability.Entry{Tool: d.name, NoSubstitute: d.final}
		if d.instead != "" {
			e.Alternatives = []capability.Alternative{{Tool: d.instead, Level: d.level, Degradation: "less exact"}}
		}
		m = append(m, e)
	}
	return m
}

// maxCalls is how many calls a sub-task makes at most; at least 1.
const maxCalls = 3

// plan lists the tools that each sub-task of an agent calls, in order, by their
// index in devices.
func plan(seed uint64, agent, subtasks int) [][]int {
	var deck []int
	for i, d := range devices {
		for range d.weight {
			deck = append(deck, i)
		}
	}
	r := stream(seed, planStream, uint64(agent))
	list := make([][]int, subtasks)
	for i := range list {
		list[i] = make([]int, 1+r.IntN(maxCalls))
		for j := range list[i] {
			list[i][j] = deck[r.IntN(len(deck))]
		}
	}
	return list
}
