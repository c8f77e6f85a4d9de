package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
)

// maxMessage bounds one line of input of classify, in bytes.
const maxMessage = 1 << 20

func classifyCommand() *cobra.Command {
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "classify [FILE]",
		Short: "Say what error texts tell about the tools they came from",
		Long: `classify reads an error text from each line and prints, for each, one line
{"category":…,"outcome":…,"signature":…}. The outcome is failure (the tool is
broken), success (the tool answered, the call was wrong) or ignored (it says
nothing about the tool). The category is that of a failure, or invalid_input,
cancelled, user_denied, config or none. FILE is - or left out for standard
input.

A line may also be an object with the tool and the exit code:
{"message":"rg: not found","tool":"Bash","exit_code":127}. With --jsonl every
line that starts with { must be one, which may hold other fields too, and a
JSON string is read as its text; a bad line gives {"error":"…"} on its line, and
the exit status is 1 at the end.

More fields of an object say more of the call: protocol (mcp, a2a, agent),
agent (claude-code, codex, gemini, …), server, input (its arguments), payload
(its structured result), http_status, headers, grpc_code, rpc_code, class (found
by an earlier judgement), unmarked (true: nothing says whether it failed; only
the form of an error report does). The message counts as an error unless one of
exit_code, payload and unmarked tells; with a payload it may be left out.`,
		Example: `  echo 'dial tcp 10.0.0.1:443: connection refused' | expediter classify
  expediter classify errors.txt
  expediter classify --jsonl results.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withInput(cmd, args, func(in io.Reader) error {
				return linesDone(classifyLines(cmd.OutOrStdout(), in, jsonl))
			})
		},
	}
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "lines that start with { are objects, which must be well-formed")
	return cmd
}

// message is one input of classify.
type message struct {
	Message    *string            `json:"message"`
	Tool       string             `json:"tool"`
	ExitCode   *int               `json:"exit_code"`
	Protocol   string             `json:"protocol"`
	Agent      classify.AgentName `json:"agent"`
	Server     string             `json:"server"`
	Input      json.RawMessage    `json:"input"`
	Payload    json.RawMessage    `json:"payload"`
	HTTPStatus int                `json:"http_status"`
	Headers    map[string]string  `json:"headers"`
	GRPCCode   int                `json:"grpc_code"`
	RPCCode    int                `json:"rpc_code"`
	Class      string             `json:"class"`
	Unmarked   bool               `json:"unmarked"`
}

// observation is the call that a message tells of.
func (m message) observation() (classify.Observation, error) {
	o := classify.Observation{
		Agent: m.Agent, Server: m.Server, Tool: m.Tool, Input: m.Input, Payload: m.Payload, ExitCode: m.ExitCode,
		HTTPStatus: m.HTTPStatus, GRPCCode: m.GRPCCode, RPCCode: m.RPCCode, Class: m.Class, Unmarked: m.Unmarked,
		Failed: m.ExitCode == nil && len(m.Payload) == 0 && !m.Unmarked,
	}
	if m.Message != nil {
		o.Result = *m.Message
	}
	if len(m.Headers) > 0 {
		header := http.Header{}
		for name, value := range m.Headers {
			header.Set(name, value)
		}
		o.Header = header
	}
	for p := classify.Plain; p <= classify.Agent; p++ {
		if m.Protocol == p.String() || m.Protocol == "" {
			o.Protocol = p
			return o, nil
		}
	}
	return o, fmt.Errorf("unknown protocol %q; use plain, mcp, a2a or agent", m.Protocol)
}

// classified is one output of classify: an error, or all the others.
type classified struct {
	Category  string           `json:"category,omitempty"`
	Outcome   *cascade.Outcome `json:"outcome,omitempty"`
	Signature *string          `json:"signature,omitempty"`
	Error     string           `json:"error,omitempty"`
}

// classifyLines answers every line of r on w; bad is how many were errors.
func classifyLines(w io.Writer, r io.Reader, jsonl bool) (bad int, err error) {
	in := bufio.NewReaderSize(r, maxMessage+1)
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for n := 1; ; n++ {
		line, err := readMessage(in)
		if err == io.EOF {
			return bad, out.Flush()
		}
		if err != nil && !errors.Is(err, errLongMessage) {
			return bad, errors.Join(err, out.Flush())
		}
		var c classified
		if err == nil {
			c, err = classifyLine(line, jsonl)
		}
		if err != nil {
			bad++
			c = classified{Error: fmt.Sprintf("line %d: %v", n, err)}
		}
		if err := enc.Encode(c); err != nil {
			return bad, err
		}
		if in.Buffered() == 0 { // answer at once where somebody types or pipes line by line
			if err := out.Flush(); err != nil {
				return bad, err
			}
		}
	}
}

var errLongMessage = fmt.Errorf("longer than %d KiB; shorten the message, only its first and last 2 kB are read", maxMessage>>10)

// readMessage returns the next line without its end, valid until the next
// call. One that is too long is skipped as a whole.
func readMessage(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimRight(line, "\r\n"), err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return nil, errLongMessage
}

func classifyLine(line []byte, jsonl bool) (classified, error) {
	m, err := parseMessage(line, jsonl)
	if err != nil {
		return classified{}, err
	}
	o, err := m.observation()
	if err != nil {
		return classified{}, err
	}
	v := classify.Observe(o)
	c := classified{Category: v.Class, Outcome: &v.Outcome, Signature: &v.Signature}
	if v.Class == "ok" {
		c.Category = "none"
	}
	return c, nil
}

// parseMessage reads a line as an object, a JSON string or a text. Without
// jsonl only what can be nothing else is an object.
func parseMessage(line []byte, jsonl bool) (message, error) {
	text := string(line)
	trimmed := bytes.TrimSpace(line)
	switch {
	case bytes.HasPrefix(trimmed, []byte("{")):
		m, err := decodeMessage(trimmed, jsonl)
		if err == nil || jsonl {
			return m, err
		}
	case jsonl && bytes.HasPrefix(trimmed, []byte(`"`)):
		var s string
		if json.Unmarshal(trimmed, &s) == nil {
			text = s
		}
	}
	return message{Message: &text}, nil
}

func decodeMessage(object []byte, otherFields bool) (message, error) {
	var m message
	dec := json.NewDecoder(bytes.NewReader(object))
	if !otherFields {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(&m); err != nil {
		return message{}, fmt.Errorf(`%w; write {"message":"…","tool":"…","exit_code":…}`, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return message{}, errors.New("text after the object; write one object on each line")
	}
	if m.Message == nil && len(m.Payload) == 0 {
		return message{}, errors.New(`no "message"; give the error text, or "" for none`)
	}
	return m, nil
}
