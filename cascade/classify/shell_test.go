package classify

import (
	"strings"
	"testing"
	"time"
)

// How a command of the table below is to be read.
const (
	alone = false // its exit code is the program's own
	mixed = true  // it may be another's
)

var shellCommands = []struct {
	text, program, sub string
	compound           bool
}{
	// One program.
	{"rg x", "rg", "x", alone},
	{"  ls -la  ", "ls", "", alone},
	{"git status", "git", "status", alone},
	{"git -C /srv/app log --oneline", "git", "log", alone},
	{"git --no-pager -c color.ui=never diff", "git", "diff", alone},
	{"/usr/local/bin/python3 -m pytest -q", "python3", "-m pytest", alone},
	{"python -c 'import sys; print(sys.path)'", "python", "", alone},
	{"./script.sh --fast", "script.sh", "", alone},
	{"~/bin/deploy prod", "deploy", "prod", alone},
	{".venv/bin/python manage.py migrate", "python", "manage.py", alone},
	{`"$HOME/go/bin/staticcheck" ./...`, "staticcheck", "./...", alone},
	{`"/opt/My Tools/jq" .`, "jq", ".", alone},
	{"'rg' x", "rg", "x", alone},
	{`\ls`, "ls", "", alone},
	{`l\s -a`, "ls", "", alone},
	{"rg.exe x", "rg", "x", alone},
	{"/c/Windows/System32/CURL.EXE -s x", "CURL", "x", alone},
	{"make -C build test", "make", "test", alone},
	{"cargo +nightly test", "cargo", "test", alone},
	{"kubectl -n prod get pods", "kubectl", "get", alone},
	{"docker compose up", "docker", "compose", alone},
	{"docker exec -it web rg x", "docker", "exec", alone},
	{"ssh host 'rg x'", "ssh", "host", alone},
	{"pnpm --filter web build", "pnpm", "build", alone},
	{"which rg", "which", "", alone},
	{"[ -f x ]", "test", "", alone},
	{"source ~/.nvm/nvm.sh && nvm use 22 && npm test", "npm", "test", mixed},
	{"test -f x", "test", "", alone},
	{"[[ -f x && -d y ]]", "test", "", alone},
	{"(( 1 + 1 ))", "test", "", alone},
	{"go build ./... # then the rest", "go", "build", alone},
	{"rg x \\\n  src", "rg", "x", alone},
	// Redirections.
	{"curl -s https://api.example.com > out.txt 2>&1", "curl", "https://api.example.com", alone},
	{"> out rg x", "rg", "x", alone},
	{"2>/dev/null ls x", "ls", "x", alone},
	{"go vet ./... 2>&1", "go", "vet", alone},
	{"npm ci &>log", "npm", "ci", alone},
	{"sort < in.txt", "sort", "", alone},
	{"cat <<'EOF' > notes.md\nit's (not { closed\nEOF", "cat", "", alone},
	{"python3 - <<EOF\nprint('rg')\nEOF", "python3", "", alone},
	{"psql <<< 'select 1'", "psql", "", alone},
	{"diff <(sort a) <(sort b)", "diff", "$", alone},
	// Variables, assignments, substitutions.
	{"A=1 B='x y' rg x", "rg", "x", alone},
	{"LC_ALL=C timeout 5 rg nope", "rg", "nope", alone},
	{"$PY -m x", "", "", alone},
	{"${TOOL:-rg} x && git status", "", "", mixed},
	{"$(which python3) x.py", "", "", alone},
	{"$(go env GOPATH)/bin/golangci-lint run", "golangci-lint", "run", alone},
	{"X=$(gh pr view 12 --json title)", "gh", "pr", alone},
	{`X="$(gh pr view 12)"; echo "$X"`, "gh", "pr", mixed},
	{"X=`cat f`; docker build -t $X .", "cat", "f", mixed},
	{"X=1", "", "", alone},
	{"export A=b; npm test", "npm", "test", alone},
	{"export A=$(git rev-parse HEAD) && npm test", "git", "rev-parse", mixed},
	{"declare -a xs=(1 2); make", "make", "", alone},
	{"echo $(curl -s x)", "curl", "x", mixed},
	{`echo "v: $(node -v)"`, "node", "", mixed},
	{"git log $(git merge-base a b)..HEAD", "git", "log", alone},
	{"docker run -v $(pwd):/w img", "docker", "run", alone},
	{"git commit -m \"$(cat <<'EOF'\nfix: don't (ever)\nEOF\n)\"", "git", "commit", alone},
	{"kill $(lsof -ti :3000)", "kill", "$", alone},
	// Preparations.
	{"cd /srv/app && npm test", "npm", "test", alone},
	{"cd /srv/app; grep -q y f", "grep", "y", alone},
	{"cd /srv/app\nls", "ls", "", alone},
	{"cd x || exit 1; make", "make", "", mixed},
	{"cd /srv/app", "cd", "", alone},
	{"mkdir -p a/b && cp x a/b", "cp", "x", alone},
	{"mkdir -p a/b", "mkdir", "", alone},
	{"set -euo pipefail\ngo test ./...", "go", "test", alone},
	{"source venv/bin/activate && pytest -q", "pytest", "", mixed},
	{". ./env.sh; ./run", "run", "", mixed},
	{". ./env.sh", "source", "", alone},
	{"echo building && go build ./...", "go", "build", alone},
	{"echo hi", "echo", "", alone},
	{"sleep 30 && gh run view 1", "gh", "run", alone},
	{"sleep 5", "sleep", "", alone},
	{"true", "true", "", alone},
	{":", "", "", alone},
	{"unset X && umask 022 && tar xf a.tgz", "tar", "xf", alone},
	{"exec > log 2>&1; make", "make", "", alone},
	{"trap 'rm -f t' EXIT; curl x", "curl", "x", alone},
	{"[ -f x ] && cat x", "cat", "x", mixed},
	{"command -v rg", "", "", alone},
	{"command -v rg >/dev/null && rg x", "rg", "x", mixed},
	{"type rg", "", "", alone},
	{"which rg && rg x", "rg", "x", mixed},
	// Lists and pipes.
	{"cat log | grep x", "cat", "log", mixed},
	{"npm test 2>&1 | tail -20", "npm", "test", mixed},
	{"set -o pipefail; npm test | tee log", "npm", "test", mixed},
	{"echo '{}' | jq .", "jq", ".", alone},
	{"printf 'a\\n' | grep -c a", "grep", "a", alone},
	{"cat <<'EOF' | kubectl apply -f -\na: b\nEOF", "kubectl", "apply", alone},
	{"cat f | kubectl apply -f -", "cat", "f", mixed},
	{"d=$(mktemp -d); git clone x $d", "git", "clone", alone},
	{"pwd && ls", "ls", "", alone},
	{"pwd", "pwd", "", alone},
	{"git add -A && git commit -m x", "git", "add", mixed},
	{"npm test || true", "npm", "test", mixed},
	{"rg x; echo done", "rg", "x", mixed},
	{"npm start & sleep 3; curl localhost:3000", "npm", "start", mixed},
	{"! grep -q x f", "grep", "x", mixed},
	{"find . -name '*.go' | xargs rg x", "find", ".", mixed},
	{"true && rg x", "rg", "x", alone},
	// Wrappers.
	{"sudo -u me /usr/bin/rg x", "rg", "x", alone},
	{"sudo -E env A=1 nice -n 5 make", "make", "", alone},
	{"sudo -- rg x", "rg", "x", alone},
	{"sudo -i", "sudo", "", alone},
	{"env", "env", "", alone},
	{"env -u A -i B=1 rg x", "rg", "x", alone},
	{"time go test ./...", "go", "test", alone},
	{"/usr/bin/time -f %e go test", "go", "test", alone},
	{"nohup ./server > log 2>&1 &", "server", "", mixed},
	{"timeout 60 npm test", "npm", "test", alone},
	{"timeout -k 5 -s KILL 60s curl x", "curl", "x", alone},
	{"timeout --signal=KILL 5 rg x", "rg", "x", alone},
	{"command rg x", "rg", "x", alone},
	{"exec rg x", "rg", "x", alone},
	{"stdbuf -oL make", "make", "", alone},
	{"xargs -n 1 curl -s < urls", "curl", "", alone},
	{"flock /run/x.lock make", "make", "", alone},
	{"npx -y @scope/tool@1.2 run", "tool", "run", alone},
	{"npx tsc --noEmit", "tsc", "", alone},
	{"uvx --from httpie http x", "http", "x", alone},
	{"pnpm dlx cowsay hi", "cowsay", "hi", alone},
	{"npm exec -- eslint .", "eslint", ".", alone},
	{"bunx vitest", "vitest", "", alone},
	{"uv run pytest", "uv", "run", alone},
	{"npx", "npx", "", alone},
	// Shells inside shells.
	{"bash -lc 'rg x'", "rg", "x", alone},
	{"sh -c \"cd $DIR && make\"", "make", "", alone},
	{"zsh -ic 'git status | head'", "git", "status", mixed},
	{"bash -euo pipefail -c 'npm ci'", "npm", "ci", alone},
	{"sudo bash -c 'bash -c \"curl x\"'", "curl", "x", alone},
	{"eval 'git status'", "git", "status", alone},
	{`eval "$(ssh-agent)"`, "ssh-agent", "", mixed},
	{"bash scripts/check.sh", "bash", "scripts/check.sh", alone},
	{"bash", "bash", "", alone},
	{"powershell -NoProfile -Command Get-ChildItem C:/x", "Get-ChildItem", "C:/x", mixed},
	{"cmd /c npm test", "npm", "test", mixed},
	// Groups, conditions, loops, functions.
	{"(cd x && grep y f)", "grep", "y", alone},
	{"{ make; }", "make", "", alone},
	{"if [ -f go.mod ]; then go test; else npm test; fi", "go", "test", mixed},
	{"if grep -q x f; then echo yes; fi", "grep", "x", mixed},
	{"for f in *.go; do gofmt -l \"$f\"; done", "gofmt", "$", mixed},
	{"for f in $(git ls-files); do echo $f; done", "git", "ls-files", mixed},
	{"for ((i=0;i<3;i++)); do curl x; done", "curl", "x", mixed},
	{"while read -r l; do curl \"$l\"; done < urls", "curl", "$", mixed},
	{"until curl -s x; do sleep 1; done", "curl", "x", mixed},
	{"while true; do gh run list; sleep 5; done", "gh", "run", mixed},
	{"case $1 in a) make a;; *) make b;; esac", "make", "a", mixed},
	{"run() { curl -s x; }; run", "curl", "x", mixed},
	{"run() { curl -s x; }\ngit status", "git", "status", alone},
	{"f() { f; }; f", "", "", mixed},
	{"for f in a b; do echo $f; done", "echo", "", mixed},
	{"!rg x", "rg", "x", alone},
	// What is no valid shell, or says nothing.
	{"", "", "", alone},
	{"# only a comment", "", "", alone},
	{"'rg", "", "", mixed},
	{"git commit -m 'it is not closed", "git", "commit", mixed},
	{"cd /srv && cat <<EOF\nno end", "cat", "", mixed},
	{"rg x && (", "rg", "x", mixed},
	{"for f in a; do", "", "", mixed},
	{"do npm test", "npm", "test", mixed},
	{")", "", "", mixed},
	{"\\", "", "", alone},
	{"-XshowSettings:properties -version", "", "", alone},
	{"120", "", "", alone},
	{"> out", "", "", alone},
	{"gr\u00e9p x", "", "", alone},
}

