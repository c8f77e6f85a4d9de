package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A form is found wherever its hints allow to look for it: with every hint held
// to be there, the same is masked.
func TestHintsHideNothing(t *testing.T) {
	pieces := strings.Split(`-----BEGIN RSA PRIVATE KEY-----|-----END RSA PRIVATE KEY-----|Set-Cookie: a=b; c=d|https://u:|p@h/x|root:pw@tcp(|db)|`+
		`hooks.slack.com/services/T0/B0/x1|discord.com/api/webhooks/1/abc|123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi|eyJhbGciOi.eyJzdWIiOi.abc|`+
		`AKIAABCDEFGHIJKLMNOP|sk_live_0123456789abcdef|sk-0123456789abcdef|xoxb-12345678|xapp-12345678|ghp_0123456789abcdef|github_pat_0123456789ab|`+
		`AIzaABCDEFGHIJKLMNOPQRST|ya29.0123456789ab|SG.0123456789.0123456789|hvs.0123456789ab|AGE-SECRET-KEY-1ABCDEFGHIJ|curl -u me:pw| --user=me:pw|`+
		`Authorization: Bearer abcd1234efgh|bearer abcd1234efgh| --password hunter2x| -api-key abc123def|pa`+"\u017f"+`sword=hunter2x|TOKEN=abc123defg|?key=abc1234|`+
		`"client_secret": "x1y2z3w4"|session_id=abc123defg|sig=0123456789abcdef| and some words |=|:|"| |:=|=>| : |' = |my.secret-key|gh|gh_|@|12345678:`, "|")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range 1 + rng.IntN(5) {
			p := pieces[rng.IntN(len(pieces))]
			switch rng.IntN(4) {
			case 0:
				p = strings.ToUpper(p)
			case 1:
				p = strings.ToLower(p)
			}
			b.WriteString(p)
		}
		if got, want := mask(b.String()), maskWithoutHints(b.String()); got != want {
			t.Fatalf("%q:\n got %q\nwant %q", b.String(), got, want)
		}
	}
}

func TestMask(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"URL with a token alone", "cloning https://0a1b2c3d4e5f6g@git.example/x", "cloning https://[masked]@git.example/x"},
		{"URL with a user alone", "cloning ssh://git@git.example/x", "cloning ssh://git@git.example/x"},
		{"flags with quoted values", `mysql --password 'two words' -h db --token "a1b2"`, "mysql --password [masked] -h db --token [masked]"},
	}
	for _, tt := range tests {
		if got := mask(tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Nothing is compiled for the messages of ordinary failures.
func TestOrdinaryMessagesAreNotSearched(t *testing.T) {
	for _, text := range []string{
		"dial tcp 10.0.0.1:443: connect: connection refused",
		"Get \"https://api.example.com/v1/items?page=2\": context deadline exceeded",
		"HTTP 503 Service Unavailable: through the gateway at 12:30:45",
		"HTTP 401 Unauthorized: Bad credentials",
		"key not found: x",
		"git_token_helper exited with code 1 through ssh",
		"curl: (7) Failed to connect to api.example.com port 443 after 12 ms",
	} {
		low := lower(text)
		for _, f := range secretForms {
			if f.searches(low) {
				t.Errorf("%q is searched for %s", text, f.form)
			}
		}
		if schemeHints.in(low) || flagHints.in(low) || credentialHints.in(low) || keyHints.in(low) && hasNamedValue(low) {
			t.Errorf("%q is searched for keys", text)
		}
	}
}

func maskWithoutHints(s string) string {
	for _, f := range secretForms {
		s = f.form.RE().ReplaceAllString(s, f.with)
	}
	s = scheme.RE().ReplaceAllStringFunc(s, maskScheme)
	s = secretFlag.RE().ReplaceAllStringFunc(s, maskFlag)
	return maskPairs(maskCredentials(s))
}

func BenchmarkText(b *testing.B) {
	for _, bench := range []struct{ name, text string }{
		{"Short", "dial tcp 10.0.0.1:443: connect: connection refused"},
		{"Long", strings.Repeat("--- FAIL: TestX (0.01s)\n    x_test.go:12: got 3, want 4\n", 100)},
		{"OneWord", strings.Repeat("x", 4000)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Text(bench.text, 500)
			}
		})
	}
}
