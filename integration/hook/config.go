package hook

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/task"
)

// ProjectMap is the map of a project, in its folder.
const ProjectMap = ".expediter.yaml"

// maxMap bounds a map file, in bytes.
const maxMap = 1 << 20

// source is a file that may hold the map of a session.
type source struct {
	path  string
	asked bool // somebody named it: it is to be there
}

// sources are the files that may hold the map of an agent's session, the first
// that is there wins. Without any the built-in map serves.
func (o Options) sources(agent classify.AgentName, project string) []source {
	switch {
	case o.Map != "":
		return []source{{o.Map, true}}
	case o.env("EXPEDITER_MAP") != "":
		return []source{{o.env("EXPEDITER_MAP"), true}}
	}
	var list []source
	if filepath.IsAbs(project) {
		list = append(list, source{path: filepath.Join(project, ProjectMap)})
	}
	config := o.env("XDG_CONFIG_HOME")
	if home := o.env("HOME"); !filepath.IsAbs(config) && filepath.IsAbs(home) {
		config = filepath.Join(home, ".config")
	}
	if filepath.IsAbs(config) {
		list = append(list, source{path: filepath.Join(config, "expediter", string(agent)+".yaml")})
	}
	return list
}

// stamp tells a version of the file from another. ok is false if the file is not
// there and need not be.
func (s source) stamp() (stamp string, ok bool) {
	switch info, err := os.Stat(s.path); {
	case err == nil:
		return fmt.Sprintf("%s: %d bytes of %d", s.path, info.Size(), info.ModTime().UnixNano()), true
	case errors.Is(err, fs.ErrNotExist) && !s.asked:
		return "", false
	}
	return s.path + ": missing", true
}

// choose says what the engine of a session is made of: the first source that is
// there, or the built-in map.
func (o Options) choose(agent classify.AgentName, project string) session.Choose {
	return func(now session.Setup) (session.Setup, error) {
		for _, s := range o.sources(agent, project) {
			stamp, ok := s.stamp()
			switch {
			case !ok:
				continue
			case now.Stamp == stamp:
				return now, nil
			}
			setup := s.setup(agent, now)
			setup.Stamp = stamp
			return setup, nil
		}
		if name, data, _ := DefaultMap(agent); now.Stamp == stampOf(name, data) {
			return now, nil
		}
		return builtIn(agent)
	}
}

// setup reads the source. A map that cannot be used is told, and what was in use
// goes on, or else the built-in one: a mistake in it must not leave the agent alone
// with its broken tools.
func (s source) setup(agent classify.AgentName, now session.Setup) session.Setup {
	setup, err := readSetup(s.path)
	if err == nil {
		return setup
	}
	if setup = now; now.Source == "" {
		setup, _ = builtIn(agent)
	}
	setup.Problem = strings.ReplaceAll(err.Error(), "\n", "; ")
	return setup
}

func stampOf(name string, data []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(data)
	return fmt.Sprintf("%s: %x", name, h.Sum64())
}

// builtIn is the map that ships for an agent. An agent without one has an empty
// map.
func builtIn(agent classify.AgentName) (session.Setup, error) {
	name, data, ok := DefaultMap(agent)
	setup := session.Setup{Policy: expediter.Interactive(), Source: "no map"}
	var err error
	if ok {
		setup, err = parseSetup(name, data)
	}
	setup.Stamp = stampOf(name, data)
	return setup, err
}

// readSetup reads a map file.
func readSetup(path string) (session.Setup, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		return session.Setup{}, fmt.Errorf("%s is no regular file; give one that is", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return session.Setup{}, fmt.Errorf("the map: %w; give a file that can be read", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMap+1))
	if err == nil && len(data) > maxMap {
		err = fmt.Errorf("%s is longer than %d bytes; check that it is the right file", path, maxMap)
	}
	if err != nil {
		return session.Setup{}, err
	}
	return parseSetup(path, data)
}

// parseSetup makes a setup of a map. The policy is interactive unless the file
// says otherwise (SPEC section 6).
func parseSetup(name string, data []byte) (session.Setup, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return session.Setup{}, err
	}
	file, err := capability.Read(name, data)
	if err != nil {
		return session.Setup{}, err
	}
	named, own, problems := task.ReadPolicy(file.Expediter, root.Key("capability_map"), file.Map)
	if err := problems.Err(); err != nil {
		return session.Setup{}, err
	}
	policy, err := (&task.File{PolicyName: cmp.Or(named, "interactive"), Policy: own}).Effective("")
	return session.Setup{Policy: policy, Map: file.Map, Source: name}, err
}
