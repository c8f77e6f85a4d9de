package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// faultyServer is an MCP server on stdio, by hand, whose tools misbehave as
// their names say: mcp-faulty [KIND of list].
func faultyServer() {
	f := &faulty{tools: []string{"ok", "pid", "mute", "garbage", "other_id", "twice", "huge", "trickle", "progress",
		"flood", "change", "die", "deaf", "deep", "nothing"}}
	if len(os.Args) > 1 {
		f.kind = os.Args[1]
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if f.kind == "stays" {
				<-time.After(time.Hour)
			}
			return
		}
		var req faultyRequest
		if json.Unmarshal(line, &req) == nil && req.ID != nil {
			f.answer(req)
		} else if req.Method == "notifications/cancelled" {
			fmt.Fprintln(os.Stderr, "told that a call was cancelled")
		}
	}
}

type faultyRequest struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Cursor    string
		Arguments struct{ Bytes int }
		Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
}

// message is an answer to the request.
func (r faultyRequest) message(result string) string {
	return `{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":` + result + "}\n"
}

func (r faultyRequest) text(text string) string {
	return r.message(`{"content":[{"type":"text","text":"` + text + `"}]}`)
}

func (r faultyRequest) progress(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`+"\n", r.Params.Meta.ProgressToken, n)
}

type faulty struct {
	kind  string
	mu    sync.Mutex // of standard output
	tools []string
}

func (f *faulty) say(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = os.Stdout.WriteString(text)
}

func (f *faulty) answer(r faultyRequest) {
	switch r.Method {
	case "initialize":
		f.say(r.message(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"faulty","version":"1"}}`))
	case "tools/list":
		f.say(r.message(f.list(r.Params.Cursor)))
	case "tools/call":
		f.call(r)
	default:
		f.say(r.message("{}"))
	}
}

// list is a page of tools.
func (f *faulty) list(cursor string) string {
	names, about, next := f.tools, "", ""
	switch f.kind {
	case "many":
		for i := range 10_000 {
			names = append(names, fmt.Sprint("tool", i))
		}
	case "wordy":
		about = strings.Repeat("words ", 1<<20)
		names = names[:1]
	case "endless":
		next = fmt.Sprint(len(cursor), "x", cursor)
	}
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, about))
	}
	page := `{"tools":[` + strings.Join(all, ",") + `]`
	if next != "" {
		page += `,"nextCursor":"` + next + `"`
	}
	return page + "}"
}

func (f *faulty) call(r faultyRequest) {
	switch r.Params.Name {
	case "pid":
		f.say(r.text(fmt.Sprint(os.Getpid())))
	case "mute":
	case "garbage":
		f.say("npm warn\n\x00\xff\x1b[31m{\n{\"jsonrpc\":\n[]\n[1]\n\"text\"\n{\"jsonrpc\":\"2.0\"}\n" + strings.Repeat("x", 1<<20) + "\n" + r.text("ok"))
	case "other_id":
		f.say(`{"jsonrpc":"2.0","id":424242,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","result":{}}` + "\n" + `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"oops"}}` + "\n")
	case "twice":
		f.say(r.text("first") + r.text("second"))
	case "huge":
		f.say(r.text(strings.Repeat("x", r.Params.Arguments.Bytes)))
	case "trickle":
		f.trickle(r)
	case "progress":
		go func() {
			for n := range 1 << 20 {
				f.say(r.progress(n))
				<-time.After(10 * time.Millisecond)
			}
		}()
	case "flood":
		f.flood(r)
	case "change":
		f.tools = append(f.tools[1:], "new")
		f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n" + r.text("ok"))
	case "die":
		os.Exit(3)
	case "deaf":
		_ = os.Stdin.Close()
		f.say(r.text("ok"))
		<-time.After(time.Hour)
	case "deep":
		f.say(r.message(`{"content":[],"structuredContent":` + nested(r.Params.Arguments.Bytes) + "}"))
	case "nothing":
		f.say(`{"jsonrpc":"2.0","id":` + string(r.ID) + "}\n")
	default:
		f.say(r.text("ok"))
	}
}

// trickle writes the beginning of an answer, a few bytes at a time, and holds up
// all others.
func (f *faulty) trickle(r faultyRequest) {
	f.mu.Lock()
	go func() {
		for part := range bytes.Lines([]byte(strings.Repeat("y\n", 1<<20))) {
			_, _ = os.Stdout.Write(part[:1])
			<-time.After(10 * time.Millisecond)
		}
	}()
}

// flood says much that nobody needs before its answer.
func (f *faulty) flood(r faultyRequest) {
	log := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("z", 1000) + `"}}` + "\n"
	for n := range 50 {
		f.say(strings.Repeat(log+`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`+"\n"+r.progress(n), 100))
		fmt.Fprint(os.Stderr, strings.Repeat("noise\n", 100))
	}
	f.say(r.text("ok"))
}

// nested is JSON of objects, n deep.
func nested(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
