package analysis

import "fmt"

// notes say what the figures cannot tell.
func (a *analysis) notes(r *Result) []string {
	notes := []string{
		"A static replay cannot know what the agent would have done instead of a call that is denied: the recording goes on as it was.",
	}
	if a.early {
		notes = append(notes, "Reading ended early: the figures are of what was read until then.")
	}
	if a.untimed > 0 {
		notes = append(notes, fmt.Sprintf("Sessions without times: %d. Rules that go by time (not_before_ms, after_ms, windows in milliseconds) do not apply to them.", a.untimed))
	}
	if a.sessions.cut > 0 {
		notes = append(notes, fmt.Sprintf("Too many long sessions were open at once. Sessions ended early, which went on as new ones: %d.", a.sessions.cut))
	}
	if a.Splice {
		notes = append(notes, "Spliced outages are made up. Their texts are judged as those of real calls; their length and place are drawn by the seed.")
	}
	if r.Suggested == nil && a.Suggest {
		notes = append(notes, fmt.Sprintf("No policy is suggested: each one that was tried, and that a file can set, loses more than 1 call in %d, saves fewer than nine for each one lost, or pauses more than %.0f %% of the sessions.", lostOnePer, maxPausedShare*100))
	}
	if r.Calls < lostOnePer {
		notes = append(notes, fmt.Sprintf("%d calls are few: what was never lost here may be lost at a rate of 1 in %d all the same.", r.Calls, max(r.Calls/3, 1)))
	}
	return notes
}
