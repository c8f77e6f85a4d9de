package classify

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/cascade"
)

const recordings = "../../../shared/data/traces"

// TestKeysOfRecordedCommands reads every shell command of the recordings that
// lie beside the repository: whatever agents write, a key holds a plain name.
func TestKeysOfRecordedCommands(t *testing.T) {
	if _, err := os.Stat(recordings); err != nil {
		t.Skip("no recordings beside the repository")
	}
	commands, unnamed := 0, 0
	err := filepath.WalkDir(recordings, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return eachRecord(path, func(record any) {
			eachCommand(record, func(text string) {
				c := Observation{Tool: "Bash", Shell: text}.command()
				checkProgram(t, c)
				commands++
				if c.program == "" {
					unnamed++
					t.Logf("no program: %.80q", text)
				}
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d commands, %d without a program", commands, unnamed)
	if commands < 100 || unnamed*20 > commands {
		t.Errorf("got %d commands, %d of them without a program", commands, unnamed)
	}
}

// eachRecord decodes a JSON file, or one with a JSON value on each line.
func eachRecord(path string, use func(any)) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var whole any
	if json.Unmarshal(data, &whole) == nil {
		use(whole)
		return nil
	}
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var record any
		if json.Unmarshal(lines.Bytes(), &record) == nil {
			use(record)
		}
	}
	return lines.Err()
}

// eachCommand finds the members named command, cmd and action that hold a
// text, also in arguments that came as a JSON text.
func eachCommand(v any, use func(string)) {
	switch v := v.(type) {
	case []any:
		for _, member := range v {
			eachCommand(member, use)
		}
	case map[string]any:
		for name, member := range v {
			text, ok := member.(string)
			switch {
			case !ok:
				eachCommand(member, use)
			case name == "command" || name == "cmd" || name == "action":
				use(text)
			case name == "arguments":
				var packed any
				if json.Unmarshal([]byte(text), &packed) == nil {
					eachCommand(packed, use)
				}
			}
		}
	}
}

// TestRecordedClasses reads the failures of recorded sessions, reduced to a
// class and a signature: no answer, refusal or cancelled call counts as a
// failure, with the class or without it.
func TestRecordedClasses(t *testing.T) {
	f, err := os.Open("../../../shared/data/sessions.jsonl.gz")
	if err != nil {
		t.Skip("no recordings beside the repository")
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	harmless := map[string]bool{"test_build": true, "usage": true, "no_file": true, "nonzero": true, "denied": true, "cancelled": true}
	seen, failures := 0, 0
	for lines := bufio.NewScanner(unpacked); lines.Scan(); {
		var r struct{ Tool, Sub, Cls, Sig string }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Cls == "" {
			continue
		}
		o := Observation{Protocol: Agent, Agent: ClaudeCode, Tool: r.Tool, Result: r.Sig, Failed: true}
		if r.Sub != "" {
			o.Argv = []string{r.Sub}
		}
		for _, o.Class = range []string{"", r.Cls} {
			if v := Observe(o); harmless[r.Cls] && v.Outcome == cascade.Failed {
				t.Errorf("%s, class %q: %.80q is %s by %s", r.Cls, o.Class, r.Sig, v.Class, v.Rule)
			} else if o.Class != "" && v.Outcome == cascade.Failed {
				failures++
			}
		}
		seen++
	}
	t.Logf("%d recorded failures, %d of them the tool's", seen, failures)
	if seen < 500 || failures == 0 {
		t.Errorf("got %d recorded failures, %d of them the tool's", seen, failures)
	}
}
