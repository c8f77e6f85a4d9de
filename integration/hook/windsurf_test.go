package hook

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade/classify"
)

const windsurfHead = `{"trajectory_id":"s1","execution_id":"e1","timestamp":"2026-08-01T10:00:00.000Z",`

func windsurfIs(kind Kind, name string, more ...func(*Event)) Event {
	return is(Event{Agent: classify.Windsurf, Session: "s1", Kind: kind, Name: name}, more...)
}

const windsurfMCP = `{"mcp_server_name":"db","mcp_tool_arguments":{"b":1,"a":2},"mcp_tool_name":"query"}`

var windsurfDecodes = []decodeTest{
	{"before a shell", windsurfHead + `"agent_action_name":"pre_run_command","tool_info":{"command_line":"npm test","cwd":"/w"}}`,
		windsurfIs(Before, "pre_run_command", project("/w"), called("", "run_command", `{"command_line":"npm test","cwd":"/w"}`), shell("npm test"))},
	{"after a shell", windsurfHead + `"agent_action_name":"post_run_command","tool_info":{"cwd":"/w","command_line":"npm test"}}`,
		windsurfIs(After, "post_run_command", project("/w"), called("", "run_command", `{"command_line":"npm test","cwd":"/w"}`), shell("npm test"))},
	{"before a server's tool", windsurfHead + `"agent_action_name":"pre_mcp_tool_use","tool_info":` + windsurfMCP + `}`,
		windsurfIs(Before, "pre_mcp_tool_use", called("", "mcp_tool_use", windsurfMCP))},
	{"after a server's tool", windsurfHead + `"agent_action_name":"post_mcp_tool_use","tool_info":{"mcp_result":"{\"isError\":true}","mcp_server_name":"db","mcp_tool_arguments":{"b":1,"a":2},"mcp_tool_name":"query"}}`,
		windsurfIs(After, "post_mcp_tool_use", called("", "mcp_tool_use", windsurfMCP), payload(`{"mcp_result":"{\"isError\":true}"}`))},
	{"before a read", windsurfHead + `"agent_action_name":"pre_read_code","tool_info":{"file_path":"/w/a.py"}}`,
		windsurfIs(Before, "pre_read_code", called("", "read_code", `{"file_path":"/w/a.py"}`))},
	{"after a change", windsurfHead + `"agent_action_name":"post_write_code","tool_info":{"file_path":"/w/a.py","edits":[]}}`,
		windsurfIs(After, "post_write_code", called("", "write_code", `{"edits":[],"file_path":"/w/a.py"}`))},
	{"the user", windsurfHead + `"agent_action_name":"pre_user_prompt","tool_info":{"user_prompt":"do it"}}`, windsurfIs(Prompt, "pre_user_prompt")},
	{"a stop", windsurfHead + `"agent_action_name":"post_cascade_response","tool_info":{"response":"x"}}`, windsurfIs(Stop, "post_cascade_response")},
	{"a stop, told again", windsurfHead + `"agent_action_name":"post_cascade_response_with_transcript","tool_info":{"transcript_path":"/h/x"}}`, windsurfIs(Other, "post_cascade_response_with_transcript")},
	{"a new worktree", windsurfHead + `"agent_action_name":"post_setup_worktree","tool_info":{}}`, windsurfIs(Other, "post_setup_worktree")},
	{"no information", windsurfHead + `"agent_action_name":"pre_run_command"}`, windsurfIs(Before, "pre_run_command", called("", "run_command", ""))},
}

func TestWindsurfEvents(t *testing.T) { checkDecode(t, windsurfDecodes) }

func TestWindsurfAnswers(t *testing.T) {
	full := Answer{Deny: true, Reason: "r\x1b", Context: "c", Notice: "n"}
	denial := Output{Stderr: []byte("r\n"), Exit: 2}
	tests := []struct {
		name string
		kind Kind
		want Output
	}{
		{"pre_run_command", Before, denial},
		{"pre_mcp_tool_use", Before, denial},
		{"post_run_command", After, Output{}},
		{"pre_user_prompt", Prompt, Output{}},
		{"post_cascade_response", Stop, Output{}},
		{"post_setup_worktree", Other, Output{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Encode(Event{Agent: classify.Windsurf, Kind: tt.kind, Name: tt.name}, full)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := Encode(Event{Agent: classify.Windsurf, Kind: Before, Name: "pre_run_command"}, Answer{Context: "c", Notice: "n"}); got.Exit != 0 || len(got.Stdout)+len(got.Stderr) > 0 {
		t.Errorf("a probe: got %+v, want nothing", got)
	}
}
