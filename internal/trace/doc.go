// Package trace reads recordings of agents (transcripts, rollouts,
// trajectories, spans, journals) as a stream of events: the user speaks, the
// agent asks for a call, the call's result is there. Each format is found by
// content, not by name. What a call says about its tool is judged by
// cascade/classify alone.
//
// Memory is bounded whatever the size of a recording. A recording that is
// damaged, foreign in parts or cut short is read as far as it goes; what was
// not understood is counted and said, never fatal.
package trace
