package classify

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSignature(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", " \n\t", ""},
		{"numbers and addresses", "dial tcp 10.0.0.1:443: i/o timeout after 1.5s", "dial tcp #: i/o timeout after #s"},
		{"a path", "open /home/u/a b.txt: no such file", "open <path>: no such file"},
		{"a quoted part", `exec: "rg": executable file not found`, "exec: <q>: executable file not found"},
		{"an apostrophe is no quote", "couldn't connect, can't resolve", "couldn't connect, can't resolve"},
		{"a URL and its password", "fetch https://u:pw@api.example.com/v1/x?id=3 failed", "fetch <url> failed"},
		{"a uuid", "request 6f1c2a4e-0b7d-4c55-9a43-0d2f1f3b8a90 failed", "request <id> failed"},
		{"a key", "key sk-live-03x1234567890abcdef refused", "key <id> refused"},
		{"a key in capitals", "AKIAIOSFODNN7EXAMPLE is no key, ERR_HTTP2_PROTOCOL_ERROR no id", "<id> is no key, ERR_HTTP#_PROTOCOL_ERROR no id"},
		{"an address of memory", "panic at 0xc000123", "panic at <id>"},
		{"the first meaningful line", "Exit code 2\n\n  fatal: no 3 heads\nmore", "fatal: no # heads"},
		{"nothing but noise", "Exit code 2", "Exit code #"},
		{"a traceback", "Traceback (most recent call last):\n  File \"x.py\", line 3, in f\n    g()\nKeyError: 'a'", "KeyError: <q>"},
		{"a JSON body", `{"error":"invalid_token","error_description":"token 12 is bad"}`, "token # is bad"},
		{"JSON on several lines", "{\n \"error\": {\n  \"code\": 429,\n  \"message\": \"quota of x\"}}", "quota of x"},
		{"no word is left", "'a' /b/c 12", ""},
		{"terminal escapes", "\x1b[31mError\x1b[0m: \x1b]0;title\x07bad\x00 thing", "Error: bad thing"},
		{"invalid UTF-8", "bad \xff\xfe byte", "bad \uFFFD\uFFFD byte"},
		{"the same trouble", "Read timed out. (read timeout=0.2)", "Read timed out. (read timeout=#)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Signature(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSameTroubleSameSignature(t *testing.T) {
	tests := []struct{ name, a, b string }{
		{"lines", "main.go:3:2: undefined: x", "tool.go:117:40: undefined: x"},
		{"files of a folder", "src/a.py:3: unused import", "lib/b.py:40: unused import"},
		{"files", "open config.yaml: no such file", "open data.csv: no such file"},
		{"paths", "cannot stat '/a/b'", "cannot stat '/c d/e'"},
		{"a Windows path", `cannot open C:\Users\a\x.txt: denied`, `cannot open D:\Program Files\My App\y.txt: denied`},
		{"a short Windows path", `cannot open src\x.go: denied`, `cannot open y.go: denied`},
		{"URLs", "GET https://a.example.com/x?id=1: refused", "GET http://u:p@b.example.org:81: refused"},
		{"a URL in brackets", "failed (https://a.example/x)", "failed (https://b.example/y/z)"},
		{"hosts", "Could not resolve host: a.example.com", "Could not resolve host: git.b.example.org"},
		{"host and port", "dial tcp db.internal:5432: refused", "dial tcp localhost:6379: refused"},
		{"a user at a host", "git@a.example.com: Permission denied (publickey).", "me@b.example.org: Permission denied (publickey)."},
		{"addresses", "connect 10.0.0.1:443: refused", "connect 192.0.2.77:80: refused"},
		{"IPv6 addresses", "connect [::1]:443: refused", "connect [2001:db8::7]:80: refused"},
		{"a date", "2026-01-02T03:04:05Z token expired", "2026-11-30T13:14:15.123+02:00 token expired"},
		{"a date and time", "2026-01-02 03:04:05,123 lost", "2026-11-30 13:14:15 lost"},
		{"a date of HTTP", "retry at Mon, 02 Jan 2026 03:04:05 GMT", "retry at Tue, 13 Oct 2026 13:04:05 GMT"},
		{"a date of C", "Mon Jan 2 15:04:05 2026 lost", "Thu Oct 22 05:04:05 2026 lost"},
		{"a date with slashes", "01/02/2026 lost", "2026/11/30 lost"},
		{"durations", "timed out after 2m0s", "timed out after 300ms"},
		{"a duration as a value", "(read timeout=5s)", "(read timeout=250ms)"},
		{"uuids", "request 6f1c2a4e-0b7d-4c55-9a43-0d2f1f3b8a90 lost", "request 00000000-1111-2222-3333-444444444444 lost"},
		{"hashes", "commit a31d5ed is gone", "commit 9c0ffee1234567890abcdef1234567890abcdef1 is gone"},
		{"request ids", "request req_011CSHoEeqs5C35K lost", "request req_7fH3kQ9zLm2Xw8Tp lost"},
		{"quoted parts", `no such tool "a"`, "no such tool 'b c'"},
		{"typographic quotes", "no such tool \u201ca\u201d", "no such tool \u2018b c\u2019"},
		{"memory", "panic at 0xc0000ab123", "panic at 0x7fff0a"},
		{"terminal escapes", "\x1b[31merror\x1b[0m: lost", "error: lost"},
		{"exit codes above", "Exit code 1\nerror: lost", "Exit code 2\n\nerror: lost"},
		{"Codex's head", "Chunk ID: 1a2b\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 7\nOutput:\nerror: lost", "error: lost"},
		{"secrets", "token=abc refused", "token=xyz-9 refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if a, b := Signature(tt.a), Signature(tt.b); a != b || a == "" {
				t.Errorf("got %q and %q", a, b)
			}
		})
	}
}

