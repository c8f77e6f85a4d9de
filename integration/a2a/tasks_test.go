package a2apeer

import (
	"strconv"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

func TestTasksAreRemembered(t *testing.T) {
	var known tasks
	long := a2a.TaskID(strings.Repeat("x", 1000))
	for _, tt := range []struct {
		name  string
		task  a2a.TaskID
		state a2a.TaskState
		want  bool
	}{
		{"new", "t1", a2a.TaskStateFailed, false},
		{"again", "t1", a2a.TaskStateFailed, true},
		{"another state", "t1", a2a.TaskStateAuthRequired, false},
		{"no id", "", a2a.TaskStateFailed, false},
		{"no id again", "", a2a.TaskStateFailed, false},
		{"too long to keep", long, a2a.TaskStateFailed, false},
		{"too long again", long, a2a.TaskStateFailed, false},
	} {
		if got := known.seen(tt.task, tt.state); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTasksAreBounded(t *testing.T) {
	var known tasks
	for i := range 3 * maxTasks {
		known.seen(a2a.TaskID(strconv.Itoa(i)), a2a.TaskStateFailed)
	}
	if got := len(known.known); got != maxTasks {
		t.Errorf("got %d tasks, want %d", got, maxTasks)
	}
	if !known.seen(a2a.TaskID(strconv.Itoa(3*maxTasks-1)), a2a.TaskStateFailed) || known.seen("0", a2a.TaskStateFailed) {
		t.Error("the newest are kept, not the oldest")
	}
}

func TestTextOf(t *testing.T) {
	long := strings.Repeat("ä", maxText)
	for _, tt := range []struct {
		name string
		m    *a2a.Message
		want string
	}{
		{"no message", nil, ""},
		{"no parts", &a2a.Message{}, ""},
		{"several parts", a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("one"), nil, a2a.NewRawPart([]byte{1}), a2a.NewTextPart("two")), "one\ntwo"},
		{"too long", a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("x"+long), a2a.NewTextPart("more")), "x" + long[:maxText-2]},
		{"full to the brim", a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(long[:maxText]), a2a.NewTextPart("more")), long[:maxText]},
	} {
		if got := textOf(tt.m); got != tt.want {
			t.Errorf("%s: got %d bytes %.40q, want %d bytes %.40q", tt.name, len(got), got, len(tt.want), tt.want)
		}
	}
}
