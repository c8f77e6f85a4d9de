package classify

import (
	"strings"
	"testing"
)

// A signature shows no letter of a key, whose digits are gone already.
func TestSignatureHidesKeys(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for _, prefix := range secretPrefixes {
		for _, key := range []string{prefix + letters + "1", prefix + letters} {
			got := Observe(Observation{Failed: true, Result: "connect ECONNREFUSED using token " + key + " here"}).Signature
			if strings.Contains(got, letters[:10]) || !strings.Contains(got, "here") {
				t.Errorf("%s: got the signature %q, want one without the key", key, got)
			}
		}
	}
}

// Names that only begin like a key stay: they tell one failure from another.
func TestSignatureKeepsNames(t *testing.T) {
	for _, name := range []string{"pypi-mirror", "SG.host", "xai-proxy", "dckr_pat_x", "glc_pool"} {
		got := Observe(Observation{Failed: true, Result: "connection refused by " + name}).Signature
		if !strings.Contains(got, name) {
			t.Errorf("got the signature %q, want one with %s", got, name)
		}
	}
}
