package document_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability/document"
)

// Whatever encoding/json writes is read as the same value.
func TestJSONReadsAsEncodingJSONWrites(t *testing.T) {
	leaf := rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.Int64().AsAny(),
		rapid.Float64().Filter(func(f float64) bool { return f != math.Trunc(f) }).AsAny(),
		rapid.String().AsAny(),
	)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		inner := rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) })
		return rapid.OneOf(leaf, rapid.SliceOfN(inner, 0, 4).AsAny(), rapid.MapOfN(rapid.String(), inner, 0, 4).AsAny())
	}
	rapid.Check(t, func(t *rapid.T) {
		want := value(3).Draw(t, "value")
		data, err := json.MarshalIndent(want, "", rapid.SampledFrom([]string{"", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := document.Parse("f.json", data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		var got any
		if err := n.Decode(&got); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}
