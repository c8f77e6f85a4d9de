package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/control"
	"github.com/expediter-go/expediter/internal/session"
)

// sessionsView is what sessions tells, as JSON.
type sessionsView struct {
	Format     int          `json:"format"` // see statusFormat
	Store      string       `json:"store"`
	Sessions   []sessionRow `json:"sessions"` // the latest first
	Unreadable []string     `json:"unreadable"`
	Aside      []asideView  `json:"set_aside"`
}

type sessionRow struct {
	sessionView
	Short  string   `json:"short_id"`   // as much of the id as tells it from the others
	Open   []string `json:"open_tools"` // that are not closed; null: its state cannot be read
	Paused string   `json:"paused"`     // systemic, budget or empty
	Bytes  int64    `json:"bytes"`
}

func sessionsCommand() *cobra.Command {
	var f storeFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of coding agents and of proxies in the store",
		Long: `sessions lists all sessions of the store, the latest first: the agent, as much of
the session's id as the other commands need to find it, the project, when it began
and was last seen, the prompts, the tools that are not closed, and its size. Then
the files that could not be read, and those that were set aside.

--json prints one object: format, store, sessions (with the names of 'expediter
status --json', short_id, open_tools, null where they cannot be read, paused,
bytes), unreadable, set_aside.`,
		Example: `  expediter sessions
  expediter status --session 4f3c2b1a`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := f.list(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), v)
			}
			return v.print(cmd.OutOrStdout(), time.Now())
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// list looks at every session of the store.
func (f *storeFlag) list(cmd *cobra.Command) (sessionsView, error) {
	dir, st, err := f.open()
	if err != nil {
		return sessionsView{}, err
	}
	v := sessionsView{Format: statusFormat, Store: redact.Text(dir, maxPath), Sessions: []sessionRow{}, Aside: []asideView{}}
	running := control.WriteAll(contextOf(cmd), st) // has a bound of its own
	ctx, cancel := patient(cmd, storeWait)
	all, unread := listSessions(ctx, st, running)
	cancel()
	v.Unreadable = append([]string{}, unjoin(unread)...)
	shorts, now := shortIDs(all), time.Now()
	for i, s := range all {
		row := sessionRow{sessionView: viewOf(s.Meta), Short: shorts[i], Bytes: s.Bytes}
		ctx, cancel := patient(cmd, shortWait)
		err := session.View(ctx, st, s.ID, now, func(s *session.Session) error {
			row.fill(s.Status())
			return nil
		})
		cancel()
		if err != nil {
			v.Unreadable = append(v.Unreadable, unjoin(fmt.Errorf("%s session %s: %w", s.Agent, s.Name(), err))...)
		}
		v.Sessions = append(v.Sessions, row)
	}
	v.Aside, err = setAside(st)
	v.Unreadable = append(v.Unreadable, unjoin(err)...)
	return v, nil
}

func (r *sessionRow) fill(st expediter.Status) {
	r.Paused, r.Open = st.Paused.String(), []string{}
	for _, t := range st.Tools {
		if t.State != breaker.Closed {
			r.Open = append(r.Open, redact.Text(t.Tool, maxTool))
		}
	}
}

// leastID is how much of an id is shown at least, in runes.
const leastID = 8

// shortIDs are as much of each session's id as tells it from the others. Where
// even the whole id does not, it is the whole.
func shortIDs(all []session.Summary) []string {
	names := make([][]rune, len(all))
	for i, s := range all {
		names[i] = []rune(s.Name())
	}
	sorted := slices.Clone(names)
	slices.SortFunc(sorted, slices.Compare)
	shorts := make([]string, len(all))
	for i, name := range names {
		at, _ := slices.BinarySearchFunc(sorted, name, slices.Compare)
		n := leastID
		if at > 0 {
			n = max(n, common(sorted[at-1], name)+1)
		}
		if at+1 < len(sorted) {
			n = max(n, common(sorted[at+1], name)+1)
		}
		shorts[i] = string(name[:min(n, len(name))])
	}
	return shorts
}

// common is the length of what two ids begin with alike.
func common(a, b []rune) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (v sessionsView) print(w io.Writer, now time.Time) error {
	lines := columns(v.rows(now), false)
	switch {
	case len(v.Sessions) > 0:
	case len(v.Unreadable) > 0:
		lines = []string{"No session in " + v.Store + " can be read."}
	default:
		lines = []string{"No sessions in " + v.Store + ". The first hook call of an agent makes one (see 'expediter install --help'), as does a client of 'expediter proxy'."}
	}
	if len(v.Unreadable) > 0 {
		lines = append(lines, "", "Cannot be read:")
	}
	for _, u := range v.Unreadable {
		lines = append(lines, "  - "+u)
	}
	lines = append(lines, asideLines(v.Aside)...)
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

func (v sessionsView) rows(now time.Time) [][]string {
	at := standing{Now: now.UnixMilli()}
	rows := [][]string{{"Agent", "Session", "Began", "Last seen", "Prompts", "Size", "State", "Project"}}
	for _, s := range v.Sessions {
		id := s.Short
		if id == "" {
			id = "—"
		}
		rows = append(rows, []string{s.who(), id, at.clock(s.Began), rough(at.Now-s.Seen) + " ago",
			fmt.Sprint(s.Prompts), size(s.Bytes), s.words(), s.Project})
	}
	return rows
}

// who is the agent, and what a proxy's client calls itself.
func (v sessionView) who() string {
	if v.Client == "" {
		return v.Agent
	}
	return v.Agent + " (" + v.Client + ")"
}

// words is what a session's state is, in few words.
func (r sessionRow) words() string {
	if r.Open == nil {
		return "not known"
	}
	var parts []string
	if r.Paused != "" {
		parts = append(parts, "PAUSED ("+r.Paused+")")
	}
	const most = 3
	names := r.Open[:min(len(r.Open), most)]
	if len(names) > 0 {
		text := "open: "
		for i, name := range names {
			if i > 0 {
				text += ", "
			}
			text += redact.Text(name, maxToolName)
		}
		if more := len(r.Open) - most; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, text)
	}
	if r.Ended {
		parts = append(parts, "ended")
	}
	if len(parts) == 0 {
		return "well"
	}
	return strings.Join(parts, "; ")
}

// size is a number of bytes in the unit that fits.
func size(n int64) string {
	switch {
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}
