package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/pattern"
)

// miniSWEAgent reads trajectories of mini-swe-agent: an object with messages,
// or in the oldest form the messages alone. Up to 1.x the command stands in the
// answer's text and the exit code in the text of the next message; from 2.0 on
// both are in fields of their own, beside the native messages of a chat or
// responses API. Either way the exit code flags the outcome.
var miniSWEAgent = &format{
	name:   "mini-swe-agent",
	sniff:  sniffMiniSWEAgent,
	stream: []string{"", "messages"},
	open:   func(s *sink) decoder { return &miniDecoder{sink: s} },
}

func sniffMiniSWEAgent(h *head) bool {
	if h.array {
		var m miniMessage
		return json.Unmarshal(h.element, &m) == nil && m.Role == "system" &&
			(bytes.Contains(h.raw, []byte("mswea_bash_command")) || bytes.Contains(h.raw, []byte("<returncode>")))
	}
	return h.keys["trajectory_format"] && bytes.Contains(h.raw, []byte(`"mini-swe-agent-`)) ||
		h.keys["info"] && (bytes.Contains(h.raw, []byte(`"mini_version"`)) || bytes.Contains(h.raw, []byte(`"minisweagent.`)))
}

// maxMiniOpen bounds the calls whose results are awaited.
const maxMiniOpen = 256

type miniDecoder struct {
	sink   *sink
	now    *session
	asked  bool     // the task was told
	issued int      // calls
	open   []string // ids of calls without a result, the oldest first
}

type miniMessage struct {
	Role       string          `json:"role"`
	Type       string          `json:"type"`   // of an item of a responses API
	Object     string          `json:"object"` // response: a whole answer of that API
	Content    json.RawMessage `json:"content"`
	Output     json.RawMessage `json:"output"`
	ToolCallID string          `json:"tool_call_id"`
	CallID     string          `json:"call_id"`
	Usage      totalTokens     `json:"usage"` // of a whole answer
	Extra      miniExtra       `json:"extra"`
}

type totalTokens struct {
	Total int64 `json:"total_tokens"`
}

type miniExtra struct {
	Actions []struct {
		Command    string `json:"command"`
		ToolCallID string `json:"tool_call_id"`
	} `json:"actions"`
	Response struct {
		Usage totalTokens `json:"usage"`
	} `json:"response"`
	Timestamp     float64 `json:"timestamp"` // seconds since 1970
	RawOutput     *string `json:"raw_output"`
	ReturnCode    *int    `json:"returncode"`
	ExceptionInfo string  `json:"exception_info"`
	InterruptType string  `json:"interrupt_type"`
	ExitStatus    string  `json:"exit_status"`
}

func (d *miniDecoder) record(_ string, raw json.RawMessage) error {
	var m miniMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	if d.now == nil {
		d.now = d.sink.session("1")
	}
	switch {
	case m.Role == "assistant" || m.Object == "response":
		d.answer(&m)
	case m.Role == "tool" || m.Type == "function_call_output":
		d.output(&m)
	case m.Role == "user":
		d.user(&m)
	case m.Role == "exit":
		d.exit(&m)
	case m.Role != "system" && m.Type == "":
		d.sink.foreign()
	}
	return nil
}

// answer tells the calls of the model's answer.
func (d *miniDecoder) answer(m *miniMessage) {
	d.now.turn()
	d.now.spent(cmp.Or(m.Extra.Response.Usage.Total, m.Usage.Total))
	if m.Extra.Actions == nil {
		d.open = nil // commands in a text come one at a time
		if command, ok := miniCommand(contentText(m.Content)); ok {
			d.issue("", command, m.at())
		}
	}
	for _, a := range m.Extra.Actions {
		d.issue(a.ToolCallID, a.Command, m.at())
	}
}

// issue tells a call. Those in a text have no id.
func (d *miniDecoder) issue(id, command string, at time.Time) {
	d.issued++
	if id == "" {
		id = "#" + strconv.Itoa(d.issued)
	}
	d.now.issue(issued{id: id, tool: "bash", protocol: classify.Agent, input: shellInput(command), at: at})
	if len(d.open) == maxMiniOpen {
		d.open = slices.Delete(d.open, 0, 1)
	}
	d.open = append(d.open, id)
}

