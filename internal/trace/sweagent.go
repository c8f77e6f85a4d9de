package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// sweAgent reads .traj files of SWE-agent: one task, a step for each action,
// no times of day and no mark of failure. A run of several attempts has them
// in attempts, and the best of them a second time at the top: told once.
var sweAgent = &format{
	name:   "swe-agent",
	sniff:  sniffSWEAgent,
	stream: []string{"attempts.trajectory", "trajectory"},
	open:   func(s *sink) decoder { return &sweDecoder{sink: s} },
}

func sniffSWEAgent(h *head) bool {
	return (h.keys["trajectory"] || h.keys["attempts"]) && !h.keys["trajectory_format"] &&
		bytes.Contains(h.raw, []byte(`"observation"`)) && bytes.Contains(h.raw, []byte(`"thought"`))
}

type sweDecoder struct {
	sink     *sink
	attempts int // ended ones
	now      *session
	steps    int // of now
}

// sweStep is one element of a trajectory.
type sweStep struct {
	Action        *string  `json:"action"`
	Observation   *string  `json:"observation"`
	ExecutionTime *float64 `json:"execution_time"` // seconds; older ones have none
}

func (d *sweDecoder) record(path string, raw json.RawMessage) error {
	switch {
	case path == "attempts":
		d.attempts++
		d.now = nil
		return nil
	case path == "trajectory" && d.attempts > 0:
		return nil
	}
	var step sweStep
	if err := json.Unmarshal(raw, &step); err != nil {
		return err
	}
	if step.Action == nil {
		d.sink.foreign()
		return nil
	}
	if d.now == nil {
		d.now, d.steps = d.sink.session(strconv.Itoa(d.attempts+1)), 0
		d.now.prompt(time.Time{}) // the task; the steps do not repeat it
	}
	d.steps++
	d.now.turn()
	step.tell(d.now, strconv.Itoa(d.steps))
	return nil
}

// tell hands the step on. The id joins its result to its call, as some calls have
// none.
func (step *sweStep) tell(s *session, id string) {
	action := strings.TrimSpace(*step.Action)
	if action == "" || action == "exit" || strings.HasPrefix(action, "exit_") {
		return // no action in the answer, or the end of the run
	}
	s.issue(issued{id: id, tool: sweTool(action), agent: classify.SWEAgent, protocol: classify.Agent,
		input: shellInput(action)})
	if step.Observation == nil || step.refused() {
		return
	}
	r := resulted{id: id, how: Judged, obs: classify.Observation{Result: *step.Observation}}
	if report, ok := sweReport(*step.Observation); ok {
		r.obs = report
	}
	if step.ExecutionTime != nil {
		r.duration = seconds(*step.ExecutionTime)
	}
	s.result(r)
}

// refused: the harness asked the model again (a blocked command, wrong syntax)
// and ran nothing. What it ran took time.
func (step *sweStep) refused() bool {
	return *step.Observation == "" && step.ExecutionTime != nil && *step.ExecutionTime == 0
}

// sweCommands are the commands that SWE-agent brings. Any other action is a
// text for the shell; so are commands of one's own: their program is the key.
var sweCommands = words(`
	open goto scroll_up scroll_down create edit insert append search_dir search_file find_file
	str_replace_editor undo_edit view_image filemap submit forfeit
	connect_start connect_sendline connect_exec connect_stop
	debug_start debug_stop debug_exec debug_step debug_continue debug_add_breakpoint decompile disassemble
	open_site close_site screenshot_site click_mouse double_click_mouse drag_mouse move_mouse scroll_on_page
	type_text press_keys_on_page wait_time navigate_back navigate_forward reload_page
	execute_script_on_page get_console_output set_browser_window_size`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

func sweTool(action string) string {
	if first := strings.Fields(action)[0]; sweCommands[first] {
		return first
	}
	return "bash"
}

// sweReports begin the line in which the harness says that the command did not
// come to its end, and the class of it where the text does not tell: the shell
// itself is gone. What stands before the line is the command's own output.
var sweReports = []struct{ text, class string }{
	{"EXECUTION TIMED OUT", ""},
	{"COMMAND TIMED OUT", ""},
	{"COMMAND FAILED TO EXECUTE", "resource"},
	{"BROKEN PIPE ERROR", "resource"},
	{"EXECUTION FAILED OR COMMAND MALFORMED", ""},
}

// sweReport is the harness's own report of a failure, if there is one: a line
// among the last three, or the whole observation.
func sweReport(observation string) (classify.Observation, bool) {
	text := strings.TrimSpace(observation)
	if _, why, ok := strings.Cut(text, "' was cancelled because it took more than "); ok && strings.HasPrefix(text, "The command '") {
		return classify.Observation{DeadlineHit: true, Result: "it took more than " + why}, true
	}
	for end, line := len(text), 0; end >= 0 && line < 3; line++ {
		start := strings.LastIndexByte(text[:end], '\n') + 1
		for _, r := range sweReports {
			if strings.HasPrefix(text[start:end], r.text) {
				return classify.Observation{Failed: true, Class: r.class, Result: text[start:]}, true
			}
		}
		end = start - 1
	}
	return classify.Observation{}, false
}

// shellInput is the input of a shell's call.
func shellInput(command string) json.RawMessage {
	raw, err := json.Marshal(struct {
		Command string `json:"command"`
	}{command})
	if err != nil {
		return nil
	}
	return raw
}
