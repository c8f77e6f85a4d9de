package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/expediter-go/expediter/cascade/redact"
)

func TestText(t *testing.T) {
	tests := []struct {
		name, give, want string
	}{
		{"plain", "connection refused", "connection refused"},
		{"empty", "", ""},
		{"blank", " \t\r\n ", ""},
		{"lines", "one\ntwo\r\nthree\rfour\tfive  six", "one two three four five six"},
		{"separators", "a\u2028b\u2029c\u0085d\u00a0e\u3000f", "a b c d e f"},
		{"colour", "\x1b[1;31mred\x1b[0m alert", "red alert"},
		{"8-bit colour", "\u009b31mred", "red"},
		{"title", "\x1b]0;owned\x07after", "after"},
		{"title with string terminator", "\x1b]0;owned\x1b\\after", "after"},
		{"clipboard", "a\x1b]52;c;cm0gLXJmIC8=\x07b", "ab"},
		{"title without end stays visible", "\x1b]0;hidden text", "0;hidden text"},
		{"link", "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\", "click"},
		{"device control", "\x1bPq#0\x1b\\x", "x"},
		{"charset", "\x1b(0lqk\x1b(B", "lqk"},
		{"clear screen", "a\x1bcb", "ab"},
		{"lone escape", "a\x1b", "a"},
		{"NUL and bell", "a\x00b\x07c\x7fd", "abcd"},
		{"backspace", "safe\b\b\b\bevil", "safeevil"},
		{"bidi override", "a\u202etxt.exe\u202c\u2066b\u2069\u200fc", "atxt.exebc"},
		{"zero width", "pa\u200bss\u2060\ufeff\u00adx", "passx"},
		{"tags", "a\U000E0041\U000E0042b", "ab"},
		{"invalid UTF-8", "a\xff\xfeb\xc3", "a\uFFFDb\uFFFD"},
		{"private use", "a\ue000b", "a\uFFFDb"},
		{"combining kept", "cafe\u0301", "cafe\u0301"},
		{"combining flood", "Z" + strings.Repeat("\u0321", 50) + "a", "Z" + strings.Repeat("\u0321", 4) + "a"},
		{"Japanese", "接続が拒否されました", "接続が拒否されました"},
		{"markup is left to the format", "<b>|`x`", "<b>|`x`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := redact.Text(tt.give, 200); got != tt.want {
				t.Errorf("Text(%q):\n got %q\nwant %q", tt.give, got, tt.want)
			}
		})
	}
}

func TestTextBound(t *testing.T) {
	tests := []struct {
		give string
		max  int
		want string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "abcd…"},
		{"ab cdef", 4, "ab…"},
		{"日本語です", 3, "日本…"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
		{"abc", -1, ""},
	}
	for _, tt := range tests {
		if got := redact.Text(tt.give, tt.max); got != tt.want {
			t.Errorf("Text(%q, %d): got %q, want %q", tt.give, tt.max, got, tt.want)
		}
	}
	if got := redact.Text(strings.Repeat("long ", 20_000_000), 100); utf8.RuneCountInString(got) > 100 {
		t.Errorf("a huge text was cleaned to %d runes", utf8.RuneCountInString(got))
	}
}

