package mcpproxy

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// minSecret is the shortest value that is hidden: shorter ones are words.
const minSecret = 6

// secretFlag is an argument whose value, in it or behind it, is a secret.
var secretFlag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^--?[a-z0-9_-]*(?:key|token|secret|passw|auth|credential)[a-z0-9_-]*(?:=(.*))?$`)
})

// masker hides what the configuration gives to a server: values of its
// environment, its headers, its URL and its arguments, which no text of the
// proxy may repeat.
func masker(s Server) func(string) string {
	var pairs []string
	add := func(secrets ...string) {
		for _, secret := range secrets {
			if len(secret) >= minSecret {
				pairs = append(pairs, secret, "[masked]")
			}
		}
	}
	for _, v := range s.Header {
		_, token, _ := strings.Cut(v, " ")
		add(v, token)
	}
	for _, v := range s.Env {
		add(v)
	}
	add(urlSecrets(s.URL)...)
	if s.OAuth != nil {
		add(s.OAuth.ClientSecret, url.QueryEscape(s.OAuth.ClientSecret))
	}
	for i, a := range s.Args {
		m := secretFlag().FindStringSubmatch(a)
		switch {
		case m == nil:
		case m[1] != "":
			add(m[1])
		case i+1 < len(s.Args):
			add(s.Args[i+1])
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

func urlSecrets(text string) []string {
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	var list []string
	if password, ok := u.User.Password(); ok {
		list = append(list, password, url.PathEscape(password))
	}
	for _, values := range u.Query() {
		for _, v := range values {
			list = append(list, v, url.QueryEscape(v))
		}
	}
	return list
}

// maskedError is an error whose text may be shown.
type maskedError struct {
	text string
	error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.error }

// masked returns err with a text that repeats nothing of the configuration.
func (u *upstream) masked(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); u.mask(text) != text {
		return &maskedError{u.mask(text), err}
	}
	return err
}
