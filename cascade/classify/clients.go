package classify

import (
	"slices"
	"strings"
)

// clients are the programs that ask a remote service, with the subcommands
// that do; none named: all of them.
var clients = map[string][]string{
	"curl": nil, "wget": nil, "http": nil, "https": nil, "xh": nil, "aria2c": nil, "yt-dlp": nil, "lynx": nil,
	"ssh": nil, "scp": nil, "sftp": nil, "rsync": nil, "ftp": nil, "telnet": nil, "nc": nil, "ncat": nil, "socat": nil,
	"ping": nil, "traceroute": nil, "dig": nil, "nslookup": nil, "host": nil, "whois": nil, "openssl": {"s_client"},
	"gh": nil, "glab": nil, "hub": nil, "linear": nil, "slack": nil,
	"git": {"fetch", "pull", "push", "clone", "ls-remote", "submodule", "lfs"},
	"aws": nil, "gcloud": nil, "gsutil": nil, "bq": nil, "az": nil, "doctl": nil, "flyctl": nil, "fly": nil, "heroku": nil,
	"vercel": nil, "netlify": nil, "wrangler": nil, "supabase": nil, "firebase": nil, "railway": nil,
	"kubectl": nil, "helm": nil, "argocd": nil, "terraform": nil, "tofu": nil, "pulumi": nil, "vault": nil, "consul": nil,
	"psql": nil, "pg_dump": nil, "mysql": nil, "mysqldump": nil, "mongosh": nil, "redis-cli": nil, "sqlcmd": nil,
	"docker": remoteImages, "podman": remoteImages, "skopeo": nil, "crane": nil, "oras": nil,
	"npm": remotePackages, "pnpm": remotePackages, "yarn": remotePackages, "bun": remotePackages,
	"pip": {"install", "download", "index", "search"}, "pip3": {"install", "download", "index", "search"},
	"python": {"-m pip"}, "python3": {"-m pip"}, "pipx": {"install", "upgrade"}, "conda": {"install", "create", "update", "search"},
	"uv": {"pip", "sync", "lock", "add", "tool", "python", "publish"}, "poetry": {"install", "add", "update", "lock", "publish"},
	"cargo": {"install", "fetch", "update", "add", "publish", "search"}, "rustup": nil,
	"go": {"get", "install", "mod"}, "gem": {"install", "update", "fetch", "push"}, "bundle": {"install", "update"},
	"apt": {"update", "install", "upgrade"}, "apt-get": {"update", "install", "upgrade"}, "apk": {"add", "update"},
	"brew": {"install", "update", "upgrade", "fetch", "tap"}, "dnf": {"install", "update"}, "yum": {"install", "update"},
	"composer": {"install", "update", "require"}, "nuget": nil, "dotnet": {"restore", "add", "tool"}, "mise": {"install", "upgrade"},
}

var (
	remoteImages   = []string{"pull", "push", "login", "search", "manifest"}
	remotePackages = []string{"install", "i", "ci", "add", "update", "upgrade", "publish", "view", "info", "audit", "outdated", "login", "dlx"}
)

// remote reports whether the program asks a remote service, and was not told
// to wait.
func (c command) remote() bool {
	subs, ok := clients[c.program]
	return ok && !c.waits && (subs == nil || slices.Contains(subs, c.sub))
}

// complaint is the end of an output, the last lines with which a client speaks of
// itself: it could not do what it was to do. Empty: it says no such thing.
func (c command) complaint(output string) string {
	if !c.remote() {
		return ""
	}
	output = strings.TrimRight(clean(output[max(0, len(output)-window):]), space)
	start := len(output)
	for start > 0 {
		from := strings.LastIndexByte(output[:start-1], '\n') + 1
		line := strings.ToLower(output[from:start])
		if without(line, strings.ToLower(c.program)+": ", "fatal: ", "error: ", "npm error ", "npm err! ") == line {
			break
		}
		start = from
	}
	return output[start:]
}

// shellLimit reports whether a timeout tells about the command, not about the
// shell or a service: whoever runs a build for an hour meets a limit.
func (e *evidence) shellLimit() bool {
	return e.Server == "" && isShellTool(e.Tool) && !e.cmd.remote()
}
