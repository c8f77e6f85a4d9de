package mcpproxy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	a, b, c := &upstream{}, &upstream{server: Server{Name: "b"}}, &upstream{server: Server{Name: "c c"}}
	list := func(u *upstream, prefix string, names ...string) serverNames { return serverNames{u, prefix, names} }
	tests := []struct {
		name  string
		steps [][]serverNames // all but the last are kept for good
		want  []string
	}{
		{"none collide", [][]serverNames{{list(a, "a", "x"), list(b, "b", "y")}}, []string{"x", "y"}},
		{"the first of the config keeps its name", [][]serverNames{{list(a, "a", "x"), list(b, "b", "x"), list(c, "c_c", "x")}}, []string{"x", "b__x", "c_c__x"}},
		{"a prefixed name that another has", [][]serverNames{{list(a, "a", "x", "b__x"), list(b, "b", "x")}}, []string{"x", "b__x", "b__x_2"}},
		{"a late first server does not take a name over", [][]serverNames{{list(a, "a"), list(b, "b", "x")}, {list(a, "a", "x"), list(b, "b", "x")}}, []string{"a__x", "x"}},
		{"a name that went stays its server's", [][]serverNames{{list(a, "a", "x"), list(b, "b")}, {list(a, "a"), list(b, "b", "x")}}, []string{"b__x"}},
		{"listed twice", [][]serverNames{{list(a, "a", "x", "x")}}, []string{"x"}},
		{"of servers named like the expediter", [][]serverNames{{list(a, prefixOf("expediter"), "expediter_plan", "x"), list(b, prefixOf("expediter two"), "x")}},
			[]string{"server_expediter__expediter_plan", "x", "server_expediter_two__x"}},
		{"the expediter's own", [][]serverNames{{list(a, "a", "expediter_plan")}}, []string{"a__expediter_plan"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n names
			for _, s := range tt.steps {
				n.set(s, isOwn, true)
			}
			var got []string
			for _, s := range n.all() {
				got = append(got, s.shown)
				if o, ok := n.find(s.shown); !ok || o != s.owner {
					t.Errorf("find(%q) = %v, %v", s.shown, o, ok)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("shown (-want +got):\n%s", d)
			}
		})
	}
}
