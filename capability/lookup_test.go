package capability_test

import (
	"testing"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
)

func TestNearest(t *testing.T) {
	by := map[string]int{"a": 1, "a/b": 2, "": 3}
	for tool, want := range map[string]string{"a": "a", "a/b": "a/b", "a/b/c": "a/b", "a/x/y": "a", "b": "", "ab": "", "": "", "/x": ""} {
		if got, ok := capability.Nearest(by, tool); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q): got %q %v, want %q", tool, got, ok, want)
		}
	}
}

// A leaf cannot ask cascade for its words: this holds the two lists together.
func TestClassifyRulesKnowTheWordsOfCascade(t *testing.T) {
	valid := func(r capability.ClassifyRule) error {
		r.Match = "x"
		return capability.Map{{Tool: "T", Classify: []capability.ClassifyRule{r}}}.Validate()
	}
	for _, c := range cascade.Categories() {
		if err := valid(capability.ClassifyRule{Category: c.String()}); err != nil {
			t.Errorf("category %s: %v", c, err)
		}
	}
	for _, o := range []cascade.Outcome{cascade.Failed, cascade.Succeeded, cascade.Ignored} {
		if err := valid(capability.ClassifyRule{Outcome: o.String()}); err != nil {
			t.Errorf("outcome %s: %v", o, err)
		}
	}
	if valid(capability.ClassifyRule{Category: "boom"}) == nil || valid(capability.ClassifyRule{Outcome: "boom"}) == nil {
		t.Error("an unknown word passed")
	}
}
