package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// small is an agent of two events, to keep what is expected short.
var small = &agent{name: "small", title: "Small", grouped: true, matcher: "*",
	events: []event{{name: "Pre", tool: true}, {name: "End"}},
	handler: func(c command, e event) object {
		return object{{"command", c.sh()}, {"timeout", e.timeout()}}
	},
}

var smallCommand = command{words: []string{"expediter", "hook", "small"}}

const (
	preFlat = `{"matcher": "*", "hooks": [{"command": "expediter hook small", "timeout": 5}]}`
	endFlat = `{"hooks": [{"command": "expediter hook small", "timeout": 5}]}`
)

// long: a table of files
func TestInsertFollowsTheLayout(t *testing.T) {
	compact := strings.NewReplacer(": ", ":", ", ", ",")
	tests := []struct{ name, before, want string }{
		{"two spaces", "{\n  \"a\": 1\n}\n", `{
  "a": 1,
  "hooks": {
    "Pre": [
      {
        "matcher": "*",
        "hooks": [
          {
            "command": "expediter hook small",
            "timeout": 5
          }
        ]
      }
    ],
    "End": [
      {
        "hooks": [
          {
            "command": "expediter hook small",
            "timeout": 5
          }
        ]
      }
    ]
  }
}
`},
		{"one line", `{"a": 1, "b": 2}`, `{"a": 1, "b": 2, "hooks": {"Pre": [` + preFlat + `], "End": [` + endFlat + `]}}`},
		{"one line without spaces", `{"a":1}`, compact.Replace(`{"a":1,"hooks":{"Pre":[` + preFlat + `],"End":[` + endFlat + `]}}`)},
		{"lists on one line", `{
	"hooks": { // all of them
		"End": [{"hooks": []}], // the end

		"Pre": []
	}
}`, `{
	"hooks": { // all of them
		"End": [{"hooks": []}, ` + endFlat + `], // the end

		"Pre": [
			{
				"matcher": "*",
				"hooks": [
					{
						"command": "expediter hook small",
						"timeout": 5
					}
				]
			}
		]
	}
}`},
		{"bracket to bracket", `{
    "hooks": {"Pre": [{
        "matcher": "B"
    }], "End": []}
}`, `{
    "hooks": {"Pre": [{
        "matcher": "B"
    }, {
        "matcher": "*",
        "hooks": [
            {
                "command": "expediter hook small",
                "timeout": 5
            }
        ]
    }], "End": [
        {
            "hooks": [
                {
                    "command": "expediter hook small",
                    "timeout": 5
                }
            ]
        }
    ]}
}`},
		{"a comment after the last one", "{\"hooks\": {\n \"Pre\": [\n  1 // one\n  // two\n ],\n \"End\": [\n  1, // one\n ],\n}}",
			"{\"hooks\": {\n \"Pre\": [\n  1, // one\n  // two\n  {\n   \"matcher\": \"*\",\n   \"hooks\": [\n    {\n     \"command\": \"expediter hook small\",\n     \"timeout\": 5\n    }\n   ]\n  }\n ]," +
				"\n \"End\": [\n  1, // one\n  {\n   \"hooks\": [\n    {\n     \"command\": \"expediter hook small\",\n     \"timeout\": 5\n    }\n   ]\n  },\n ],\n}}"},
		{"the later of two keys", `{"hooks": {"Pre": [1]}, "hooks": {"Pre": [2], "End": [3], "Pre": []}}`,
			`{"hooks": {"Pre": [1]}, "hooks": {"Pre": [2], "End": [3, ` + endFlat + `], "Pre": [` + preFlat + `]}}`},
		{"an escaped key", `{"h\u006foks": {"Pre": [], "End": []}}`, `{"h\u006foks": {"Pre": [` + preFlat + `], "End": [` + endFlat + `]}}`},
		{"a comment at the end of the file", `{"hooks": {"Pre": [ /* none */ ], "End": []}} // that is all`,
			`{"hooks": {"Pre": [ /* none */ ` + preFlat + ` ], "End": [` + endFlat + `]}} // that is all`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := insert("settings.json", []byte(tt.before), small, smallCommand)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkInsertion(t, small, smallCommand, tt.before)
		})
	}
}

func TestInsertKeepsLineEnds(t *testing.T) {
	for _, before := range []string{"{\r\n\t\"a\": [\r\n\t]\r\n}\r\n", "{\r\n}", "{ // x\r\n  \"hooks\": {} }"} {
		got, err := insert("settings.json", []byte(before), small, smallCommand)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(got), "\n") != strings.Count(string(got), "\r\n") || strings.Count(string(got), "\r\n") < 10 {
			t.Errorf("got line ends of two kinds: %q", got)
		}
		checkInsertion(t, small, smallCommand, before)
	}
}

