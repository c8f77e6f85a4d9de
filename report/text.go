package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/scope"
)

// Text writes the whole report as plain text, in one write.
func (r Report) Text(w io.Writer) error {
	head := "Run report: " + r.Task + "\n"
	if r.Task == "" {
		head = "Run report\n"
	}
	head += "Outcome: " + because(strings.ToUpper(r.Outcome.String()), r.Summary) + "\n"
	parts := []string{head, r.statusText(), textList("Policy", r.policyLines())}
	if r.Budget != nil {
		parts = append(parts, r.tableText(), r.budgetText())
	}
	if r.Scope != nil {
		parts = append(parts, scopeText(r.Scope))
	}
	parts = append(parts, textLists(r.details())...)
	return write(w, append(parts, r.dataText())...)
}

// StateTable writes the state table and the budget's line, then the effective
// policy.
func StateTable(w io.Writer, st expediter.Status) error {
	r := New(Input{Status: &st})
	return write(w, r.tableText(), textList("Policy", r.policyLines()))
}

// BudgetStatus writes the failures of this cycle and what is left, then the
// effective policy.
func BudgetStatus(w io.Writer, st expediter.Status) error {
	r := New(Input{Status: &st})
	return write(w, r.budgetText(), textList("Policy", r.policyLines()))
}

// Pause writes what a pause must tell: the work, the tools' health, the
// budget, what to do, and the effective policy.
func Pause(w io.Writer, in Input) error {
	r := New(in)
	parts := append([]string{r.statusText()}, textLists(r.cautions())...)
	parts = append(parts, textList("Policy", r.policyLines()))
	if len(r.Missing) > 0 && (in.Status == nil || in.Work == nil) {
		parts = append(parts, textList("Missing", plainLines(r.Missing)))
	}
	return write(w, parts...)
}

// Systemic writes the incidents that have not ended, the tools they affect,
// and what to do, then the effective policy.
func Systemic(w io.Writer, st expediter.Status) error {
	r := New(Input{Status: &st})
	var parts []string
	switch {
	case len(r.Incidents) == 0:
		parts = []string{"NO SYSTEMIC FAILURE\n"}
	case st.Paused == expediter.Systemic:
		parts = []string{r.banner() + "\n"}
	default:
		parts = []string{"SYSTEMIC FAILURE — RECOVERING\n"}
	}
	for _, inc := range r.Incidents {
		parts = append(parts, inc.Line+"\n")
	}
	if r.Suspicion != nil {
		parts = append(parts, "Suspicion: "+r.Suspicion.Line+"\n")
	}
	if len(r.Incidents) > 0 {
		parts = append(parts, textList("Incidents", r.incidentLines()))
	}
	parts = append(parts, textList("Tool health", r.healthLines()), r.failuresText())
	return write(w, append(parts, numbered(r.Recommendations), textList("Policy", r.policyLines()))...)
}

// ScopeReduction writes what is still achievable and what is deferred, then
// the policy of the engine, if one is given.
func ScopeReduction(w io.Writer, res scope.Result, st *expediter.Status) error {
	r := New(Input{Scope: &res, Status: st})
	return write(w, scopeText(r.Scope), textList("Policy", r.policyLines()))
}

// statusText is the body of the pause report, which every report has.
func (r Report) statusText() string {
	banner := r.banner()
	if banner != "" {
		banner += "\n"
	}
	for _, inc := range r.Incidents {
		banner = strings.TrimPrefix(banner+"\n"+inc.Line+"\n", "\n")
	}
	return blocks(banner, dashed("Completed work", r.workLines(true)), dashed("Incomplete work", r.workLines(false)),
		textList("Tool health", r.healthLines()), r.failuresText(), numbered(r.Recommendations))
}

func (r Report) failuresText() string {
	switch {
	case r.Budget == nil:
		return "Failures: unknown\n"
	case r.Budget.Limit < 0:
		return "Failures: " + r.Budget.spent() + ", no budget set\n"
	}
	return "Failures: " + r.Budget.spent() + " budget consumed\n"
}

// tableText is the state table with the budget's line.
func (r Report) tableText() string {
	rows := [][]string{{"Tool", "State", "Consecutive Fails", "Last Failure", "Last Success"}}
	for _, t := range r.Tools {
		rows = append(rows, []string{t.Tool, t.State, fmt.Sprint(t.Fails), r.whenOrNever(t.LastFailure), r.whenOrNever(t.LastSuccess)})
	}
	return "Circuit Breaker State Table:\n" + grid(rows, []int{10, 6, 17, 16, 15}) + "\n" + r.budgetLine() + "\n"
}

func (r Report) budgetLine() string {
	if r.Budget.Limit < 0 {
		return "Failure budget: " + r.Budget.spent() + " consumed, no limit"
	}
	return "Failure budget: " + r.Budget.spent() + " consumed"
}

func (r Report) whenOrNever(m *Moment) string {
	if m == nil {
		return "—"
	}
	return r.when(*m)
}

