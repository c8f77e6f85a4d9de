package hook

import (
	"encoding/json"
	"strings"

	"github.com/expediter-go/expediter/internal/session"
)

// Bounds of a to-do list.
const (
	maxTodos    = 200
	maxTodoText = 500 // bytes
	maxTodoDeps = 50
)

// todoStates are the words of all agents.
var todoStates = map[string]session.TodoState{
	"pending": session.TodoPending, "not_started": session.TodoPending, "not-started": session.TodoPending, "todo": session.TodoPending,
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

// todoText is an item's text on one line, or its id.
func todoText(text string) string {
	return strings.TrimSpace(trim(strings.Join(strings.Fields(cut(text, 4*maxTodoText)), " "), maxTodoText))
}

// todoIDs are the ids in a list of texts.
func todoIDs(raw json.RawMessage) []string {
	var ids []string
	for _, item := range list(raw) {
		if id := trim(str(item), maxName); id != "" && len(ids) < maxTodoDeps {
			ids = append(ids, id)
		}
	}
	return ids
}

// todoList is the whole list that raw is, its items read by item. Nil: raw is
// no list.
func todoList(raw json.RawMessage, item func(fields) session.Todo) *session.Todos {
	items := list(raw)
	if items == nil {
		return nil
	}
	todos := &session.Todos{Replace: true}
	for _, raw := range items {
		todo := item(object(raw))
		if todo.Text = todoText(todo.Text); todo.Text != "" && len(todos.Items) < maxTodos {
			todos.Items = append(todos.Items, todo)
		}
	}
	return todos
}
