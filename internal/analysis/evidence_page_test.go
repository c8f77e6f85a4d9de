package analysis_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/expediter-go/expediter/internal/analysis"
)

// evidenceInput is what docs/evidence.md is written from. A part that is
// missing is said to be missing.
type evidenceInput struct {
	Corpora   []corpus
	Incidents []incident
	Policies  []string // the columns of the incidents
}

// corpus is one set of recordings under the baselines.
type corpus struct {
	Name   string
	What   string // one sentence: where it comes from, what it lacks
	Result *analysis.Result
}

// incident is one incident as somebody told it, under each policy.
type incident struct {
	ID, What string
	Doomed   int               // calls of a broken tool, as reported; 0: none was broken, a breaker should keep out
	By       []analysis.Counts // in the order of evidenceInput.Policies
}

// writeEvidence writes the page as Markdown, in one write.
func writeEvidence(w io.Writer, in evidenceInput) error {
	var b bytes.Buffer
	b.WriteString(evidenceHead)
	for _, c := range in.Corpora {
		c.write(&b)
	}
	if len(in.Corpora) == 0 {
		b.WriteString("\nNo recordings were there when this page was made.\n")
	}
	in.writeIncidents(&b)
	b.WriteString(evidenceLimits)
	_, err := w.Write(b.Bytes())
	return err
}

const evidenceHead = `# Evidence

What the breaker would have done to recorded sessions of coding agents. This
page is made by ` + "`make evidence`" + `, from recordings that are not part of the
repository; the same recordings give the same page.

- **never opens**: no breaker. **all failures per tool**: the plain rule, three
  results in a row that are marked as errors, answers included, open the tool.
  **faithful** and **interactive**: ours; others are interactive with the change
  that their name tells.
- **failures**: the tool, or the way to it, was broken. **answered**: marked as
  errors, yet answers of a working tool (tests fail, nothing matches).
- **saved**: skipped, and failed in the recording. **lost**: skipped, and
  succeeded. **paused**: after a PAUSE, up to the user's next prompt; where a
  recording has no prompts, the call after a PAUSE begins a new cycle.
- **precision**: saved / (saved + lost).

A static replay cannot know what the agent would have done instead of a call
that is denied: the recording goes on as it was.
`

// evidenceLimits is where the breaker does not help.
const evidenceLimits = `
## Where the breaker does not help

- **Answers.** Most results that are marked as errors are the tool working: a
  test that fails, a file that is not there. No breaker should open on them, and
  none that is right will ever save them.
- **Wrong data without an error.** A tool that returns old or empty data and says
  so to nobody is healthy to a breaker. The freshness labels are for that.
- **Identical calls that succeed.** An agent that repeats a good call a hundred
  times is not stopped: nothing has failed.
- **Single failures.** A tool that fails once or twice and then works never
  reaches the threshold.
- **Short sessions.** A session with fewer calls of a tool than the threshold has
  nothing to save.
- **Flapping.** A tool that works every few calls is closed again each time, and
  each new run of failures costs the threshold anew. More good probes before it
  closes (half_open_successes) keep more of them from being made, and deny good
  calls for it: the table of outages has a row of it.
`

func (c *corpus) write(b *bytes.Buffer) {
	r := c.Result
	errors := r.Failures + r.Answered
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", c.Name, c.What)
	fmt.Fprintf(b, "%d sessions, %d calls. Marked as errors: %d results (%s of the calls). Of these, failures of a tool: %d (%s of the calls); answers: %d.\n\n",
		r.Sessions, r.Calls, errors, percent(errors, r.Calls), r.Failures, percent(r.Failures, r.Calls), r.Answered)
	rows := r.Policies
	if len(rows) == 0 {
		rows = []analysis.Row{r.Row}
	}
	table(b, "policy | saved | lost | of them answers | precision | paused calls | sessions paused | openings | probes", len(rows), func(i int) []any {
		p := &rows[i]
		return []any{p.Policy, p.Saved, p.Lost, p.LostAnswers, precisely(&p.Counts), p.Paused,
			fmt.Sprintf("%d (%s)", p.SessionsPaused, percent(p.SessionsPaused, p.Sessions)), p.Openings, p.Probes}
	})
	if r.Spliced != nil {
		writeSplice(b, r.Spliced)
	}
	if s := r.Suggested; s != nil {
		fmt.Fprintf(b, "\n### The policy that a sweep would choose: %s\n\n", s.Policy)
		for _, w := range s.Why {
			fmt.Fprintf(b, "- %s\n", w)
		}
		fmt.Fprintf(b, "\n```yaml\n%s```\n", s.PolicyYAML)
	}
}

// kinds are the kinds of outages in the order in which they are told.
var kinds = []string{analysis.OneTool, analysis.CommonCause, analysis.Flapping}

