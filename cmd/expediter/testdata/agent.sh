# One event of a session, as the hooks of Claude Code tell it:
#
#	sh agent.sh start|prompt|stop|end
#	sh agent.sh call|ok|fail ID TOOL INPUT [ERROR]
#	sh agent.sh broken TOOL INPUT ERROR        three calls that fail alike
#
# SESSION is the session's id, PROJECT its folder. INPUT is JSON.
set -e
: "${SESSION:=4f3c2b1a-9d8e-4c7b-8a6f-5e4d3c2b1a09}" "${PROJECT:=$PWD/w}"

tell() { printf '{"session_id":"%s","cwd":"%s","hook_event_name":%s}\n' "$SESSION" "$PROJECT" "$1" | expediter hook claude-code; }
call() { tell "\"PreToolUse\",\"tool_use_id\":\"$1\",\"tool_name\":\"$2\",\"tool_input\":$3"; }
fail() { tell "\"PostToolUseFailure\",\"tool_use_id\":\"$1\",\"tool_name\":\"$2\",\"tool_input\":$3,\"error\":\"$4\""; }

case $1 in
start) tell '"SessionStart","source":"startup"' ;;
prompt) tell '"UserPromptSubmit","prompt":"go on"' ;;
stop) tell '"Stop"' ;;
end) tell '"SessionEnd"' ;;
call) call "$2" "$3" "$4" ;;
ok) tell "\"PostToolUse\",\"tool_use_id\":\"$2\",\"tool_name\":\"$3\",\"tool_input\":$4,\"tool_response\":{}" ;;
fail) fail "$2" "$3" "$4" "$5" ;;
broken)
	for n in 1 2 3; do
		call "$2-$n" "$2" "$3"
		fail "$2-$n" "$2" "$3" "$4"
	done
	;;
*) echo "agent.sh: no event $1" >&2; exit 2 ;;
esac
