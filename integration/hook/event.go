package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
)

// Kind is what an event means, whatever its agent calls it.
type Kind uint8

const (
	Other        Kind = iota // nothing to decide and nothing to learn
	Before                   // a tool is about to run
	After                    // a tool ran: Call.Observation is complete
	BatchEnd                 // all calls of one turn of the model are through: Event.Batch
	Prompt                   // the user has said something: a cycle begins
	SessionStart             // begun, taken up again, cleared or compacted: Event.Source
	SessionEnd
	Stop // the agent's turn is over
	SubagentStop
)

// String returns other, before, after, batch-end, prompt, session-start,
// session-end, stop or subagent-stop.
func (k Kind) String() string {
	switch k {
	case Before:
		return "before"
	case After:
		return "after"
	case BatchEnd:
		return "batch-end"
	case Prompt:
		return "prompt"
	case SessionStart:
		return "session-start"
	case SessionEnd:
		return "session-end"
	case Stop:
		return "stop"
	case SubagentStop:
		return "subagent-stop"
	}
	return "other"
}

// Event is one hook call, in the words of no agent in particular. What the user
// wrote is not in it. The zero Event says nothing.
type Event struct {
	Agent    classify.AgentName
	Kind     Kind
	Name     string // as the agent calls the event; Encode needs it
	Session  string // the agent's id of the session; where it gives none, a name made of the project
	Subagent string // id of the subagent; empty: the main agent
	Project  string // the project's folder: environment first, else the input; empty: unknown
	Source   string // of a SessionStart: startup, resume, clear, compact, fork, …
	Call     Call   // of Before and After
	Batch    []Call // of BatchEnd: completed as far as the agent tells
	Foreign  string // not empty: Agent runs the hooks that were installed for another one; what to say in the log. Kind is Other then
}

// Bounds of what is read. Longer input is an error; longer texts are cut.
const (
	MaxInput = 8 << 20 // bytes of one hook call

	maxName    = 256  // bytes of an id or a name
	maxProject = 4096 // bytes of a path
	maxBatch   = 1000 // calls of one batch
)

// Errors that Decode returns, wrapped with what is wrong and what to do.
var (
	ErrAgent = errors.New("unknown agent") // no agent of that name, or none that can be told by the input
	ErrInput = errors.New("bad hook input")
)

// Auto is the name under which Decode tells agents apart by their input.
const Auto = "auto"

// adapters are the agents whose hooks are understood.
var adapters = []adapter{
	{classify.ClaudeCode, "Claude Code", []string{"CLAUDE_PROJECT_DIR"}, claudeEvent, claudeAnswer},
	{classify.Codex, "Codex", nil, codexEvent, codexAnswer},
	{classify.Gemini, "Gemini CLI", []string{"GEMINI_PROJECT_DIR"}, geminiEvent, geminiAnswer},
	{classify.Cursor, "Cursor", []string{"CURSOR_PROJECT_DIR"}, cursorEvent, cursorAnswer},
	{classify.Copilot, "GitHub Copilot", nil, copilotEvent, copilotAnswer},
	{classify.Cline, "Cline", nil, clineEvent, clineAnswer},
	{classify.Windsurf, "Windsurf", []string{"PWD"}, windsurfEvent, windsurfAnswer},
}

// adapter is how one agent's hooks speak.
type adapter struct {
	agent   classify.AgentName
	title   string   // as its makers write it
	project []string // environment variables that name the project's folder
	decode  func(fields) Event
	encode  func(Event, Answer) Output
}

// Agents are the agents that Decode knows by name, without Auto.
func Agents() []string {
	var names []string
	for _, a := range adapters {
		names = append(names, string(a.agent))
	}
	return names
}

func adapterOf(agent classify.AgentName) (adapter, bool) {
	i := slices.IndexFunc(adapters, func(a adapter) bool { return a.agent == agent })
	if i < 0 {
		return adapter{}, false
	}
	return adapters[i], true
}

// Decode reads one hook call. agent is one of Agents or Auto; env looks up
// environment variables and may be nil. A field of the wrong type is as good as
// absent, and an event that nobody knows is of kind Other. An error wraps
// ErrInput or ErrAgent; whoever gets one lets the tool run.
func Decode(agent string, input []byte, env func(string) string) (Event, error) {
	f, err := readInput(input)
	if err != nil {
		return Event{}, err
	}
	name := classify.AgentName(agent)
	if agent == Auto {
		name = detect(f, env)
	}
	a, ok := adapterOf(name)
	if !ok {
		return Event{}, fmt.Errorf("%w %q; say one of %s, or %s", ErrAgent, trim(agent, maxName), strings.Join(Agents(), ", "), Auto)
	}
	e := a.decode(f)
	e.Agent = a.agent
	e.Project = projectOf(a, e.Project, env)
	if agent != Auto {
		if other, text := foreign(a, f); text != "" {
			e.Agent, e.Foreign = other, text
			e.Kind, e.Call, e.Batch = Other, Call{}, nil
		}
	}
	return e, e.named()
}

// named gives an event of a session without an id a name: that of its project.
func (e *Event) named() error {
	if e.Session != "" {
		return nil
	}
	if e.Project != "" {
		e.Session = "project " + e.Project
		return nil
	}
	if e.Kind == Other {
		return nil
	}
	return fmt.Errorf("%w: %s of %s has neither a session nor a folder; see that the hook runs expediter with the agent's own input",
		ErrInput, e.Kind, e.Agent)
}

func projectOf(a adapter, told string, env func(string) string) string {
	if env != nil {
		for _, name := range a.project {
			if dir := env(name); dir != "" {
				return trim(dir, maxProject)
			}
		}
	}
	return trim(told, maxProject)
}
