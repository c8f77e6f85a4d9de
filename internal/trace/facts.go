package trace

import (
	"encoding/json"
	"slices"

	"github.com/expediter-go/expediter/cascade/classify"
)

// factLines reads recordings that were reduced to facts: a call on each line,
// without times and prompts, and of a text only its class and signature.
// factCases reads a list of such sequences, one for each incident.
var (
	factLines = &format{name: "facts", sniff: sniffFacts, open: func(s *sink) decoder { return factDecoder{s} }}
	factCases = &format{name: "incidents", sniff: sniffCases, stream: []string{""},
		open: func(s *sink) decoder { return caseDecoder{s} }}
)

// fact is one call.
type fact struct {
	File      string `json:"f"`
	Session   string `json:"s"`
	Tool      string `json:"tool"`
	Program   string `json:"sub"` // of a shell
	Status    string `json:"st"`  // ok, fail, denied, open
	Class     string `json:"cls"`
	Signature string `json:"sig"`
}

var factStatus = []string{"ok", "fail", "denied", "open"}

func sniffFacts(h *head) bool {
	if len(h.first) == 0 {
		return false
	}
	var f fact
	return json.Unmarshal(h.first[0], &f) == nil && f.File != "" && f.Tool != "" && slices.Contains(factStatus, f.Status) &&
		fieldOf(h.first[0], "i") != nil
}

type factDecoder struct{ *sink }

func (d factDecoder) record(_ string, raw json.RawMessage) error {
	var f fact
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	if f.File == "" || f.Tool == "" || !slices.Contains(factStatus, f.Status) {
		d.foreign()
		return nil
	}
	name := f.File
	if f.Session != "" {
		name += "/" + f.Session
	}
	d.session(name).fact(f)
	return nil
}

// fact tells a call and its result. The calls of one turn cannot be told from
// those of the next, so each is one.
func (s *session) fact(f fact) {
	s.turn()
	c := issued{tool: f.Tool, agent: classify.ClaudeCode, protocol: classify.Agent}
	if f.Program != "" {
		c.argv = []string{f.Program}
	}
	s.issue(c)
	r := resulted{how: Flagged}
	switch {
	case f.Status == "open":
		s.forget()
		return
	case f.Status == "ok":
	default:
		r.obs.Failed, r.obs.Class, r.obs.Result = true, f.Class, f.Signature
	}
	s.result(r)
}

// factCase is one incident, [tool, F or S, class, signature] for each call.
type factCase struct {
	ID    string      `json:"id"`
	Calls [][4]string `json:"model"`
}

func sniffCases(h *head) bool {
	var c factCase
	return h.array && h.element != nil && json.Unmarshal(h.element, &c) == nil && c.ID != "" && len(c.Calls) > 0 &&
		fieldOf(h.element, "facts") != nil
}

type caseDecoder struct{ *sink }

func (d caseDecoder) record(_ string, raw json.RawMessage) error {
	var c factCase
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	for _, call := range c.Calls {
		f := fact{Tool: call[0], Status: "ok", Class: call[2], Signature: call[3]}
		if call[1] == "F" {
			f.Status = "fail"
		}
		d.session(c.ID).fact(f)
	}
	return nil
}
