package simulate

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shown is a result with a column of zeros, an empty figure, a hostile name and
// a loss.
func shown() Result {
	flat := func(v float64) Spread { return Spread{Mean: v, Low: v, High: v, Runs: 30} }
	wide := func(v float64) Spread { return Spread{Mean: v, Low: v / 2, High: v * 1.5, Runs: 30} }
	row := func(m Model, rate float64, way string) Row {
		return Row{Model: m, Rate: rate, Way: way, Calls: wide(400), Done: flat(200), Minutes: wide(8.04), Tokens: wide(502_312),
			Doomed: flat(0), Denied: flat(0), Wrong: flat(0)}
	}
	retry, engine, own := row(Transient, 0.125, "retry at once"), row(Transient, 0.125, "expediter faithful"), row(Transient, 0.125, "expediter a|b<i>`")
	retry.Doomed, engine.Doomed, own.Doomed = wide(40), wide(36.04), flat(0)
	engine.Done, engine.Degraded, engine.Deferred, engine.Honest = wide(180), flat(15), flat(5), flat(1)
	engine.DeniedGood, engine.Pauses = flat(8.5), flat(2)
	return Result{Format: ResultFormat, Seed: 1, Seeds: 30, Agents: 5, Subtasks: 40, Retries: 3, Answers: 3,
		Rows:  []Row{row(NoFault, 0, "retry at once"), row(NoFault, 0, "expediter faithful"), retry, engine, own},
		Notes: []string{"One thing.", "Another."}}
}

func TestOutputs(t *testing.T) {
	for name, write := range map[string]func(io.Writer, Result) error{"text.txt": Text, "rows.csv": CSV} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got, shown()); err != nil {
				t.Fatal(err)
			}
			golden(t, name, got.Bytes())
			if err := write(broken{}, shown()); !errors.Is(err, errBroken) {
				t.Errorf("a writer that fails: got %v", err)
			}
		})
	}
}

var errBroken = errors.New("nobody reads")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got); -update writes it anew:\n%s", path, diff)
	}
}

func TestCSVHasThreeColumnsForEachFigure(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, shown()); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(lines[0]), 3+3*len(columns); got != want || len(lines) != 1+len(shown().Rows) {
		t.Errorf("%d columns and %d lines, want %d and %d", got, len(lines), want, 1+len(shown().Rows))
	}
}

func TestWorseIsSilentAboutEqualRows(t *testing.T) {
	got := worse(shown().Rows[:2])
	if diff := cmp.Diff([]string{"nowhere in this comparison"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The example in the page is what the command prints.
func TestPageExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/simulate.md")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := Text(&got, run(t, Config{Seed: 1, Models: []Model{Permanent}, Rates: []float64{0.2}})); err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(got.String(), "\nWhere expediter")
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/simulate.md does not have this example:\n%s", table)
	}
}
