// Package policy holds the module to its own rules: who imports whom, which
// room may read a clock, and how a file looks. It has no code but tests.
package policy

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/expediter-go/expediter"

// room is what one folder may import besides the standard library, and what it
// may do. The zero room is the strictest but for quiet.
type room struct {
	rooms     []string          // of this module; "*" is every one of them
	libraries map[string]string // third-party packages, and the reason for each
	quiet     bool              // imports nothing that reaches out: see loud
	clock     string            // why it may read the clock or sleep; empty: it may not
}

// rooms is the whole module. Dependencies point one way: leaves, then
// expediter, then what acts on its decisions, then commands. Integrations are
// imported by commands and examples alone.
var rooms = map[string]room{
	"budget":            {quiet: true},
	"scope":             {quiet: true},
	"expediter/breaker": {quiet: true},
	"cascade": {quiet: true, libraries: map[string]string{
		"github.com/cenkalti/backoff/v4": "the exponential schedule of probes",
	}},
	"cascade/redact": {quiet: true, rooms: []string{"internal/pattern"}},
	"cascade/classify": { // knows the error types of os and syscall, and those of net by their names
		rooms: []string{"cascade", "internal/pattern"}, libraries: map[string]string{
			"mvdan.cc/sh/v3/syntax": "the program that a shell text runs (docs/decisions/shell.md)",
		}},
	"capability": {quiet: true, rooms: []string{
		"capability/document",
		"expediter/breaker", // an entry's own policy
		"internal/pattern",
	}},
	"capability/document": {quiet: true, rooms: []string{"internal/pattern"}, libraries: map[string]string{
		"go.yaml.in/yaml/v3": "YAML with the line and column of every node",
	}},

	"expediter": {quiet: true, rooms: []string{"budget", "capability", "cascade", "cascade/redact", "expediter/breaker"}},

	"expediter/executor": {clock: "it is the outermost layer of a Go program's calls",
		rooms: []string{"capability", "cascade", "cascade/classify", "cascade/redact", "expediter", "report/freshness"},
		libraries: map[string]string{
			"golang.org/x/sync/semaphore": "the places of a bulkhead, awaited in order",
		}},
	"expediter/precheck": {rooms: []string{"capability", "expediter"}, libraries: map[string]string{
		"golang.org/x/sync/errgroup":     "checks run in parallel, bounded",
		"golang.org/x/sync/singleflight": "one check per tool at a time",
	}},
	"expediter/replay": {quiet: true, rooms: []string{"budget", "capability", "capability/document", "cascade",
		"expediter", "expediter/breaker", "scope"}},
	"expediter/sonybreaker": {clock: "gobreaker reads the clock itself, so its guard does", rooms: []string{"expediter", "expediter/breaker"}, libraries: map[string]string{
		"github.com/sony/gobreaker/v2": "the breaker that it is made for",
	}},
	"expediter/zaplog": {quiet: true, rooms: []string{"budget", "capability", "cascade/redact", "expediter", "expediter/breaker"},
		libraries: map[string]string{
			"go.uber.org/zap":         "the logger that it is made for",
			"go.uber.org/zap/zapcore": "its levels",
		}},
	"integration/a2a": {rooms: []string{"capability", "cascade", "cascade/classify", "expediter/executor", "expediter/precheck"},
		libraries: map[string]string{
			"github.com/a2aproject/a2a-go/v2/a2a":                 "the protocol's types (docs/decisions/a2a.md)",
			"github.com/a2aproject/a2a-go/v2/a2aclient":           "the client that it guards",
			"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard": "reads an agent's card",
		}},
	"integration/httptool": {rooms: []string{"cascade", "cascade/classify", "expediter/executor"}},

	"integration/mcpproxy": {clock: "a proxy is the outermost layer of what it stands between",
		rooms: []string{"capability", "capability/document", "cascade", "cascade/classify", "cascade/redact", "expediter",
			"expediter/breaker", "internal/control", "internal/session", "internal/store", "internal/task", "report", "report/freshness", "scope"},
		libraries: map[string]string{
			"github.com/modelcontextprotocol/go-sdk/mcp":          "the protocol, its transports and its server (docs/decisions/mcp.md)",
			"github.com/modelcontextprotocol/go-sdk/jsonrpc":      "messages as they stand (docs/decisions/mcp.md)",
			"github.com/modelcontextprotocol/go-sdk/auth":         "bearer tokens of clients, OAuth towards servers (docs/decisions/mcp.md)",
			"github.com/modelcontextprotocol/go-sdk/auth/extauth": "OAuth towards servers without a human (docs/decisions/mcp.md)",
			"github.com/modelcontextprotocol/go-sdk/oauthex":      "what servers say of their logins (docs/decisions/mcp.md)",
			"golang.org/x/oauth2":                                 "the tokens that the SDK's handlers give (docs/decisions/mcp.md)",
			"golang.org/x/sync/singleflight":                      "one login or renewal at a time",
			"github.com/rogpeppe/go-internal/lockedfile":          "one process renews a kept token at a time (docs/decisions/store.md)",
			"github.com/cenkalti/backoff/v4":                      "servers are connected anew ever later",
			"github.com/tailscale/hujson":                         "clients' files are JSON with comments (docs/decisions/jsonc.md)",
			"go.uber.org/zap":                                     "the log of a program that runs unattended",
			"golang.org/x/sync/errgroup":                          "servers run beside each other",
			"golang.org/x/sync/semaphore":                         "calls in flight, bounded",
		}},

	"integration/redisfleet": {clock: "leases and beats are a matter of real time", rooms: []string{"cascade", "cascade/redact", "expediter", "expediter/breaker"},
		libraries: map[string]string{
			"github.com/redis/go-redis/v9":   "Redis and Valkey, single, with Sentinel, as a Cluster (docs/decisions/redis.md)",
			"github.com/cenkalti/backoff/v4": "a Redis that is away is asked ever later, with jitter",
			"go.uber.org/zap":                "says that Redis is away, where a program has a log",
		}},
	"integration/redisfleet/proof": {}, // tests alone: fleets of real processes
	"integration/redisfleet/redistest": {clock: "it waits for a server that it starts", libraries: map[string]string{
		"github.com/redis/go-redis/v9": "asks whether the server answers (docs/decisions/redis.md)",
	}},

	"report": {quiet: true, rooms: []string{"budget", "capability", "cascade", "cascade/redact", "expediter", "expediter/breaker",
		"internal/pattern", "scope"}},
	"report/freshness": {quiet: true, rooms: []string{"capability"}},

	"internal/pattern": {quiet: true},
	"internal/task":    {rooms: []string{"capability", "capability/document", "expediter", "expediter/breaker", "scope"}},
	"internal/runner": {clock: "it runs a task as an agent would, in real time", rooms: []string{"capability",
		"cascade", "cascade/classify", "cascade/redact", "expediter", "expediter/breaker", "expediter/precheck",
		"internal/task", "report", "report/freshness", "scope"}},
	"internal/trace": {rooms: []string{"cascade", "cascade/classify", "cascade/redact", "expediter", "internal/pattern"},
		libraries: map[string]string{
			"github.com/klauspost/compress/zstd": "recordings that are kept packed (docs/decisions/zstd.md)",
		}},
	"internal/analysis": {rooms: []string{"budget", "capability", "capability/document", "cascade", "cascade/classify", "expediter",
		"expediter/breaker", "expediter/replay", "internal/trace"}},
	"internal/view": {rooms: []string{"cascade/redact", "internal/analysis", "internal/trace"}},
	"internal/store": {libraries: map[string]string{
		"go.etcd.io/bbolt":                           "one file for each session, transactions that survive a crash (docs/decisions/store.md)",
		"go.etcd.io/bbolt/errors":                    "tells a file that is none of its own from one that is held",
		"github.com/rogpeppe/go-internal/lockedfile": "waits its turn among processes (docs/decisions/store.md)",
	}},
	"internal/session": {rooms: []string{"capability", "capability/document", "cascade", "cascade/classify", "cascade/redact",
		"expediter", "expediter/breaker", "internal/store", "report", "scope"}},
	"internal/control": {clock: "both ends of a socket: bounds of a request, the age of what was left",
		rooms: []string{"cascade/redact", "internal/store"}},
	"internal/operator": {libraries: map[string]string{
		"mvdan.cc/sh/v3/syntax": "the programs that a shell text runs (docs/decisions/shell.md)",
		"golang.org/x/term":     "is a human at the terminal (docs/decisions/term.md)",
	}},
	"internal/settings": {rooms: []string{"internal/pattern"}, libraries: map[string]string{
		"github.com/tailscale/hujson":          "JSON with comments, changed in place (docs/decisions/jsonc.md)",
		"github.com/rogpeppe/go-internal/diff": "shows a change before it is made (docs/decisions/jsonc.md)",
	}},
	"integration/hook": {rooms: []string{"capability", "capability/document", "cascade", "cascade/classify", "cascade/redact", "expediter",
		"expediter/breaker", "internal/operator", "internal/session", "internal/store", "internal/task", "report"}},
	"internal/hookproc": {clock: "a hook call is a process of its own, and this its outermost layer",
		rooms: []string{"cascade/redact", "integration/hook", "internal/store"}},
	"internal/simulate": {rooms: []string{"budget", "capability", "cascade", "cascade/classify", "expediter", "expediter/breaker",
		"report", "scope"}, libraries: map[string]string{
		"github.com/sony/gobreaker/v2":   "a peer in the comparison",
		"github.com/cenkalti/backoff/v4": "the retries of an agent without a breaker",
	}},
	"cmd/expediter": {clock: "a command is the outermost layer", rooms: []string{"*"}, libraries: map[string]string{
		"go.uber.org/zap":                   "the log of the proxy, on standard error",
		"go.uber.org/zap/zapcore":           "its format",
		"github.com/spf13/cobra":            "subcommands, help and completion (docs/decisions/cli.md)",
		"golang.org/x/term":                 "is this a terminal, and how wide (docs/decisions/term.md)",
		"github.com/spf13/pflag":            "flags that several commands share (docs/decisions/cli.md)",
		"github.com/schollz/progressbar/v3": "how far a long analysis is (docs/decisions/progress.md)",
	}},
	"cmd/expediter-hook": {rooms: []string{"internal/hookproc"}}, // and nothing else: each import costs every tool call
	"examples/agentloop": {clock: "an example program is the outermost layer", rooms: []string{"*"}},
	"examples/slowpeer": {clock: "an example program is the outermost layer", rooms: []string{"*"}, libraries: map[string]string{
		"github.com/sony/gobreaker/v2":                      "a peer in the comparison",
		"github.com/failsafe-go/failsafe-go":                "a peer in the comparison",
		"github.com/failsafe-go/failsafe-go/bulkhead":       "its bulkhead",
		"github.com/failsafe-go/failsafe-go/circuitbreaker": "its breaker",
		"github.com/failsafe-go/failsafe-go/fallback":       "its fallback",
		"github.com/failsafe-go/failsafe-go/timeout":        "its deadline",
		"github.com/a2aproject/a2a-go/v2/a2a":               "the real peers, as A2A servers",
		"github.com/a2aproject/a2a-go/v2/a2aclient":         "calls them",
		"github.com/a2aproject/a2a-go/v2/a2asrv":            "serves them",
	}},
}