// Each secret stands in a sentence; nothing of it may be left.
func TestTextMasksSecrets(t *testing.T) {
	const pass = "hunter2-Tr0ub4dor"
	tests := []struct {
		name, give, want string
	}{
		{"bearer", "got 401 for Bearer abcdefghijklmnop", "got 401 for Bearer [masked]"},
		{"bearer header", "Authorization: Bearer mysecretvalue failed", "Authorization: Bearer [masked] failed"},
		{"authorization without scheme", "authorization: 0123456789abcdef!", "authorization: [masked]"},
		{"authorization in JSON", `{"Authorization":"Bearer abc.def"}`, `{"Authorization":"Bearer [masked]"}`},
		{"authorization in a Go header", `map[Authorization:[Bearer abcdef] Accept:[*/*]]`, `map[Authorization:[Bearer [masked]] Accept:[*/*]]`},
		{"authorization in escaped JSON", `{\"authorization\":\"Basic YWxhZGRpbjpvcGVu\"}`, `{\"authorization\":\"Basic [masked]\"}`},
		{"digest", `Authorization: Digest username="bob", response="0123456789abcdef"`, "Authorization: Digest [masked]"},
		{"proxy", "Proxy-Authorization: Basic YWxhZGRpbjpvcGVu", "Proxy-Authorization: Basic [masked]"},
		{"curl", `curl -H "Authorization: token 0a1b2c3d" https://x.example`, `curl -H "Authorization: token [masked]" https://x.example`},
		{"basic alone", "sent Basic YWxhZGRpbjpvcGVuc2VzYW1l to it", "sent Basic [masked] to it"},
		{"cookie", "Cookie: sid=abc; theme=dark sent", "Cookie: [masked] sent"},
		{"set-cookie", "Set-Cookie: session=abcdef; Path=/", "Set-Cookie: [masked]"},
		{"X-Api-Key", "X-Api-Key: 12345", "X-Api-Key: [masked]"},
		{"OpenAI", "key sk-abcDEF1234567890abcd is invalid", "key [masked] is invalid"},
		{"project key", "sk-proj-abc_DEF-1234567890", "[masked]"},
		{"Anthropic", "sk-ant-api03-abcdef_GHIJ-123456", "[masked]"},
		{"Stripe", "sk_live_4eC39HqLyjWDarjtT1zdp7dc", "[masked]"},
		{"GitHub", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[masked]"},
		{"GitHub server", "ghs_abcdefghijklmnop", "[masked]"},
		{"GitHub fine-grained", "github_pat_11ABCDEFG0abcdefghijkl", "[masked]"},
		{"GitLab", "glpat-abcdefghij1234567890", "[masked]"},
		{"AWS id", "AKIAIOSFODNN7EXAMPLE denied", "[masked] denied"},
		{"AWS temporary id", "ASIAIOSFODNN7EXAMPLE", "[masked]"},
		{"AWS secret", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=[masked]"},
		{"AWS signature", "https://b.s3.amazonaws.com/o?X-Amz-Signature=fe5f80f77d5fa3be&x=1", "https://b.s3.amazonaws.com/o?X-Amz-Signature=[masked]&x=1"},
		{"Slack", "xoxb-123456789012-abcdefABCDEF", "[masked]"},
		{"Slack webhook", "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXX", "https://hooks.slack.com/services/[masked]"},
		{"Discord webhook", "https://discord.com/api/webhooks/123/abc-DEF_g", "https://discord.com/api/webhooks/[masked]"},
		{"Telegram", "https://api.telegram.org/bot 123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc", "https://api.telegram.org/bot [masked]"},
		{"Google", "AIzaSyA-1234567890abcdefghijklmnopqrstu", "[masked]"},
		{"npm", "npm_abcdefghijklmnopqrstuvwxyz0123456789", "[masked]"},
		{"PyPI", "pypi-AgEIcHlwaS5vcmcCJDU3", "[masked]"},
		{"Hugging Face", "hf_abcdefghijklmnopqrst", "[masked]"},
		{"Vault", "hvs.CAESIJabcdefghij", "[masked]"},
		{"SendGrid", "SG.abcdefghijklmnop.qrstuvwxyz012345", "[masked]"},
		{"age", "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQ", "[masked]"},
		{"JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", "[masked]"},
		{"JWT without signature", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0.", "[masked]"},
		{"PEM", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc==\n-----END RSA PRIVATE KEY-----\nnext", "[masked] next"},
		{"PEM without end", "bad key -----BEGIN PRIVATE KEY-----\nMIIEow\nabc", "bad key [masked]"},
		{"OpenSSH key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY-----", "[masked]"},
		{"PGP key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END PGP PRIVATE KEY BLOCK-----", "[masked]"},
		{"password=", "login with password=" + pass + " failed", "login with password=[masked] failed"},
		{"password with a comma behind", "{password=" + pass + ", user=bob}", "{password=[masked], user=bob}"},
		{"password:", "password: " + pass, "password: [masked]"},
		{"password in JSON", `{"user":"bob","password":"a \"b\" c","x":1}`, `{"user":"bob","password":"[masked]","x":1}`},
		{"password in escaped JSON", `{\"password\":\"a b\",\"x\":1}`, `{\"password\":\"[masked]\",\"x\":1}`},
		{"password in single quotes", "password='a b' x", "password='[masked]' x"},
		{"password with an open quote", `password="a b c`, `password="[masked]`},
		{"camel case", `{"clientSecret":"abc","accessToken":"abcd"}`, `{"clientSecret":"[masked]","accessToken":"[masked]"}`},
		{"prefix", "DB_PASSWORD=abc PGPASSWORD=def", "DB_PASSWORD=[masked] PGPASSWORD=[masked]"},
		{"connection string", "Server=db;User Id=sa;Password=a b;Pwd=xyz;", "Server=db;User Id=sa;Password=[masked] b;Pwd=[masked];"},
		{"query", "GET /v1?api_key=abc123&token=def456&page=2", "GET /v1?api_key=[masked]&token=[masked]&page=2"},
		{"query key", "https://maps.example/api?key=abc123", "https://maps.example/api?key=[masked]"},
		{"flag", "mysql --password " + pass + " -h db", "mysql --password [masked] -h db"},
		{"flag with equals", "tool --api-key=" + pass, "tool --api-key=[masked]"},
		{"curl user", "curl -u bob:" + pass + " https://x.example", "curl -u bob:[masked] https://x.example"},
		{"URL", "dial postgres://bob:" + pass + "@db.example:5432/x failed", "dial postgres://bob:[masked]@db.example:5432/x failed"},
		{"URL with an at sign in it", "https://bob:p@ss@host/x", "https://bob:[masked]@host/x"},
		{"URL without a user", "redis://:secret@host:6379", "redis://:[masked]@host:6379"},
		{"MySQL address", "root:abc123@tcp(127.0.0.1:3306)/db", "root:[masked]@tcp(127.0.0.1:3306)/db"},
		{"hidden by a control character", "sk-abcDEF123\x004567890abcd", "[masked]"},
		{"hidden by a zero-width space", "pass\u200bword=abc", "password=[masked]"},
		{"hidden by colour", "password=\x1b[31mabc\x1b[0m", "password=[masked]"},
		{"token of the weak kind", `token: 9f8e7d6c5b4a`, `token: [masked]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := redact.Text(tt.give, 300); got != tt.want {
				t.Errorf("Text(%q):\n got %q\nwant %q", tt.give, got, tt.want)
			}
		})
	}
}

func TestTextMasksSecretsInPassing(t *testing.T) {
	tests := []struct {
		name, give, want string
	}{
		{"GitHub, in a tool's name", "mcp__x__ghp_abcdefghijklmnopqrstuvwxyz0123456789", "mcp__x__[masked]"},
		{"OpenAI, in a tool's name", "mcp__x__sk-abcdEFGH1234abcdEFGH1234abcd", "mcp__x__[masked]"},
		{"Docker", "dckr_pat_abcdefghijklmnopqrstuvwxyz1", "[masked]"},
		{"token without a colon", "refused using token topsecret0123456789abcdef here", "refused using token [masked] here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := redact.Text(tt.give, 300); got != tt.want {
				t.Errorf("Text(%q):\n got %q\nwant %q", tt.give, got, tt.want)
			}
		})
	}
}

// Ordinary messages stay as they are.
func TestTextKeepsMessages(t *testing.T) {
	for _, text := range []string{
		"unexpected token: expected string",
		"invalid token: unexpected end of input",
		"Unexpected token export in src/index2.js; unexpected token function_name_2",
		"unexpected token lib/deeply/nested/module2.js",
		"max_tokens=4096 tokens: 512 token=12",
		"bearer token required",
		"Basic authentication failed",
		"password authentication failed for user \"bob\"",
		"Enter password: incorrect",
		"author: jane; session: closed",
		"secret-tool: command not found",
		"ssh: handshake failed: git@github.com:22",
		"ssh://git@github.com/x/y.git",
		"http://127.0.0.1:8080/a?page=2: connection refused",
		"task-management skipped; disk-usage 80%",
		"dial tcp 10.0.0.1:443: i/o timeout",
		"PWD=/home/bob/project",
		"open /etc/passwd: permission denied",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"ENOSPC: no space left on device, write",
	} {
		if got := redact.Text(text, 300); got != text {
			t.Errorf("an ordinary message was changed:\n got %q\nwant %q", got, text)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{
		"connection refused", "\x1b[31mred\x1b[0m", "\x1b]0;t\x07x", "password=hunter2", `{\"password\":\"x\"}`, "sk-abcdefghijklmnop",
		"https://a:b@c", "Authorization: Bearer abc", "-----BEGIN PRIVATE KEY-----\nx", "\xff\xfe\u202e\u2028", "Z\u0321\u0321\u0321\u0321\u0321",
		"token: 'a", `secret=\\"a`, "--token --password x", "cookie: a=b; c=d", "basic basic basic bearer [masked", "日本語",
	} {
		for _, max := range []int{0, 1, 12, 200} {
			f.Add(s, max)
		}
	}
	f.Fuzz(func(t *testing.T, text string, max int) {
		max %= 500
		got := redact.Text(text, max)
		if !utf8.ValidString(got) {
			t.Fatalf("invalid UTF-8: %q", got)
		}
		if n := utf8.RuneCountInString(got); n > 0 && n > max {
			t.Fatalf("%d runes, at most %d were asked for: %q", n, max, got)
		}
		for _, r := range got {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp) {
				t.Fatalf("%U is left in %q", r, got)
			}
		}
		if again := redact.Text(got, max); again != got {
			t.Fatalf("cleaned again it changes:\n    %q\nto  %q\nfrom %q", got, again, text)
		}
	})
}

func BenchmarkText(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		redact.Text("Get \"https://bob:pw@db.example/x\": dial tcp 10.0.0.1:443: connect: connection refused", 200)
	}
}

func ExampleText() {
	fmt.Println(redact.Text("\x1b[31mGET https://bob:hunter2@db.example\x1b[0m\nrefused", 60))
	// Output: GET https://bob:[masked]@db.example refused
}