func writeSplice(b *bytes.Buffer, s *analysis.Splice) {
	fmt.Fprintf(b, "\n### Outages spliced in\n\n%d outages, each over %d to %d requests (seed %d: %d of one tool, %d of several tools with one cause, %d flapping, which let some of them pass), with error texts as real tools give them, judged as any other.\n\n",
		s.Outages, analysis.MinOutage, analysis.MaxOutage, s.Seed, s.ByKind[analysis.OneTool], s.ByKind[analysis.CommonCause], s.ByKind[analysis.Flapping])
	b.WriteString("**after** are the doomed requests that a breaker could know about: those after the tool had failed as often in a row as the threshold, or after the policy had begun to deny. A probe is made on purpose, so the share of them that was not made is told twice.\n\n")
	table(b, "policy | doomed | after | not made | share | share without probes | probes | good calls lost", len(s.Rows), func(i int) []any {
		p := &s.Rows[i]
		return []any{p.Policy, p.Doomed, p.After, p.Avoided, percent(p.Avoided, p.After), percent(p.Avoided, p.After-p.MadeProbes), p.MadeProbes, p.Lost}
	})
	b.WriteString("\nBy kind of outage, the share not made / the same without probes:\n\n")
	table(b, "policy | one tool | common cause | flapping", len(s.Rows), func(i int) []any {
		cells := []any{s.Rows[i].Policy}
		for _, k := range kinds {
			a := s.Rows[i].ByKind[k]
			cells = append(cells, percent(a.Avoided, a.After)+" / "+percent(a.Avoided, a.After-a.MadeProbes))
		}
		return cells
	})
	b.WriteString("\nRecovery, once for each tool of an outage: was it tried again within one probe interval after the outage's end? Requests during a PAUSE are no attempts and do not count against the interval; they are part of the longest wait.\n\n")
	table(b, "policy | tried again | within one interval | longest wait, requests | the recording ended first | of them overdue", len(s.Rows), func(i int) []any {
		p := &s.Rows[i]
		return []any{p.Policy, p.Recovered, fmt.Sprintf("%d (%s)", p.WithinOne, percent(p.WithinOne, p.Recovered)), p.MaxWait, p.Unresolved, p.Overdue}
	})
}

func (in *evidenceInput) writeIncidents(b *bytes.Buffer) {
	if len(in.Incidents) == 0 {
		return
	}
	b.WriteString("\n## Incidents that people reported\n\nEach as one run of an agent that a user set going once, so that a pause lasts. The cells are the calls denied (skipped + paused) / the doomed calls; for those where no tool was broken, the calls denied.\n\n")
	table(b, "incident | "+strings.Join(in.Policies, " | "), len(in.Incidents), func(i int) []any {
		n := &in.Incidents[i]
		cells := []any{n.ID + ": " + n.What}
		for _, c := range n.By {
			cells = append(cells, n.cell(&c))
		}
		return cells
	})
	b.WriteString("\n")
	for i, name := range in.Policies {
		denied, doomed := deniedCalls(in.Incidents, i)
		fmt.Fprintf(b, "- %s: %d of %d doomed calls of the broken tools not made (%s)\n", name, denied, doomed, percent(denied, doomed))
	}
}

// deniedCalls sums the incidents with a broken tool under one policy: the calls that
// it denied, of those that were doomed.
func deniedCalls(incidents []incident, policy int) (denied, doomed int) {
	for i := range incidents {
		n := &incidents[i]
		c := &n.By[policy]
		if n.Doomed > 0 {
			denied += min(c.Skipped+c.Paused, n.Doomed)
			doomed += n.Doomed
		}
	}
	return denied, doomed
}

func (n *incident) cell(c *analysis.Counts) string {
	if n.Doomed == 0 {
		return fmt.Sprint(c.Skipped + c.Paused)
	}
	return fmt.Sprintf("%d / %d", c.Skipped+c.Paused, n.Doomed)
}

// table writes a Markdown table.
func table(b *bytes.Buffer, head string, rows int, cells func(i int) []any) {
	columns := strings.Count(head, "|") + 1
	fmt.Fprintf(b, "| %s |\n|%s\n", head, strings.Repeat(" --- |", columns))
	for i := range rows {
		for _, c := range cells(i) {
			fmt.Fprintf(b, "| %s ", strings.ReplaceAll(fmt.Sprint(c), "|", "\\|"))
		}
		b.WriteString("|\n")
	}
}

// percent has a second decimal where the first would round a part to nothing.
func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	share := 100 * float64(n) / float64(of)
	if n > 0 && share < 0.05 {
		return fmt.Sprintf("%.2f %%", share)
	}
	return fmt.Sprintf("%.1f %%", share)
}

func precisely(c *analysis.Counts) string {
	if c.Saved+c.Lost == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", c.Precision)
}