// loud is what a quiet room must not import: it reaches no network, file,
// process or log.
var loud = []string{"log", "log/slog", "net", "net/http", "os", "os/exec", "os/signal", "os/user", "syscall",
	"go.uber.org/zap", "golang.org/x/sys"}

// testLibraries are those that tests may import beside what their room may.
var testLibraries = map[string]string{
	"github.com/a2aproject/a2a-go/v2":        "real agents, for what talks to them",
	"github.com/modelcontextprotocol/go-sdk": "real servers and clients, for what stands between them (docs/decisions/mcp.md)",
	"github.com/google/go-cmp":               "readable differences (docs/decisions/go-cmp.md)",
	"pgregory.net/rapid":                     "state machines against a model (docs/decisions/rapid.md)",
	"github.com/rogpeppe/go-internal":        "scripts that run commands (docs/decisions/testscript.md)",
	"github.com/sony/gobreaker":              "a peer in benchmarks, and the oracle of the breaker",
	"github.com/failsafe-go/failsafe-go":     "a peer in benchmarks (docs/decisions/benchmarks.md)",
	"go.uber.org/zap":                        "its observer, to read log lines back",
	"github.com/Shopify/toxiproxy":           "a network that is slow or cut (docs/decisions/toxiproxy.md)",
	"github.com/sirupsen/logrus":             "toxiproxy's log, which tests silence",
	"github.com/redis/go-redis":              "a store for the peer in the comparison of fleets, and Redis as a test sees it",
	"github.com/chromedp/chromedp":           "the pages in a real browser (docs/decisions/browser.md)",
	"github.com/chromedp/cdproto":            "what the browser reports: requests, errors (docs/decisions/browser.md)",
}

