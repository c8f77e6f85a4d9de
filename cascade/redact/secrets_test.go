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
		`"client_secret": "x1y2z3w4"|session_id=abc123defg|sig=0123456789abcdef| and some words |=|:|"| `, "|")
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

func maskWithoutHints(s string) string {
	for _, f := range secretForms {
		s = f.form.ReplaceAllString(s, f.with)
	}
	s = scheme.ReplaceAllStringFunc(s, maskScheme)
	s = secretFlag.ReplaceAllStringFunc(s, maskFlag)
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