// grid draws a table with borders; the first row is its head. A column is as
// wide as its longest cell, and at least as wide as given.
func grid(rows [][]string, widths []int) string {
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], redact.Width(cell))
		}
	}
	rule := "+"
	for _, n := range widths {
		rule += strings.Repeat("-", n+2) + "+"
	}
	var b strings.Builder
	b.WriteString(rule + "\n")
	for i, row := range rows {
		for j, cell := range row {
			b.WriteString("| " + redact.Pad(cell, widths[j]) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(rule + "\n")
		}
	}
	b.WriteString(rule + "\n")
	return b.String()
}

func (r Report) budgetText() string {
	b := r.Budget
	head := fmt.Sprintf("Budget: %s per cycle\nCurrent: %s consumed\n", count(b.Limit, "failure"), b.spent())
	if b.Limit < 0 {
		head = fmt.Sprintf("Budget: unlimited\nCurrent: %s consumed\n", b.spent())
	}
	var charges strings.Builder
	for _, l := range r.chargeLines() {
		charges.WriteString("  " + l.Text + "\n")
	}
	next := ""
	if b.Limit-b.Consumed == 1 && b.Limit > 0 {
		next = "→ Next tool call proceeds with heightened caution\n→ If it fails: PAUSE and generate status report\n"
	}
	return blocks("Failure Budget Enforcement:\n", head, charges.String(), "Status: "+b.status()+"\n", next)
}

func scopeText(s *scope.Result) string {
	lines := scopeLines(s)
	wide, digits := 0, 1
	for _, l := range lines {
		wide, digits = max(wide, redact.Width(l.title)), max(digits, len(fmt.Sprint(l.number)))
	}
	var items strings.Builder
	fmt.Fprintf(&items, "Original scope: %s\n", count(len(lines), "sub-task"))
	for _, l := range lines {
		mark := " "
		if l.achievable {
			mark = "x"
		}
		fmt.Fprintf(&items, "  [%s] %*d. %s    (%s)\n", mark, digits, l.number, redact.Pad(l.title, wide), l.tools)
		for _, s := range l.Sub {
			items.WriteString(strings.Repeat(" ", 8+digits) + s + "\n")
		}
	}
	achievable := len(s.Numbers(scope.Keep, scope.Degraded, scope.Done))
	totals := fmt.Sprintf("Reduced scope: %s achievable\n", count(achievable, "sub-task"))
	if failed := len(s.Numbers(scope.Failed)); failed > 0 {
		totals += fmt.Sprintf("Failed: %s\n", count(failed, "sub-task"))
	}
	totals += "Deferred: " + strings.Join(deferredLines(s), "\n          ") + "\n"
	return blocks("Scope Reduction Report:\n", items.String(), totals, "Recommendation: "+strings.Join(scopeAdvice(s), "\n")+"\n")
}

func (r Report) dataText() string {
	var b strings.Builder
	for _, w := range r.Work {
		if len(w.Data) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  Sub-task %d: %s\n", w.Number, w.Title)
		for _, d := range w.Data {
			b.WriteString("    " + d.Tool + ":\n")
			for _, l := range append(nonEmpty(d.Label), d.Lines...) {
				b.WriteString(strings.TrimRight("      "+l, " ") + "\n")
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "Results:\n" + b.String()
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// section is a titled list of a full report.
type section struct {
	title string
	lines []line
}

// details are the parts of a full report that only some runs have.
func (r Report) details() []section {
	var suspicion, decisions []line
	if r.Suspicion != nil {
		suspicion = []line{{Text: r.Suspicion.Line}}
	}
	if r.Decisions != nil {
		decisions = []line{{Text: r.Decisions.words()}}
	}
	return append(r.cautions(), []section{
		{"Unavailable tools", r.openLines()},
		{"Incidents", r.incidentLines()},
		{"Incident history", r.historyLines()},
		{"Suspicion", suspicion},
		{"Routes advised", r.routeLines()},
		{"Known issues", r.issueLines()},
		{"Decisions", decisions},
		{"Notes", plainLines(r.Notes)},
		{"Missing", plainLines(r.Missing)},
	}...)
}

// cautions are the parts that a pause tells too: what may have happened, and
// what is not a tool's own.
func (r Report) cautions() []section {
	return []section{
		{unverifiedTitle, r.unverifiedLines()},
		{"Substituted values", r.substituteLines()},
	}
}

// textLists leaves out sections that are empty.
func textLists(sections []section) []string {
	var texts []string
	for _, s := range sections {
		if s.lines != nil {
			texts = append(texts, textList(s.title, s.lines))
		}
	}
	return texts
}

func textList(title string, lines []line) string { return listed(title, "  ", lines) }

func dashed(title string, lines []line) string { return listed(title, "  - ", lines) }

func listed(title, lead string, lines []line) string {
	var b strings.Builder
	b.WriteString(title + ":\n")
	for _, l := range lines {
		b.WriteString(lead + l.Text + "\n")
		for _, s := range l.Sub {
			b.WriteString("      " + s + "\n")
		}
	}
	return b.String()
}

func numbered(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Recommendation:\n")
	for i, t := range texts {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, t)
	}
	return b.String()
}

// blocks joins the parts that have something to say with an empty line.
func blocks(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, "\n")
}

func write(w io.Writer, parts ...string) error {
	_, err := io.WriteString(w, blocks(parts...))
	return err
}
