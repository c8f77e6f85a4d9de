package main

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/pattern"
	"github.com/expediter-go/expediter/internal/session"
)

var (
	planLead = pattern.New(`^(?:([0-9]{1,4})[.)]\s+|[-*+]\s+)?(?:\[([ xX>-])\](?:\s+|$))?`)
	planTail = pattern.New(`\s*\[(tools|after):([^\[\]]*)\]$`)
	taskLine = pattern.New(`(?m)^"?subtasks"?\s*:`)
)

// maxPlanLine bounds what is read of a line, in runes.
const maxPlanLine = 10_000

var planMarks = map[string]session.TodoState{"": session.TodoPending, " ": session.TodoPending, "x": session.TodoDone, "X": session.TodoDone,
	">": session.TodoActive, "-": session.TodoDropped}

// isTask reports whether an input is a task file, not a list of sub-tasks.
func isTask(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) || taskLine.RE().Match(data)
}

// parsePlan reads one sub-task from each line, in the form of 'plan set --help'.
// It reports everything that is wrong, each with its line.
func parsePlan(name string, data []byte) (plan, error) {
	var p plan
	var after [][]string // numbers, by sub-task
	var places []int     // their lines
	var errs []error
	at := 0
	for line := range strings.Lines(string(data)) {
		at++
		line = redact.Text(line, maxPlanLine)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		t, numbers, err := parseSubtask(line, len(p)+1)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, at, err))
		}
		p, after, places = append(p, t), append(after, numbers), append(places, at)
	}
	for i, numbers := range after {
		for _, typed := range numbers {
			j, err := p.place(typed)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s:%d: after: %w", name, places[i], err))
				continue
			}
			p[i].DependsOn = append(p[i].DependsOn, p[j].ID)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if err := p.check(name); err != nil {
		return nil, err
	}
	return p, nil
}

// parseSubtask reads the line of the sub-task with a number, and the numbers of
// those that it comes after.
func parseSubtask(line string, number int) (t session.Subtask, after []string, err error) {
	lead := planLead.RE().FindStringSubmatch(line)
	text := line[len(lead[0]):]
	t.ID, t.State = strconv.Itoa(number), planMarks[lead[2]]
	for {
		m := planTail.RE().FindStringSubmatchIndex(text)
		if m == nil {
			break
		}
		list := listed(text[m[4]:m[5]])
		if text[m[2]:m[3]] == "tools" {
			t.Tools = append(list, t.Tools...)
		} else {
			after = append(list, after...)
		}
		text = text[:m[0]]
	}
	t.Tools = cleanAll(t.Tools)
	t.Text = redact.Text(text, session.MaxItemText)
	switch {
	case t.Text == "":
		err = errors.New("the sub-task has no text; say what is to be done, or take the line out")
	case lead[1] != "" && lead[1] != t.ID:
		err = fmt.Errorf("this is sub-task %d, and the line says %s; number the lines from 1, or leave the numbers out", number, lead[1])
	}
	return t, after, err
}

// listed are the names in a list with commas.
func listed(text string) []string {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// text is the plan as parsePlan reads it.
func (p plan) text() string {
	var b strings.Builder
	for i, t := range p {
		fmt.Fprintf(&b, "%d. [%s] %s", i+1, markOf(t.State), t.Text)
		if tools := cleanAll(t.Tools); len(tools) > 0 {
			fmt.Fprintf(&b, " [tools: %s]", strings.Join(tools, ", "))
		}
		var numbers []string
		for _, id := range t.DependsOn {
			if j := p.byID(id); j >= 0 {
				numbers = append(numbers, strconv.Itoa(j+1))
			}
		}
		if len(numbers) > 0 {
			fmt.Fprintf(&b, " [after: %s]", strings.Join(numbers, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func markOf(s session.TodoState) string {
	switch s {
	case session.TodoDone:
		return "x"
	case session.TodoActive:
		return ">"
	case session.TodoDropped:
		return "-"
	}
	return " "
}
