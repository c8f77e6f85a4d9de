package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// record is what is remembered of one changed file, so that it can be given
// back as it was. It is kept in Request.State, readable for the user alone:
// settings may hold secrets.
type record struct {
	Version  int      `json:"version"`
	Agent    string   `json:"agent"`
	File     string   `json:"file"`
	Missing  bool     `json:"missing,omitempty"`  // there was no file
	Original []byte   `json:"original,omitempty"` // what it was, without our entries
	After    string   `json:"after"`              // hash of what we left
	Dirs     []string `json:"dirs,omitempty"`     // folders that were made for it, outermost first
	Backup   string   `json:"backup,omitempty"`
}

const recordVersion = 1

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// recordPath is the place of a file's record; empty: nothing is remembered.
func recordPath(state, target string) string {
	if state == "" {
		return ""
	}
	return filepath.Join(state, hash([]byte(target))[:32]+".json")
}

// remembered is the record of a file, or nil. One that cannot be read is as
// good as none: Uninstall can do without.
func remembered(state string, f file) *record {
	path := recordPath(state, f.target)
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var r record
	if json.Unmarshal(data, &r) != nil || r.Version != recordVersion || r.File != f.target {
		return nil
	}
	return &r
}

// fits reports whether the file is as we left it.
func (r *record) fits(f file) bool { return r != nil && f.info != nil && r.After == hash(f.data) }

// origin is what is known of a file before our entries came: by the record,
// else by a backup beside it.
func (a *agent) origin(r *record, f file) origin {
	var candidates [][]byte
	if r != nil {
		if r.Missing {
			return origin{known: true}
		}
		candidates = append(candidates, r.Original)
	}
	for _, path := range backups(f.target) {
		if data, err := read(path); err == nil {
			candidates = append(candidates, data)
		}
	}
	for _, data := range candidates {
		d, err := parse(f.path, bytes.TrimPrefix(data, bom))
		if err != nil {
			continue
		}
		if _, found, _ := strip(d, a, origin{}, all); found == 0 {
			return origin{known: true, root: d.root}
		}
	}
	return origin{}
}

// backupName is the n-th name for a backup of a file.
func backupName(target string, n int) string {
	name := target + ".expediter-backup"
	if n > 0 {
		name += fmt.Sprintf(".%d", n)
	}
	return name
}

const maxBackups = 100

// backups are those that stand beside a file.
func backups(target string) []string {
	var list []string
	for n := range maxBackups {
		name := backupName(target, n)
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			break
		}
		list = append(list, name)
	}
	return list
}
