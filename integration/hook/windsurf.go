package hook

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
)

// windsurfKinds are the hooks of Windsurf's Cascade that say something here;
// post_cascade_response_with_transcript tells the same stop again.
var windsurfKinds = map[string]Kind{
	"pre_run_command": Before, "pre_mcp_tool_use": Before, "pre_read_code": Before, "pre_write_code": Before,
	"post_run_command": After, "post_mcp_tool_use": After, "post_read_code": After, "post_write_code": After,
	"pre_user_prompt": Prompt, "post_cascade_response": Stop,
}

// windsurfEvent reads agent_action_name, trajectory_id, and tool_info with
//
//	run_command         command_line, cwd
//	mcp_tool_use        mcp_server_name, mcp_tool_name, mcp_tool_arguments, afterwards mcp_result
//	read_code           file_path
//	write_code          file_path, edits
//
// The action's name is the tool's. Calls have no ids: execution_id is that of
// the agent's turn. There is no event after an action that failed, and no
// result but an MCP server's. The folder is that in which the hook runs, the
// workspace's root.
func windsurfEvent(f fields) Event {
	info := f.object("tool_info")
	e := Event{Name: f.name("agent_action_name"), Session: f.name("trajectory_id"), Project: info.text("cwd")}
	e.Kind = windsurfKinds[e.Name]
	if e.Kind == Before || e.Kind == After {
		_, tool, _ := strings.Cut(e.Name, "_")
		e.Call, _ = newCall(classify.Windsurf, "", tool, "", windsurfInput(info))
		if e.Kind == After {
			e.Call.Observation.Payload = info.wrapped("mcp_result")
		}
	}
	return e
}

// windsurfInput is the same before and after the call: without the result, and
// in one order.
func windsurfInput(info fields) json.RawMessage {
	if info == nil {
		return nil
	}
	info = maps.Clone(info)
	delete(info, "mcp_result")
	input, err := json.Marshal(info)
	if err != nil {
		return nil
	}
	return input
}

// windsurfAnswer: Windsurf has exit codes alone, and the model reads stderr of a
// denial.
func windsurfAnswer(_ Event, a Answer) Output {
	if !a.Deny {
		return Output{}
	}
	return Output{Stderr: []byte(said(a.Reason) + "\n"), Exit: 2}
}