func TestEveryFolderIsARoom(t *testing.T) {
	for dir := range packages(t) {
		if _, ok := rooms[dir]; !ok && dir != "." {
			t.Errorf("%s is not in the table of rooms; first see whether its code belongs into an existing package, else add it to rooms in policy_test.go with what it may import, and to docs/architecture.md", dir)
		}
	}
}

func TestEveryRoomIsAFolder(t *testing.T) {
	have := packages(t)
	for dir, r := range rooms {
		if have[dir] == nil {
			t.Errorf("the room %s has no Go file; take it out of policy_test.go", dir)
		}
		for _, other := range r.rooms {
			if _, ok := rooms[other]; !ok && other != "*" {
				t.Errorf("%s may import %s, which is no room; correct policy_test.go", dir, other)
			}
		}
	}
}

func TestImports(t *testing.T) {
	for dir, files := range packages(t) {
		for _, f := range files {
			for _, imported := range f.imports() {
				if fault := rooms[dir].refuses(imported, f.test()); fault != "" {
					t.Errorf("%s imports %s: %s", f.path, imported, fault)
				}
			}
		}
	}
}

// refuses says what is wrong with an import, or nothing.
func (r room) refuses(imported string, test bool) string {
	name, ours := strings.CutPrefix(imported, module+"/")
	switch first, _, _ := strings.Cut(imported, "/"); {
	case test:
		if ours || !strings.Contains(first, ".") || r.libraries[imported] != "" || lists(testLibraries, imported) {
			return ""
		}
		return "tests use what testLibraries in policy_test.go names; do without it, or add it with its reason"
	case r.quiet && slices.Contains(loud, imported) && r.libraries[imported] == "":
		return "a quiet room reaches no network, file, process or log; take what is needed as a parameter"
	case ours:
		if slices.Contains(r.rooms, name) || slices.Contains(r.rooms, "*") {
			return ""
		}
		return "this direction is not in the table of rooms; move the code, or change rooms in policy_test.go"
	case strings.Contains(first, ".") && r.libraries[imported] == "":
		return "no third-party library without its reason in rooms (policy_test.go)"
	}
	return ""
}

