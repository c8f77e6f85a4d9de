package trace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompactDocuments: a document on one line is also a line that is an
// object; it is of the same format and says the same.
func TestCompactDocuments(t *testing.T) {
	read := func(data []byte) Stats {
		stats, err := Read(t.Context(), "test", bytes.NewReader(data), Options{Judge: facts}, func(*Event) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		stats.Bytes, stats.Records = 0, 0 // a line is one record
		return stats
	}
	for _, name := range fixtures(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if ext := filepath.Ext(name); ext != ".json" && ext != ".traj" || !json.Valid(data) { // one may be torn
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			var compact bytes.Buffer
			if err := json.Compact(&compact, data); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(read(data), read(compact.Bytes())); d != "" {
				t.Errorf("as it is, and on one line:\n%s", d)
			}
		})
	}
}
