package redisfleet_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/fleet.md shows what is compiled and tested here.
func TestDocs(t *testing.T) {
	page := readFile(t, "../../docs/fleet.md")
	block := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindStringSubmatch(page)
	if block == nil || !strings.Contains(outdent(readFile(t, "example_test.go")), outdent(block[1])) {
		t.Errorf("the Go block of docs/fleet.md is not in example_test.go; change either")
	}
	_, allowed, _ := strings.Cut(rights, " ")
	if !strings.Contains(strings.ReplaceAll(page, " \\\n  ", " "), allowed) {
		t.Errorf("docs/fleet.md does not have the rights that are tested:\n%s", allowed)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// outdent removes the tabs at the beginning of each line.
func outdent(code string) string { return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(code, "") }