// lists reports whether the map has the package, or the module that it is in.
func lists(libraries map[string]string, imported string) bool {
	for ; strings.Contains(imported, "/"); imported = path.Dir(imported) {
		if libraries[imported] != "" {
			return true
		}
	}
	return false
}

func TestImportsAreRefused(t *testing.T) {
	quiet := room{quiet: true, rooms: []string{"cascade"}, libraries: map[string]string{"go.uber.org/zap": "why"}}
	tests := []struct {
		name, imported string
		test, refused  bool
	}{
		{"standard library", "strings", false, false},
		{"operating system", "os/exec", false, true},
		{"operating system, in a test", "os/exec", true, false},
		{"a room it may import", module + "/cascade", false, false},
		{"another room", module + "/report", false, true},
		{"a room below one it may import", module + "/cascade/classify", false, true},
		{"its library", "go.uber.org/zap", false, false},
		{"another package of its library", "go.uber.org/zap/zapcore", false, true},
		{"a library", "github.com/spf13/cobra", false, true},
		{"a library for tests", "github.com/google/go-cmp/cmp", false, true},
		{"a library for tests, in a test", "github.com/google/go-cmp/cmp", true, false},
		{"a library, in a test", "github.com/stretchr/testify/assert", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := quiet.refuses(tt.imported, tt.test); (got != "") != tt.refused {
				t.Errorf("got %q, want refused: %v", got, tt.refused)
			}
		})
	}
}

