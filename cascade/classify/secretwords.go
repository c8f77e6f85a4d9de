package classify

import "strings"

// secretPrefixes are how keys of known services begin.
var secretPrefixes = [...]string{"sk-", "pk-", "rk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-",
	"xoxb-", "xoxp-", "xoxa-", "xapp-", "AKIA", "ASIA", "AIza", "eyJ", "npm_", "hf_", "whsec_", "dckr_pat_", "dckr_oat_",
	"ghr_", "gsk_", "glc_", "glsa_", "gldt-", "glrt-", "xai-", "pplx-", "tvly-", "pypi-", "lsv2-", "shpat_", "dop_v1_", "lin_api_",
	"figd_", "nfp_", "rubygems_", "ya29.", "SG.", "hvs.", "hvb.", "hvr.", "AGE-SECRET-KEY-"}

// maskSecrets replaces keys and passwords that their own form or the word
// before them gives away, however short. What reports show is masked again
// (cascade/redact).
func maskSecrets(words []string) {
	for i, w := range words {
		name, value, ok := strings.Cut(w, "=")
		switch {
		case ok && value != "" && !strings.HasPrefix(value, "<") && namesSecret(name):
			words[i] = name + "=<id>"
		case isKey(w), i > 0 && announces(words[i-1]) && looksRandom(w):
			words[i] = "<id>"
		}
	}
}

// isKey knows the key of a known service.
func isKey(word string) bool {
	word = strings.Trim(word, punctuation)
	if len(word) < 8 || len(word) < 20 && !strings.ContainsAny(word, "0123456789#") {
		return false
	}
	for _, p := range secretPrefixes {
		if strings.HasPrefix(word, p) {
			return !strings.Contains(word[len(p):], "/")
		}
	}
	return false
}

// announces reports whether the next word is a secret: "Bearer", "password:",
// "--token".
func announces(word string) bool {
	lower := strings.ToLower(word)
	before, colon := strings.CutSuffix(lower, ":")
	return lower == "bearer" || lower == "basic" || (colon || strings.HasPrefix(lower, "--")) && namesSecret(before)
}

func namesSecret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range [...]string{"key", "token", "secret", "password", "passwd", "pwd", "credential", "passphrase"} {
		if strings.HasSuffix(name, word) {
			return true
		}
	}
	return false
}

// looksRandom knows a word of letters and digits: no plain word, no plain number.
func looksRandom(word string) bool {
	return !strings.HasPrefix(word, "<") && strings.ContainsAny(word, "0123456789#") &&
		strings.ContainsFunc(word, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
}
