package operator

import (
	"slices"
	"strings"
)

// wrapper runs the command that follows it.
type wrapper struct {
	own    int    // how many plain arguments of its own come first
	values string // its flags that take the next word
	shell  bool   // without a command it runs a shell
}

var wrappers = map[string]wrapper{
	"sudo": {values: "-u -g -h -p -C -r -t -T -D -R -U --user --group --host --prompt --chdir --chroot", shell: true},
	"doas": {values: "-u -C", shell: true},
	"ssh":  {own: 1, values: "-p -i -l -o -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w", shell: true},
	"env":  {values: "-u -C --unset --chdir"},
	"time": {values: "-f -o"}, "gtime": {values: "-f -o"}, "nohup": {}, "setsid": {}, "command": {}, "builtin": {},
	"nice": {values: "-n --adjustment"}, "ionice": {values: "-c -n -p"}, "exec": {values: "-a"},
	"stdbuf": {values: "-i -o -e"}, "unbuffer": {}, "chronic": {}, "caffeinate": {values: "-t -w"},
	"timeout":  {own: 1, values: "-k -s --kill-after --signal"},
	"gtimeout": {own: 1, values: "-k -s --kill-after --signal"},
	"flock":    {own: 1, values: "-w -E"}, "taskset": {own: 1}, "chrt": {own: 1},
	"noglob": {}, "nocorrect": {}, "and": {}, "or": {}, "not": {}, "begin": {}, "winpty": {},
}

// inner is the command inside, and the arguments before it.
func (w wrapper) inner(args []string) (inner, before []string) {
	own := w.own
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "" || isAssignment(a):
		case strings.HasPrefix(a, "-"):
			if listed(w.values, a) {
				i++
			}
		case own > 0:
			own--
		default:
			return args[i:], args[:i]
		}
	}
	return nil, args
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, notInName) < 0
}

// listed looks a word up in one of the lists below.
func listed(list, word string) bool {
	if word == "" || strings.IndexByte(word, ' ') >= 0 {
		return false
	}
	for {
		i := strings.Index(list, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		list = list[end:]
	}
}

const (
	// quiet run nothing of what their arguments and their input say.
	quiet = "grep egrep fgrep zgrep rg ag ack ugrep select-string sls findstr gh glab hub echo printf print write-host write-output write " +
		"cat tac bat batcat less more most head tail nl wc sort uniq cut tr sed jq yq tee type get-content gc base64 xxd od " +
		"diff cmp comm ls dir ll eza tree du stat file cd pushd popd set-location mkdir rmdir touch rm cp mv ln install chmod chown " +
		"rsync scp tar zip unzip gzip which whereis get-command gcm hash man help info tldr apropos whatis test [ true false : pwd " +
		"date basename dirname realpath readlink vi vim nvim nano emacs code open ps pgrep pkill killall kill curl wget read-host " +
		"gofmt goimports staticcheck golangci-lint apply_patch patch unset printenv remove-item pbcopy xclip wl-copy yes"
	// builders run the agent's own code; their arguments are names.
	builders = "make gmake ninja cmake just task rake bazel gradle mvn pytest tox jest vitest"
	builtins = "eval invoke-expression iex source . trap alias set export declare typeset local readonly read"
	shells   = "sh bash zsh dash ksh mksh ash fish rbash elvish nu xonsh busybox toybox"
	// windowsShells take the text as the rest of their arguments.
	windowsShells = "powershell pwsh cmd"
	languages     = "python pypy python-config ipython node nodejs deno bun tsx ts-node perl ruby irb php lua luajit osascript expect tclsh " +
		"awk gawk mawk nawk rscript julia groovy jshell elixir"
	// spools run their input later, or write it to a terminal.
	spools  = "at batch crontab su runuser"
	typists = "tmux screen script watch mosh xdotool ydotool zellij wezterm kitty byobu dtach abduco entr reflex nodemon hyperfine " +
		"systemd-run start start-process saps invoke-command icm npx nix-shell"
	setters = "setx setenv set-item si new-item ni set-content sc launchctl tmux"
)

// base is a command's name without its folder and Windows' ending.
func base(word string) string {
	if i := strings.LastIndexAny(word, `/\`); i >= 0 {
		word = word[i+1:]
	}
	word = strings.ToLower(strings.TrimLeft(strings.ReplaceAll(word, "^", ""), "=&"))
	for _, ending := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		word = strings.TrimSuffix(word, ending)
	}
	return word
}

// plain are the arguments that are no flags.
func plain(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
}