// clockFuncs read the clock or wait for it.
var clockFuncs = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

func TestClock(t *testing.T) {
	for dir, files := range packages(t) {
		for _, f := range files {
			if f.test() || rooms[dir].clock != "" {
				continue
			}
			for _, use := range f.uses("time", clockFuncs...) {
				t.Errorf("%s: time.%s; this room is given the time as a parameter", f.at(use), use.Sel.Name)
			}
		}
	}
}

func TestSleepOnlyInABubble(t *testing.T) {
	for _, files := range packages(t) {
		for _, f := range files {
			if !f.test() || slices.Contains(f.imports(), "testing/synctest") {
				continue
			}
			for _, use := range f.uses("time", "Sleep") {
				t.Errorf("%s: a test that sleeps; use testing/synctest, or wait for the thing itself", f.at(use))
			}
		}
	}
}

// skips are the tests that may be skipped, by file, each with its reason.
var skips = map[string]string{
	"internal/trace/corpus_test.go":        "the recordings that it reads are not part of the repository",
	"internal/trace/corpus_facts_test.go":  "the recordings that it reads are not part of the repository",
	"internal/analysis/recordings_test.go": "the recordings that it reads are not part of the repository",
	"cmd/expediter/hook_facts_test.go":     "the recordings that it reads are not part of the repository",
	"cascade/classify/recorded_test.go":    "reads recordings that lie beside the repository",
	"cmd/expediter/proxy_servers_test.go":  "a machine without the public MCP servers; with CI=true their absence is an error",
	"cmd/expediter/install_test.go":        "root on a machine without setpriv; with CI=true its absence is an error",
	"internal/view/browser_test.go":        "a machine without Chromium; with CI=true its absence is an error",

	"integration/redisfleet/model_test.go":      "a machine without spin; with CI=true its absence is an error",
	"integration/redisfleet/redistest/redis.go": "a machine without redis-server; with CI=true its absence is an error",
}

func TestNoTestIsSkipped(t *testing.T) {
	for _, files := range packages(t) {
		for _, f := range files {
			if !f.test() || skips[f.path] != "" {
				continue
			}
			for _, call := range f.skipping() {
				t.Errorf("%s: a skipped test proves nothing; let it run, or add the file to skips in policy_test.go with the reason", f.at(call))
			}
		}
	}
}

var requirement = regexp.MustCompile(`(?m)^(?:require )?\s*([\w./-]+\.[\w./-]+) v\S+$`)