func TestOtherTroubleOtherSignature(t *testing.T) {
	texts := []string{
		"connection refused", "connection reset by peer", "no such host", "dial tcp 10.0.0.1:443: i/o timeout",
		"java.io.IOException: x", "java.lang.IllegalStateException: x", "requests.exceptions.ConnectionError", "requests.exceptions.ReadTimeout",
		"undefined: fmt.Printn", "undefined: os.Opne", "ERR_HTTP2_PROTOCOL_ERROR", "ERR_CERT_DATE_INVALID",
		"HTTP/1.1 is not supported", "text/html is not supported", "read/write failed", "and/or failed", "Node.js is missing", "npm is missing",
		"Basic authentication failed", "Bearer authentication failed", "token: expired", "token: revoked", "password: missing",
		"May the build pass", "March fails", "sk-learn is missing", "stderr: fatal: no such ref", "Output: none",
		"k8s-e2e failed", "i18n failed", "x86_64 is not supported", "arm64 is not supported", "utf8mb4_general_ci is unknown",
	}
	seen := map[string]string{}
	for _, text := range texts {
		s := Signature(text)
		if other, ok := seen[s]; ok || s == "" {
			t.Errorf("%q and %q both give %q", text, other, s)
		}
		seen[s] = text
	}
}

func TestSignatureShowsNoSecret(t *testing.T) {
	texts := []string{
		"Incorrect API key provided: sk-abc7x", "Incorrect API key provided: sk-proj-secretive-secretive.", "bad key: hush4me",
		"password=hush is wrong", "Authorization: Bearer hush1", `{"api_key": "hush"}`, "https://u:hush@example.com/ refused",
		"--password hush9 x password: hush9", "DB_PASSWORD=hush", "AWS_SECRET_ACCESS_KEY=hush/hush", "ghp_hush1 is revoked",
		"token hush7h8u9sh is bad", "GITHUB_TOKEN: hush7",
	}
	for _, text := range texts {
		if got := Signature(text); strings.Contains(got, "hush") || strings.Contains(got, "abc") || strings.Contains(got, "secretive") {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestSignatureOfALongTextIsBoundedAtAWord(t *testing.T) {
	got := Signature(strings.Repeat("word ", 100000))
	if len(got) > MaxSignature || !strings.HasSuffix(got, "word") || len(got) < MaxSignature-10 {
		t.Errorf("got %d bytes: %q", len(got), got)
	}
}

// checkBounds holds what every signature must be, also one behind its scope.
func checkBounds(t interface{ Errorf(string, ...any) }, s string) {
	if len(s) > MaxSignature || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		t.Errorf("bad signature %q", s)
	}
}

// checkSignature holds what every bare signature must be. A scope is a name,
// in which digits stay.
func checkSignature(t interface{ Errorf(string, ...any) }, s string) {
	checkBounds(t, s)
	if again := Signature(s); again != s {
		t.Errorf("not idempotent: %q gives %q", s, again)
	}
}

func TestSignatureIsIdempotent(t *testing.T) {
	parts := rapid.SampledFrom([]string{
		"error", "Exit code 3", "\n", " ", "'", `"`, "`", "/a/b", "https://h/p", "://", "12.5", "0xff", "deadbeef01", "<q>", "<id>", "é",
		"Mon", "Jan", "May,", "2026-01-02T", "5ms", "2m", "a.go", "b.example.com", "::", "[", "]", "=", "token=", "Bearer", "key:", "sk-", "<host>", "<url>", "\u201c",
		"\xff", "\x1b[1m", "C:\\x\\y", "<path>", "#", "Traceback (most recent call last)", "x", ".", ":", "{", `"message":"`, "\\", "(", ")", "@", "-", "a1b2c3d4e5f6a7b8",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(parts).Draw(t, "parts"), "")
		checkSignature(t, Signature(text))
		checkSignature(t, Signature(rapid.String().Draw(t, "any")))
	})
}

func FuzzSignature(f *testing.F) {
	for _, row := range readLabelled(f) {
		f.Add(row.message)
	}
	f.Add("\x1b]0;" + strings.Repeat("\xc3", 5000))
	f.Add(strings.Repeat("'", 300) + "/")
	f.Add("Mon, 02 Jan 2026 a.b/c.go:3: key=<id> 2m0s [::1]:80 C:\\a b\\c")
	f.Fuzz(func(t *testing.T, text string) { checkSignature(t, Signature(text)) })
}

func BenchmarkSignature(b *testing.B) {
	for name, text := range map[string]string{
		"short":   "connection refused",
		"typical": `Get "https://api.example.com/v1/items": dial tcp 10.0.0.1:443: connect: connection refused`,
		"long":    strings.Repeat("src/main.go:12:4: request 6f1c2a4e-0b7d-4c55-9a43-0d2f1f3b8a90 took 300ms; ", 200),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Signature(text)
			}
		})
	}
}
