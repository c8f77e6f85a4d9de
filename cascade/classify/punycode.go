package classify

import (
	"strings"
	"unicode/utf8"
)

// punycode is a label of a host name as DNS has it (RFC 3492): "xn--" and an
// encoding of what is not ASCII. It is empty for a label that DNS cannot have.
func punycode(label string) string {
	if len(label) > 63 || !utf8.ValidString(label) {
		return ""
	}
	ascii := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return -1
		}
		return r
	}, label)
	if ascii == label {
		return label
	}
	out := []byte(ascii)
	if len(ascii) > 0 {
		out = append(out, '-')
	}
	runes := []rune(label)
	next, delta, bias := rune(128), 0, 72
	for done := len(ascii); done < len(runes); next++ {
		least := leastFrom(runes, next)
		delta += int(least-next) * (done + 1)
		next = least
		for _, r := range runes {
			if r < next {
				delta++
			}
			if r != next {
				continue
			}
			out = appendDelta(out, delta, bias)
			bias = adapt(delta, done+1, done == len(ascii))
			delta, done = 0, done+1
		}
		delta++
	}
	return "xn--" + string(out)
}

// leastFrom is the smallest rune that is not below limit.
func leastFrom(runes []rune, limit rune) rune {
	least := rune(utf8.MaxRune)
	for _, r := range runes {
		if r >= limit && r < least {
			least = r
		}
	}
	return least
}

// appendDelta writes a number in the digits of RFC 3492 section 3.3.
func appendDelta(out []byte, delta, bias int) []byte {
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	for k := 36; ; k += 36 {
		t := min(max(k-bias, 1), 26)
		if delta < t {
			return append(out, digits[delta])
		}
		out = append(out, digits[t+(delta-t)%(36-t)])
		delta = (delta - t) / (36 - t)
	}
}

// adapt is the bias after a number (RFC 3492 section 6.1).
func adapt(delta, count int, first bool) int {
	if first {
		delta /= 700
	} else {
		delta /= 2
	}
	delta += delta / count
	k := 0
	for ; delta > 455; k += 36 {
		delta /= 35
	}
	return k + 36*delta/(delta+38)
}
