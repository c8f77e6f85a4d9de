package simulate

import (
	"testing"

	"github.com/expediter-go/expediter/expediter"
)

// BenchmarkWorld is one world of the default size under every way of working.
func BenchmarkWorld(b *testing.B) {
	cfg := Config{Policies: []Policy{{"own", expediter.Faithful()}}}.withDefaults()
	for _, m := range Models() {
		b.Run(m.String(), func(b *testing.B) {
			b.ReportAllocs()
			ways, n := cfg.ways(), 0
			for b.Loop() {
				if _, err := cfg.one(b.Context(), ways, setting{m, 0.2}, n%cfg.Seeds); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}