func TestShellCommands(t *testing.T) {
	for _, tt := range shellCommands {
		t.Run(tt.text, func(t *testing.T) {
			got := Observation{Tool: "Bash", Shell: tt.text}.command()
			got.hushed, got.waits = false, false
			want := command{program: tt.program, sub: tt.sub, compound: tt.compound}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestPowerShell(t *testing.T) {
	tests := []struct{ text, want string }{
		{`Get-ChildItem -Path C:\w | Select-Object Name`, "Get-ChildItem"},
		{`cd C:\w; dotnet build`, "dotnet"},
		{`Set-Location "C:\My Work"; npm test`, "npm"},
		{`& "C:\Program Files\Git\bin\git.exe" status`, "git"},
		{`$x = Get-Content f.txt; Write-Host $x`, "Get-Content"},
		{`[Console]::OutputEncoding = 1; dotnet test`, "dotnet"},
		{`$env:A = "1"`, ""},
		{`try { npm test } catch { }`, "npm"},
		{`if (Test-Path x) { rg y }`, ""},
		{"rg `\n  x", "rg"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			if got := (Observation{Tool: "PowerShell", Shell: tt.text}).command(); got.program != tt.want || !got.compound {
				t.Errorf("got %+v, want %s, compound", got, tt.want)
			}
		})
	}
}

// TestHostileShellText holds that no text takes long or too deep.
func TestHostileShellText(t *testing.T) {
	again := func(s string, n int) string { return strings.Repeat(s, n) }
	var doubling strings.Builder
	doubling.WriteString("f0() { rg x; }\n")
	for i := range 40 {
		f := func(n int) string { return "f" + again("x", n) }
		doubling.WriteString(f(i+1) + "() { " + f(i) + "; " + f(i) + "; }\n")
	}
	texts := map[string]string{
		"parentheses":        again("(", 10_000),
		"all parentheses":    again("(", maxShell),
		"closed":             again("(", 10_000) + "rg x" + again(")", 10_000),
		"groups":             again("{ ", 10_000),
		"substitutions":      again("$(", maxShell/2),
		"in quotes":          again(`"$(`, maxShell/3),
		"backquotes":         again("`", maxShell),
		"escaped backquotes": again("\\`", maxShell/2),
		"conditions":         again("if ", maxShell/3),
		"negations":          again("! ", maxShell/2),
		"times":              again("time ", maxShell/5),
		"arithmetic":         "((" + again("(", maxShell-2),
		"indexes":            "a" + again("[a", maxShell/2-1),
		"expansions":         again("${a:-", maxShell/5),
		"here-documents":     again("<<a ", maxShell/4),
		"a list":             again("a;", maxShell/2),
		"pipes":              again("a|", maxShell/2-1) + "a",
		"tests":              "[[ " + again("! ", maxShell/2-8) + "x ]]",
		"globs":              again("@(", maxShell/2),
		"functions":          doubling.String() + "f" + again("x", 40),
		"wrappers":           again("sudo ", maxShell/5) + "rg",
		"evals":              again("eval ", 10_000) + "rg",
		"evals in functions": "f() { eval '" + again("x=1;", 10_000) + "'; }\n" + again("f\n", 5_000),
		"nested shells":      again("bash -c ", 1_000) + "rg",
		"too long":           again("rg x;", 1<<20),
		"quotes":             again("'\"", maxShell/2),
		"braces":             again("{a,", maxShell/3),
		"zero bytes":         again("\x00", maxShell),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			checkProgram(t, Observation{Tool: "Bash", Shell: text}.command())
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v for %d bytes", took, len(text))
			}
		})
	}
}

func checkProgram(t testing.TB, c command) {
	t.Helper()
	if c.program != "" && !isPlain(c.program) || len(c.sub) > maxProgram+len("-m ") {
		t.Errorf("got program %q and subcommand %q", c.program, c.sub)
	}
}

func FuzzShellKey(f *testing.F) {
	for _, tt := range shellCommands {
		f.Add("Bash", tt.text)
	}
	f.Add("pwsh", "$x = Get-Content f | % { $_ }")
	f.Fuzz(func(t *testing.T, tool, text string) {
		checkProgram(t, Observation{Tool: tool, Shell: text}.command())
		checkProgram(t, Observation{Tool: "pwsh", Shell: text}.command())
		checkProgram(t, Observation{Argv: strings.Fields(text)}.command())
	})
}

func BenchmarkShellKey(b *testing.B) {
	for name, text := range map[string]string{
		"simple": "git status",
		"list":   "cd /srv/app && sudo -u me timeout 60 npm test 2>&1 | tail -20",
		"64kB":   strings.Repeat("printf '%s\\n' \"$(cat file)\" >> out\n", maxShell/36),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Key(Observation{Tool: "Bash", Shell: text})
			}
		})
	}
}
