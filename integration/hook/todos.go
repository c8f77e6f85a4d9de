package hook

import (
	"encoding/json"
	"strings"

	"github.com/expediter-go/expediter/internal/session"
)

// Of a list as much is read as a session keeps. It also makes the texts fit to
// keep.

// todoStates are the words of all agents.
var todoStates = map[string]session.TodoState{
	"pending": session.TodoPending, "blocked": session.TodoPending, "not_started": session.TodoPending, "not-started": session.TodoPending, "todo": session.TodoPending,
	"in_progress": session.TodoActive, "in-progress": session.TodoActive, "inprogress": session.TodoActive, "active": session.TodoActive,
	"completed": session.TodoDone, "complete": session.TodoDone, "done": session.TodoDone,
	"cancelled": session.TodoDropped, "canceled": session.TodoDropped, "deleted": session.TodoDropped, "dropped": session.TodoDropped,
}

func todoState(word string) session.TodoState {
	if len(word) > maxName {
		return session.TodoUnknown
	}
	return todoStates[strings.ToLower(strings.TrimSpace(word))]
}

// todoIDs are the ids in a list of texts.
func todoIDs(raw json.RawMessage) []string {
	var ids []string
	for _, item := range list(raw) {
		if id := trim(str(item), maxName); id != "" && len(ids) < session.MaxItemTools {
			ids = append(ids, id)
		}
	}
	return ids
}

// todoItem reads an item of a list as most agents write it.
func todoItem(f fields) session.Todo {
	return session.Todo{ID: f.ident("id"), Text: strings.TrimSpace(f.text("content", "title", "description", "step", "text")), State: todoState(f.text("status", "state"))}
}

// todoList is the list that raw is: all of it, or with merge items to add or to
// change. Nil: raw is no list, or one of items that are unreadable.
func todoList(raw json.RawMessage, merge bool) *session.Todos {
	items := list(raw)
	if items == nil {
		return nil
	}
	todos := &session.Todos{Replace: !merge}
	for _, raw := range items[:min(len(items), session.MaxItems)] {
		todo := todoItem(object(raw))
		if todo.Text != "" || merge && todo.ID != "" {
			todos.Items = append(todos.Items, todo)
		}
	}
	if len(items) > 0 && len(todos.Items) == 0 {
		return nil
	}
	return todos
}

// todoBoxes are the marks in the boxes of a checklist.
var todoBoxes = map[string]session.TodoState{
	" ": session.TodoPending, "": session.TodoPending, "x": session.TodoDone, "X": session.TodoDone, "-": session.TodoActive, "~": session.TodoActive,
}

// checklist is the list that a Markdown text is: lines such as "- [x] done" or
// "2. [ ] to do". Lines without a box are passed over. Nil: there is no box.
func checklist(text string) *session.Todos {
	todos := &session.Todos{Replace: true}
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*+0123456789.) \t")
		mark, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "]")
		state, known := todoBoxes[mark]
		if item := strings.TrimSpace(rest); ok && known && strings.HasPrefix(line, "[") && item != "" && len(todos.Items) < session.MaxItems {
			todos.Items = append(todos.Items, session.Todo{Text: item, State: state})
		}
	}
	if len(todos.Items) == 0 {
		return nil
	}
	return todos
}