func TestModule(t *testing.T) {
	data, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)^replace\b`).Match(data) {
		t.Error("go.mod has a replace: whoever installs the module does not get it; publish the change instead")
	}
	if _, err := os.Stat("go.work"); err == nil {
		t.Error("go.work: the module is one and must build as others get it; remove the file")
	}
	for _, m := range requirement.FindAllStringSubmatch(string(data), -1) {
		if !required(m[1]) {
			t.Errorf("go.mod requires %s, which no room names; remove it, or add it with its reason to policy_test.go", m[1])
		}
	}
}

// required reports whether a room or the tests have a reason for a module.
func required(mod string) bool {
	base := regexp.MustCompile(`/v\d+$`).ReplaceAllString(mod, "")
	named := func(libraries map[string]string) bool {
		for lib := range libraries {
			if lib == mod || lib == base || strings.HasPrefix(lib, mod+"/") {
				return true
			}
		}
		return false
	}
	for _, r := range rooms {
		if named(r.libraries) {
			return true
		}
	}
	return named(testLibraries)
}

// packages parses every Go file of the module, by folder. Nested modules and
// testdata are not part of it.
func packages(t *testing.T) map[string][]*file {
	t.Helper()
	byDir := map[string][]*file{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && foreign(name, d.Name()):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		f, err := parse(filepath.ToSlash(name), nil)
		if err == nil {
			byDir[path.Dir(f.path)] = append(byDir[path.Dir(f.path)], f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return byDir
}

func foreign(dir, base string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil || base == "testdata" || base[0] == '.' || base[0] == '_'
}

// imports lists the paths that the file imports.
func (f *file) imports() []string {
	var paths []string
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// uses finds pkg.Name for the names given, whatever the file calls pkg.
func (f *file) uses(pkg string, names ...string) []*ast.SelectorExpr {
	local := ""
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && p == pkg {
			local = path.Base(pkg)
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	var found []*ast.SelectorExpr
	for n := range ast.Preorder(f.ast) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(names, sel.Sel.Name) {
			continue
		}
		if x, ok := sel.X.(*ast.Ident); ok && local != "" && x.Name == local {
			found = append(found, sel)
		}
	}
	return found
}

// skipping finds calls of t.Skip and its like. To rapid such a call says that an
// action does not apply, so it is another thing there.
func (f *file) skipping() []*ast.CallExpr {
	var found []*ast.CallExpr
	var path []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && paramOf(path, x.Name) == "testing" {
			found = append(found, call)
		}
		return true
	})
	return found
}

// paramOf returns the package of the innermost parameter of that name.
func paramOf(path []ast.Node, name string) string {
	for _, n := range slices.Backward(path) {
		var fn *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			fn = n.Type
		case *ast.FuncLit:
			fn = n.Type
		default:
			continue
		}
		for _, field := range fn.Params.List {
			if slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return id.Name == name }) {
				return packageOf(field.Type)
			}
		}
	}
	return ""
}

// packageOf returns testing for *testing.T and testing.TB.
func packageOf(of ast.Expr) string {
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if sel, ok := of.(*ast.SelectorExpr); ok {
		if pkg, ok := sel.X.(*ast.Ident); ok {
			return pkg.Name
		}
	}
	return ""
}

func TestSkippingIsFound(t *testing.T) {
	tests := []struct {
		name, src string
		want      int
	}{
		{"test", `func TestA(t *testing.T) { t.Skip("not now") }`, 1},
		{"benchmark", `func BenchmarkA(b *testing.B) { b.SkipNow() }`, 1},
		{"helper", `func help(tb testing.TB) { tb.Skipf("no %s", "x") }`, 1},
		{"subtest", `func TestA(t *testing.T) { t.Run("a", func(t *testing.T) { t.Skip() }) }`, 1},
		{"rapid", `func TestA(t *testing.T) { rapid.Check(t, func(t *rapid.T) { t.Skip("does not apply") }) }`, 0},
		{"something else", `func TestA(t *testing.T) { list.Skip() }`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parse("a_test.go", "package a\n"+tt.src)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(f.skipping()); got != tt.want {
				t.Errorf("found %d, want %d", got, tt.want)
			}
		})
	}
}
