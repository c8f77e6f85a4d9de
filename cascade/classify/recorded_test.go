package classify

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
