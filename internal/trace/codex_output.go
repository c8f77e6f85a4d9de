package trace

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/pattern"
)

// codexOutput is the result that an output item tells. Where it names an exit
// code, that is its mark; else there is none.
func codexOutput(i *codexItem, at time.Time) resulted {
	r := resulted{id: i.callID, how: Judged, at: at}
	text := codexContent(i.output)
	if o, ok := codexObject(text); ok {
		r.how, r.obs.ExitCode, r.duration, text = Flagged, o.Metadata.ExitCode, seconds(o.Metadata.Seconds), o.Output
	} else if h := codexHead(text); h.marked {
		r.how, r.obs.ExitCode, r.duration, text = Flagged, h.exit, h.took, h.rest
	}
	if r.how == Judged || r.obs.ExitCode != nil && *r.obs.ExitCode != 0 {
		r.obs.Result = text
	}
	return r
}

// codexShell is an output of older versions: a text that is this object.
type codexShell struct {
	Output   string `json:"output"`
	Metadata struct {
		ExitCode *int    `json:"exit_code"`
		Seconds  float64 `json:"duration_seconds"`
	} `json:"metadata"`
}

func codexObject(text string) (codexShell, bool) {
	var o codexShell
	ok := strings.HasPrefix(text, `{"`) && json.Unmarshal([]byte(text), &o) == nil && o.Metadata.ExitCode != nil
	return o, ok
}

// codexContent is the text of an output: a text, content items, or either of
// them wrapped in an object.
func codexContent(output json.RawMessage) string {
	if len(output) > 0 && output[0] == '{' {
		output = fieldOf(output, "content")
	}
	return contentText(output)
}

// codexHeading is what stands above the output of a command.
type codexHeading struct {
	marked bool // it says how the command ended, or that it still runs
	exit   *int // nil: it runs
	took   time.Duration
	rest   string // the output
}

var (
	codexExit = pattern.New(`^(?:Exit code: |Process exited with code )(-?\d{1,9})$`)
	codexRuns = pattern.New(`^Process running with session ID \S+$`)
	codexWall = pattern.New(`^Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds$`)
)

// codexHead reads at most eight lines, up to the one that begins the output.
func codexHead(text string) codexHeading {
	h := codexHeading{rest: text}
	for range 8 {
		line, rest, more := strings.Cut(h.rest, "\n")
		line = strings.TrimSuffix(line, "\r")
		if !more || len(line) > 200 {
			break
		}
		h.rest = rest
		if line == "Output:" {
			return h
		}
		if m := codexExit.RE().FindStringSubmatch(line); m != nil && !h.marked {
			code, _ := strconv.Atoi(m[1])
			h.marked, h.exit = true, &code
		} else if codexRuns.RE().MatchString(line) {
			h.marked = true
		} else if m := codexWall.RE().FindStringSubmatch(line); m != nil {
			s, _ := strconv.ParseFloat(m[1], 64)
			h.took = seconds(s)
		}
	}
	h.rest = text
	return h
}

// codexMCP is the end of a call to an MCP server: the server's result, or the
// text of why there is none.
func codexMCP(i *codexItem, at time.Time) resulted {
	r := resulted{id: i.callID, how: Flagged, at: at, duration: codexDuration(i.duration)}
	r.obs.Protocol = classify.MCP
	var result struct {
		Ok *struct {
			IsError      bool `json:"isError"`
			IsErrorSnake bool `json:"is_error"`
			Content      json.RawMessage
		}
		Err *string
	}
	switch json.Unmarshal(i.result, &result); {
	case result.Err != nil:
		r.obs.Failed, r.obs.Result = true, *result.Err
	case result.Ok != nil && (result.Ok.IsError || result.Ok.IsErrorSnake):
		r.obs.Failed, r.obs.Result = true, codexContent(result.Ok.Content)
	}
	return r
}

// codexDuration reads {"secs":0,"nanos":120000000}, or a text such as 120ms.
func codexDuration(raw json.RawMessage) time.Duration {
	var parts struct{ Secs, Nanos int64 }
	if json.Unmarshal(raw, &parts) == nil {
		if parts.Secs < 0 || parts.Secs > 1<<31 || parts.Nanos < 0 || parts.Nanos > 1e9 {
			return 0
		}
		return time.Duration(parts.Secs)*time.Second + time.Duration(parts.Nanos)
	}
	var text string
	_ = json.Unmarshal(raw, &text)
	took, _ := time.ParseDuration(text)
	return took
}

// customInput gives the text of a custom tool the form of arguments.
func customInput(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '"' || len(raw) > maxInput {
		return raw
	}
	wrapped, _ := json.Marshal(map[string]json.RawMessage{"input": raw})
	return wrapped
}
