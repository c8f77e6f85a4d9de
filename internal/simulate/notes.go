package simulate

import "fmt"

// sameWords and ownWords say how the errors of tools read.
const (
	sameWords = "All tools fail with the same words, as a bare timeout or 503 does. The engine takes equal words of two tools for one cause, so that failures that are independent here may look systemic to it; --own-words has each error name its tool."
	ownWords  = "The error of each tool names it, so that only the category can join failures of two tools. Without --own-words all tools fail with the same words."
)

// notes are what the figures of a Config assume.
func notes(c Config) []string {
	words := sameWords
	if c.OwnWords {
		words = ownWords
	}
	return []string{
		fmt.Sprintf("Figures are means over %d seeds; the interval is the 5th to the 95th percentile. All ways meet the same faults, which depend on the seed, the call and the time alone.", c.Seeds),
		"Agents share the tools and their faults, but no breaker: each is a process of its own, and one run of it is one budget until the user answers a pause.",
		fmt.Sprintf("A request costs a turn of %d s; a call then takes 0.5 to 3.5 s and 500 to 2,000 tokens, a denied request %d tokens. A dead tool's error comes after %d s, a slow tool's after %d s.",
			thinkMS/1000, denialTokens, refusedMS/1000, deadlineMS/1000),
		fmt.Sprintf("Agents without expediter repeat a failed call up to %d times, then give the sub-task up and go on. That they take no alternative and write no report is an assumption, not a finding.", c.Retries),
		"The backoff is the schedule of cenkalti/backoff from 1 s, doubling, without jitter.",
		"gobreaker has its defaults (open after 6 failures in a row, 60 s, one trial) and retries at once behind it; a refusal gives the sub-task up. Its clock cannot be set: its distributed breaker runs with its state in a store that tells it by the virtual time whether it has expired.",
		fmt.Sprintf("With expediter the user answers up to %d pauses of an agent, %d minutes after each, and says go on without knowing whether anything is repaired. That time is in the minutes. Where the answers are used up the run ends, so that fewer doomed calls are then also fewer calls.", c.Answers, answerMS/60_000),
		"Of eight tools three have an alternative in the map; degraded counts what they saved, and no other way is given them.",
		"A rate is the share of calls (transient, silent) or of time (slow, correlated, flapping) in which a tool is down; permanent: twice that share of the tools dies at some moment. Correlated touches four of the tools.",
		words,
		"Every failure here is a broken tool. What wrong calls do to a breaker is no part of this simulation.",
		"Silent: wrong data without an error. No way of working sees it, so that all figures are equal; wrong counts the sub-tasks that are done with such data.",
	}
}
