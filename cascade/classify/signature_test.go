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
		{"a path", "open /home/u/a b.txt: no such file", "open <path> b.txt: no such file"},
		{"a quoted part", `exec: "rg": executable file not found`, "exec: <q>: executable file not found"},
		{"an apostrophe is no quote", "couldn't connect, can't resolve", "couldn't connect, can't resolve"},
		{"a URL and its password", "fetch https://u:pw@api.example.com/v1/x?id=3 failed", "fetch https://api.example.com failed"},
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

func TestSignatureOfALongTextIsBoundedAtAWord(t *testing.T) {
	got := Signature(strings.Repeat("word ", 100000))
	if len(got) > MaxSignature || !strings.HasSuffix(got, "word") || len(got) < MaxSignature-10 {
		t.Errorf("got %d bytes: %q", len(got), got)
	}
}

// checkSignature holds what every signature must be.
func checkSignature(t interface{ Errorf(string, ...any) }, s string) {
	if len(s) > MaxSignature || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		t.Errorf("bad signature %q", s)
	}
	if again := Signature(s); again != s {
		t.Errorf("not idempotent: %q gives %q", s, again)
	}
}

func TestSignatureIsIdempotent(t *testing.T) {
	parts := rapid.SampledFrom([]string{
		"error", "Exit code 3", "\n", " ", "'", `"`, "`", "/a/b", "https://h/p", "://", "12.5", "0xff", "deadbeef01", "<q>", "<id>", "é",
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
	f.Fuzz(func(t *testing.T, text string) { checkSignature(t, Signature(text)) })
}