// miniBlock is the command in an answer. Exactly one is allowed; the harness
// asks again otherwise.
var miniBlock = pattern.New("(?s)```(?:mswea_bash_command|bash)\\s*\\n(.*?)\\n```|<mswea_bash_command>(.*?)</mswea_bash_command>")

func miniCommand(answer string) (string, bool) {
	found := miniBlock.RE().FindAllStringSubmatch(answer, 2)
	if len(found) != 1 {
		return "", false
	}
	command := strings.TrimSpace(found[0][1] + found[0][2])
	return command, command != ""
}

// user is a message of that role: the task, a person's word, or what the
// harness answers to the command.
func (d *miniDecoder) user(m *miniMessage) {
	switch {
	case m.Extra.InterruptType == "UserInterruption":
		d.now.prompt(m.at())
	case m.Extra.InterruptType != "":
	case m.Extra.ReturnCode != nil || len(d.open) > 0:
		d.output(m)
	case !d.asked && d.issued == 0:
		d.asked = true
		d.now.prompt(m.at())
	}
}

// exit ends the run. A submission is what the last command printed, which then
// has no message of its own; it is made with exit code 0 alone.
func (d *miniDecoder) exit(m *miniMessage) {
	if m.Extra.ExitStatus == "Submitted" && len(d.open) == 1 {
		d.result(d.open[0], m.at(), Flagged, classify.Observation{ExitCode: new(int), Result: contentText(m.Content)})
	}
}

// output tells the result that the message holds.
func (d *miniDecoder) output(m *miniMessage) {
	text := contentText(m.Content)
	if m.Type == "function_call_output" {
		text = contentText(m.Output)
	}
	id := m.ToolCallID + m.CallID
	switch {
	case m.Extra.ExceptionInfo == "action was not executed":
	case m.Extra.ReturnCode != nil:
		d.result(id, m.at(), Flagged, miniOutput(m, text))
	default:
		how, obs := miniText(text)
		d.result(id, m.at(), how, obs)
	}
}

func (d *miniDecoder) result(id string, at time.Time, how How, obs classify.Observation) {
	if id == "" && len(d.open) > 0 {
		id = d.open[0]
	}
	if i := slices.Index(d.open, id); i >= 0 {
		d.open = slices.Delete(d.open, i, i+1)
	}
	d.now.result(resulted{id: id, how: how, obs: obs, at: at})
}

// miniOutput reads the fields of a result. An exception of the environment has
// the exit code -1, which no program gave.
func miniOutput(m *miniMessage, text string) classify.Observation {
	if m.Extra.RawOutput != nil {
		text = *m.Extra.RawOutput
	}
	if m.Extra.ExceptionInfo != "" {
		return classify.Observation{Failed: true, Result: m.Extra.ExceptionInfo}
	}
	return classify.Observation{ExitCode: m.Extra.ReturnCode, Result: text}
}

var miniReturn = pattern.New(`^\s*(?:<exception>((?s:.*?))</exception>\s*)?<returncode>(-?\d{1,9})</returncode>`)

// miniText reads a result that is a text alone, in the shapes of the templates
// that come with the agent. In other shapes nothing flags the outcome.
func miniText(text string) (How, classify.Observation) {
	const killed = "</command> timed out and has been killed"
	if _, output, ok := strings.Cut(text, killed); ok && strings.HasPrefix(text, "The last command <command>") {
		return Flagged, classify.Observation{DeadlineHit: true, Result: "timed out and has been killed" + output}
	}
	if strings.HasPrefix(text, "Command not executed. The user rejected your command") {
		return Flagged, classify.Observation{Failed: true, Class: "user_denied", Result: text}
	}
	m := miniReturn.RE().FindStringSubmatch(text)
	if m == nil {
		return Judged, classify.Observation{Result: text}
	}
	if m[1] != "" {
		return Flagged, classify.Observation{Failed: true, Result: m[1]}
	}
	code, _ := strconv.Atoi(m[2]) // nine digits at most
	rest := strings.TrimSpace(text[len(m[0]):])
	rest = strings.TrimSuffix(strings.TrimPrefix(rest, "<output>"), "</output>")
	return Flagged, classify.Observation{ExitCode: &code, Result: strings.TrimSpace(rest)}
}

func (m *miniMessage) at() time.Time { return epochSeconds(m.Extra.Timestamp) }