// Entries of ours are brought up to date, each in its place.
func TestInsertUpdates(t *testing.T) {
	current := `{"hooks": {"Pre": [` + preFlat + `], "End": [` + endFlat + `]}}`
	tests := []struct{ name, before, want string }{
		{"nothing to do", current, current},
		{"another path", strings.ReplaceAll(current, "expediter hook", "/old/expediter --x hook"), current},
		{"a time limit of the user's stays", strings.ReplaceAll(current, `"expediter hook small", "timeout": 5`, `"/old/expediter hook small", "timeout": 9, "mine": true`),
			strings.ReplaceAll(current, `"timeout": 5`, `"timeout": 9, "mine": true`)},
		{"word by word", strings.ReplaceAll(current, `"command": "expediter hook small"`, `"command": "expediter", "args": ["hook", "small"]`), current},
		{"twice", `{"hooks": {"Pre": [` + preFlat + `, 1, ` + preFlat + `], "End": [` + endFlat + `]}}`,
			`{"hooks": {"Pre": [` + preFlat + `, 1], "End": [` + endFlat + `]}}`},
		{"an old one before a current one", `{"hooks": {"Pre": [{"hooks": [{"command": "/old/expediter hook small"}, 1]}, ` + preFlat + `], "End": [` + endFlat + `]}}`,
			`{"hooks": {"Pre": [{"hooks": [ 1]}, ` + preFlat + `], "End": [` + endFlat + `]}}`},
		{"of an event that is none of ours", `{"hooks": {"Other": [` + endFlat + `], "Pre": [` + preFlat + `], "End": [` + endFlat + `]}}`,
			`{"hooks": { "Pre": [` + preFlat + `], "End": [` + endFlat + `]}}`},
		{"in a group of others", `{"hooks": {"Pre": [{"matcher": "B", "hooks": [{"command": "lint"}, {"command": "expediter hook small"}]}], "End": [` + endFlat + `]}}`,
			`{"hooks": {"Pre": [{"matcher": "B", "hooks": [{"command": "lint"}, {"command": "expediter hook small"}]}], "End": [` + endFlat + `]}}`},
		{"hidden by a later key", `{"hooks": {"Pre": [` + preFlat + `], "End": [` + endFlat + `]}, "hooks": {"Pre": [1], "End": [` + endFlat + `]}}`,
			`{ "hooks": {"Pre": [1, ` + preFlat + `], "End": [` + endFlat + `]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := insert("settings.json", []byte(tt.before), small, smallCommand)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestInsertRefuses(t *testing.T) {
	tests := []struct{ name, before, want string }{
		{"empty", "\n", "f.json:2:1: no valid JSON: parsing value: unexpected EOF; the file is empty; remove it, or write {} into it"},
		{"cut", "{\n  \"a\": [1,", "f.json:2:11: no valid JSON: parsing value: unexpected EOF; correct it first; comments and trailing commas are fine"},
		{"wrong character", "{\n  \"é\": 'x'\n}", `f.json:2:8: no valid JSON: invalid character '\'' at start of value; correct it first; comments and trailing commas are fine`},
		{"wrong string", "{\"a\": \"secret \x1b\"}", "f.json:1:7: no valid JSON: this is no string, number or word of JSON; correct it first; comments and trailing commas are fine"},
		{"a list", " []", "f.json:1:2: settings are an object, and this is a list; begin the file with { and end it with }"},
		{"hooks of another type", "{\n\t\"hooks\": null}", `f.json:2:11: "hooks" is null, and Small wants an object there; correct or remove it first`},
		{"an event of another type", `{"hooks": {"Pre": {}}}`, "f.json:1:19: the hooks of Pre are an object, and Small wants a list there; correct or remove them first"},
		{"too deep", strings.Repeat("[", maxContainers+1), "f.json: more than 100000 lists and objects; this is hardly a settings file; see what is in it"},
		{"too long", strings.Repeat(" ", maxBytes+1), "f.json: more than 1 MiB; this is hardly a settings file; see what is in it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := insert("f.json", []byte(tt.before), small, smallCommand)
			var e *Error
			if !errors.As(err, &e) || err.Error() != tt.want {
				t.Errorf("got error %v\nwant %s", err, tt.want)
			}
		})
	}
}

// Of a file whose original is unknown, our entries go, and what is empty then.
func TestStripWithoutOriginal(t *testing.T) {
	tests := []struct {
		name, before, want string
		empty              bool
	}{
		{"nothing else", `{"hooks": {"Pre": [` + preFlat + `]}}`, `{}`, true},
		{"nothing else, with a comment", "{\n  // mine\n  \"hooks\": {\"Pre\": [" + preFlat + "]}\n}\n", "{\n  // mine\n}\n", false},
		{"others in the list", `{"hooks": {"Pre": [1, ` + preFlat + `, 2]}}`, `{"hooks": {"Pre": [1, 2]}}`, false},
		{"a comment in the list", `{"hooks": {"Pre": [/* mine */ ` + preFlat + `]}}`, `{"hooks": {"Pre": [/* mine */]}}`, false},
		{"others in the group", `{"hooks": {"Pre": [{"hooks": [{"command": "expediter hook small"}, {"command": "lint"}]}]}}`,
			`{"hooks": {"Pre": [{"hooks": [ {"command": "lint"}]}]}}`, false},
		{"a comment in the group", `{"hooks": {"Pre": [{"hooks": [{"command": "expediter hook small"} /* mine */]}]}}`,
			`{"hooks": {"Pre": [{"hooks": [ /* mine */]}]}}`, false},
		{"trailing commas", "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Pre\": [\n      " + preFlat + ",\n    ],\n  },\n}", "{\n  \"a\": 1,\n}", false},
		{"none of ours", `{"hooks": {"Pre": [], "End": [{}]}}`, `{"hooks": {"Pre": [], "End": [{}]}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := parse("f.json", []byte(tt.before))
			if err != nil {
				t.Fatal(err)
			}
			got, _, empty := strip(d, small, origin{}, all)
			if string(got) != tt.want || empty != tt.empty {
				t.Errorf("got %q, empty %v\nwant %q, %v", got, empty, tt.want, tt.empty)
			}
		})
	}
}
