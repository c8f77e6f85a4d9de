package analysis

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// toolKind is what an outage looks like to a tool.
type toolKind uint8

const (
	fileTool      toolKind = iota // reads, writes or searches files
	localProgram                  // a program in a shell
	remoteProgram                 // a program in a shell that asks a remote service
	webTool                       // fetches or searches the web
	serverTool                    // of an MCP server
	agentTool                     // anything else: sub-agents, task lists
)

var (
	fileTools = []string{"Read", "Edit", "MultiEdit", "Write", "Glob", "Grep", "LS", "NotebookEdit", "apply_patch", "read_file", "write_file", "edit_file"}
	remotes   = []string{"git", "gh", "curl", "wget", "npm", "pip", "uv", "docker", "kubectl", "ssh", "aws", "gcloud", "go", "cargo"}
)

// kindOf tells a tool's kind by its name and key.
func kindOf(tool, key string) toolKind {
	base, program, sub := strings.Cut(key, "/")
	switch {
	case strings.HasPrefix(tool, "mcp__"):
		return serverTool
	case strings.HasPrefix(base, "Web"):
		return webTool
	case slices.Contains(fileTools, base):
		return fileTool
	case sub && slices.Contains(remotes, program):
		return remoteProgram
	case sub, base == "Bash", base == "shell", base == "exec", base == "PowerShell":
		return localProgram
	}
	return agentTool
}

// face is one way in which an outage shows: texts as tools give them, in our
// wording. # becomes a number, @ the program.
type face struct {
	kind     toolKind
	category cascade.Category
	texts    []string
}

