package hook

import (
	"cmp"

	"github.com/expediter-go/expediter/cascade/classify"
)

// clineKinds are the hooks of Cline that say something here: those of the
// extension and, in lower case, those of the command line. A task begins with
// TaskStart and its first UserPromptSubmit.
var clineKinds = map[string]Kind{
	"PreToolUse": Before, "PostToolUse": After, "UserPromptSubmit": Prompt,
	"TaskStart": SessionStart, "TaskResume": SessionStart, "TaskCancel": Stop, "TaskComplete": Stop,
	"tool_call": Before, "tool_result": After, "prompt_submit": Prompt, "agent_start": SessionStart, "agent_resume": SessionStart,
	"agent_end": Stop, "agent_error": Stop, "agent_abort": Stop, "session_shutdown": SessionEnd,
}

// clineEvent reads hookName, taskId, workspaceRoots, and:
//
//	PreToolUse   preToolUse {toolName, parameters}
//	PostToolUse  postToolUse {toolName, parameters, result, success, executionTimeMs}
//	tool_call    tool_call {id, name, input}
//	tool_result  tool_result {id, name, input, output, error, durationMs}
//
// and of the command line also agent_id, parent_agent_id and sessionContext
// {rootSessionId}. Only there calls have ids.
func clineEvent(f fields) Event {
	e := Event{Name: f.name("hookName"), Session: f.object("sessionContext").name("rootSessionId")}
	if e.Session == "" {
		e.Session = f.name("taskId")
	}
	if f.name("parent_agent_id") != "" {
		e.Subagent = f.name("agent_id")
	}
	if roots := f.list("workspaceRoots"); len(roots) > 0 {
		e.Project = str(roots[0])
	}
	switch e.Kind = clineKinds[e.Name]; e.Kind {
	case Before:
		e.Call = clineCall(f, "preToolUse", "tool_call")
	case After:
		e.Call = clineCall(f, "postToolUse", "tool_result")
		clineResult(&e.Call, f)
	case SessionStart:
		e.Source = "startup"
		if e.Name == "TaskResume" || e.Name == "agent_resume" {
			e.Source = "resume"
		}
	}
	return clineSubagent(e)
}

// clineSubagent: what a subagent begins and is told is not the user's.
func clineSubagent(e Event) Event {
	if e.Subagent == "" {
		return e
	}
	switch e.Kind {
	case SessionStart, SessionEnd, Prompt:
		e.Kind = Other
	case Stop:
		e.Kind = SubagentStop
	}
	return e
}

// clineCall reads a call of either form. Any tool's arguments may have the state
// of the to-do list beside their own, a Markdown text.
func clineCall(f fields, extension, commandLine string) Call {
	if of := f.object(commandLine); of != nil {
		c, _ := newCall(classify.Cline, of.name("id"), of.name("name"), "", of.raw("input"))
		return c
	}
	of := f.object(extension)
	c, in := newCall(classify.Cline, "", of.name("toolName"), "", of.raw("parameters"))
	if text := in.text("task_progress"); text != "" {
		c.Todos = checklist(text)
	}
	return c
}

// clineResult takes over the text always: some failures are told in it alone.
func clineResult(c *Call, f fields) {
	if of := f.object("tool_result"); of != nil {
		c.Observation.Duration = of.milliseconds("durationMs")
		if text := of.text("error"); text != "" { // of a call that was not made or threw: {"error":…} as a text
			c.failed(cmp.Or(of.object("error").text("error"), text))
		} else if c.Observation.Result = of.text("output"); c.Observation.Result == "" {
			c.Observation.Payload = of.raw("output")
		}
		return
	}
	of := f.object("postToolUse")
	c.Observation.Duration = of.milliseconds("executionTimeMs")
	c.Observation.Result = of.text("result")
	c.Observation.Failed = of.says("success", false)
}

// clineOutput is the part of Cline's hook output that is used here. Without
// output the tool runs.
type clineOutput struct {
	Cancel  *bool  `json:"cancel,omitempty"`
	Context string `json:"contextModification,omitempty"` // to the model, with its next request
	Error   string `json:"errorMessage,omitempty"`        // why, beside a cancellation
}

// clineAnswer denies by cancelling, the only way there is: an answer to the model in
// older versions of the command line, the end of the run in newer ones. In the editor
// it ends the task, the model reads neither the reason nor a context beside it, and
// the user may take the task up again. Then TaskResume tells the model what is open.
func clineAnswer(e Event, a Answer) Output {
	if a.Deny {
		return printed(clineOutput{Cancel: new(true), Error: said(a.Reason)})
	}
	switch e.Kind {
	case Before, After, Prompt, SessionStart:
		if a.Context != "" {
			return printed(clineOutput{Cancel: new(false), Context: said(a.Context)})
		}
	}
	return Output{}
}
