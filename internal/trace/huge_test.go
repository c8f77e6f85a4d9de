package trace

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

var huge = flag.Int("huge", 0, "size of the input of TestHuge, in GiB; 0: 64 MiB")

// maxMemory is what reading may take, however long its input, in bytes.
const maxMemory = 200 << 20

// endless is an input of size bytes, made up piece by piece as it is read.
type endless struct {
	next  func(i int) io.Reader
	size  int64
	piece io.Reader
	i     int
	peak  uint64 // of the heap
	said  int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.size <= 0 {
		return 0, io.EOF
	}
	if e.piece == nil {
		e.piece = e.next(e.i)
		e.i++
	}
	n, err := e.piece.Read(p)
	if err == io.EOF {
		e.piece = nil
	}
	e.size -= int64(n)
	if e.said -= int64(n); e.said < 0 {
		e.said = 4 << 20
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		e.peak = max(e.peak, m.HeapInuse+m.StackInuse)
	}
	return n, nil
}

// mixed is a transcript of thousands of sessions that interleave, with calls
// that never end, results that nobody asked for, and now and then a line that
// is very long, or too long.
func mixed() func(i int) io.Reader {
	m := &maker{sessions: 5000}
	return func(i int) io.Reader {
		m.Reset()
		m.next()
		switch {
		case i%10 == 0:
			m.say(`"type":"assistant","message":{"id":"open_%d","content":[{"type":"tool_use","id":"toolu_without_end_%d","name":"Bash","input":{"command":"sleep 100"}}]}`, i, i)
		case i%10 == 5:
			m.say(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"orphan-%d","content":"x"}]}`, i)
		case i%1000 == 999:
			return around(m.Bytes(), `{"type":"user","sessionId":"long","message":{"content":[{"type":"tool_result","is_error":true,"tool_use_id":"x","content":"`, maxRecord-1000, `"}]}}`)
		case i%1500 == 1499:
			return around(m.Bytes(), `{"type":"user","message":"`, maxRecord+1000, `"}`)
		}
		return bytes.NewReader(m.Bytes())
	}
}

// around is a line with n bytes in its middle, after other lines.
func around(lines []byte, before string, n int64, after string) io.Reader {
	return io.MultiReader(bytes.NewReader(lines), strings.NewReader(before), io.LimitReader(endlessly('y'), n), strings.NewReader(after+"\n"))
}

// messages is one array of chat messages.
func messages() func(i int) io.Reader {
	b := new(bytes.Buffer)
	return func(i int) io.Reader {
		if b.Reset(); i == 0 {
			b.WriteString(`[{"role":"user","content":"go"}`)
		}
		fmt.Fprintf(b, `,{"role":"assistant","tool_calls":[{"id":"call_%016d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, i)
		fmt.Fprintf(b, `,{"role":"tool","tool_call_id":"call_%016d","content":%s}`, i, quote(someSource[:1+i*97%len(someSource)]))
		if i%5000 == 4999 {
			return io.MultiReader(bytes.NewReader(b.Bytes()), strings.NewReader(`,{"role":"tool","content":"`), io.LimitReader(endlessly('y'), maxRecord-1000), strings.NewReader(`"}`))
		}
		return bytes.NewReader(b.Bytes())
	}
}

// TestHuge reads without end; with -huge 5 it is the 5 GiB of each kind.
func TestHuge(t *testing.T) {
	kinds := []struct {
		name, format string
		next         func(i int) io.Reader
	}{{"lines", "claude-code", mixed()}, {"document", "openai", messages()}}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			size := max(int64(*huge)<<30, 64<<20)
			in, began := &endless{next: kind.next, size: size}, time.Now()
			stats, err := ReadAll(t.Context(), []Source{{Name: "endless", Open: func() (io.ReadCloser, error) { return io.NopCloser(in), nil }}},
				Options{}, func(*Event) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			s := stats[0]
			t.Logf("%d MiB in %v, heap at most %d MiB, process at most %s: %+v", size>>20, time.Since(began).Round(time.Millisecond), in.peak>>20, highWater(), s)
			if s.Format != kind.format || s.Calls < 1000 || s.Problem != "" {
				t.Errorf("not read as it should be: %+v", s)
			}
			if in.peak > maxMemory {
				t.Errorf("the heap took %d MiB, want at most %d", in.peak>>20, maxMemory>>20)
			}
		})
	}
}

// highWater is what the whole process took at most, where the system tells.
func highWater() string {
	status, err := os.ReadFile("/proc/self/status")
	if m := regexp.MustCompile(`VmHWM:\s*(.*)`).FindSubmatch(status); err == nil && m != nil {
		return string(m[1])
	}
	return "unknown"
}