var allFaces = []face{
	{fileTool, cascade.Filesystem, []string{"ENOSPC: no space left on device, write", "Error: ENOSPC: no space left on device, open '/srv/app/part-#.txt'"}},
	{fileTool, cascade.Filesystem, []string{"EROFS: read-only file system, open '/srv/app/part-#.txt'"}},
	{fileTool, cascade.Filesystem, []string{"EIO: i/o error, read", "EIO: i/o error, open '/srv/app/part-#.txt'"}},
	{fileTool, cascade.Resource, []string{"ENOMEM: not enough memory, read"}},
	{fileTool, cascade.Permission, []string{"EACCES: permission denied, open '/srv/app/part-#.txt'"}},
	{localProgram, cascade.Filesystem, []string{"Exit code 2\n@: write error: No space left on device", "Exit code 1\n/bin/bash: cannot create temp file for here-document: No space left on device"}},
	{localProgram, cascade.Resource, []string{"Exit code 254\n/bin/bash: fork: retry: Resource temporarily unavailable", "Exit code 254\n/bin/bash: line #: fork: Cannot allocate memory"}},
	{localProgram, cascade.ToolMissing, []string{"Exit code 127\n/bin/bash: line #: @: command not found"}},
	{localProgram, cascade.Permission, []string{"Exit code 126\n/bin/bash: line #: /usr/bin/@: Permission denied"}},
	{remoteProgram, cascade.Network, []string{"Exit code 128\nfatal: unable to access 'https://code.example.org/team/app-#.git/': Could not resolve host: code.example.org", "Exit code 1\ndial tcp: lookup api.example.org on 10.0.0.2:53: no such host"}},
	{remoteProgram, cascade.Network, []string{"Exit code 1\ndial tcp 203.0.113.7:443: connect: connection refused", "Exit code 7\ncurl: (7) Failed to connect to api.example.org port 443 after # ms: Connection refused"}},
	{remoteProgram, cascade.Auth, []string{"Exit code 128\nremote: Invalid username or token.\nfatal: Authentication failed for 'https://code.example.org/team/app-#.git/'", "Exit code 1\nHTTP 401: Bad credentials (https://api.example.org/x/#)"}},
	{remoteProgram, cascade.RateLimit, []string{"Exit code 1\nHTTP 429: Too Many Requests (https://api.example.org/x/#)", "Exit code 1\nerror: API rate limit exceeded for user #"}},
	{remoteProgram, cascade.Upstream, []string{"Exit code 1\nHTTP 503: Service Unavailable (https://api.example.org/x/#)", "Exit code 1\nHTTP 502: Bad Gateway (https://api.example.org/x/#)"}},
	{webTool, cascade.Network, []string{"getaddrinfo ENOTFOUND docs.example.org", "connect ECONNREFUSED 203.0.113.7:443", "socket hang up"}},
	{webTool, cascade.Upstream, []string{"Request failed with status code 503", "Request failed with status code 502"}},
	{webTool, cascade.RateLimit, []string{"Request failed with status code 429"}},
	{webTool, cascade.Timeout, []string{"timeout of #000ms exceeded", "The operation timed out."}},
	{serverTool, cascade.Network, []string{"MCP error -32000: Connection closed", "connect ECONNREFUSED 127.0.0.1:#", "fetch failed: connect ECONNREFUSED 127.0.0.1:#"}},
	{serverTool, cascade.Timeout, []string{"MCP error -32001: Request timed out"}},
	{serverTool, cascade.Auth, []string{"HTTP 401 Unauthorized: the access token expired", "Error: Unauthorized"}},
	{serverTool, cascade.Upstream, []string{"Error POSTing to endpoint (HTTP 503): Service Unavailable"}},
	{agentTool, cascade.RateLimit, []string{`API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "API Error: 429 rate limit exceeded, request #"}},
	{agentTool, cascade.Network, []string{"API Error: Connection error.", "fetch failed: connect ETIMEDOUT 203.0.113.7:443", "connect ECONNRESET 203.0.113.7:443"}},
	{agentTool, cascade.Upstream, []string{`API Error: 500 {"type":"error","error":{"type":"api_error","message":"Internal server error"},"request_id":"req_#"}`, "API Error: 503 Service Unavailable"}},
	{agentTool, cascade.Filesystem, []string{"ENOSPC: no space left on device, write"}},
}

// faces are how one outage shows to each kind of tool.
type faces struct {
	of     map[toolKind][]string
	mixed  bool // another face each time
	common cascade.Category
	sigs   *signatures
	rng    *rand.Rand
}

// newFaces chooses the cause. One outage in eight of a single tool shows
// another face each time.
func newFaces(o *outage, sigs *signatures, rng *rand.Rand) *faces {
	f := &faces{of: map[toolKind][]string{}, mixed: o.kind == OneTool && rng.IntN(8) == 0, sigs: sigs, rng: rng}
	f.common = cascade.Network
	if kindOf(o.hits[0].tool, o.hits[0].key).ground("") == "machine" {
		f.common = cascade.Filesystem
	}
	for k := range agentTool + 1 {
		f.of[k] = f.choose(k, o.kind, rng)
	}
	return f
}

func (f *faces) choose(k toolKind, kind string, rng *rand.Rand) []string {
	var fit [][]string
	var all []string
	for _, face := range allFaces {
		if face.kind == k && (kind != CommonCause || face.category == f.common) {
			fit = append(fit, face.texts)
			all = append(all, face.texts...)
		}
	}
	if f.mixed || len(fit) == 0 {
		return all
	}
	return fit[rng.IntN(len(fit))]
}

// outcome is what a call of the outage returns, as classify judges it.
func (f *faces) outcome(e *event) expediter.Outcome {
	texts := f.of[kindOf(e.tool, e.name(FullKeys))]
	v := judge(e, texts[f.rng.IntN(len(texts))], 100+f.rng.IntN(900))
	o := f.sigs.heard(&v)
	o.Duration = min(e.outcome.Duration, 30*time.Second)
	return o
}

// judge shows a text to classify as a coding agent's transcript would.
func judge(e *event, text string, number int) classify.Verdict {
	base, program, shell := strings.Cut(e.name(FullKeys), "/")
	text = strings.ReplaceAll(text, "#", fmt.Sprint(number))
	text = strings.ReplaceAll(text, "@", program)
	o := classify.Observation{Protocol: classify.Agent, Agent: classify.ClaudeCode, Tool: e.tool, Result: text, Failed: true}
	if shell && (base == "Bash" || base == "shell") {
		o.Input, _ = json.Marshal(map[string]string{"command": program}) // a string always marshals
	}
	return classify.Observe(o)
}
