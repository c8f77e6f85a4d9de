package proof

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// visit is one trial as the tool sees it.
type visit struct {
	tool, member string
	tag          string // the token of its lease; "alone" where there was no fleet
	from, to     time.Time
	ok           bool
	atOnce       int // trials of the tool in flight, with it, when it began
}

// toolServer is the tools: they work or not as the test says, and note every trial.
type toolServer struct {
	addr string

	mu       sync.Mutex
	down     map[string]bool
	holding  map[string]bool
	held     chan heldTrial
	calls    map[string]int // of all members, trials among them
	inFlight map[string]int
	visits   []visit
}

// heldTrial is a trial that the tool has not answered yet.
type heldTrial struct {
	tool, member string
	answer       chan<- bool
}

func startTools(t testing.TB) *toolServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &toolServer{addr: l.Addr().String(), down: map[string]bool{}, holding: map[string]bool{},
		held: make(chan heldTrial, 64), calls: map[string]int{}, inFlight: map[string]int{}}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

// serve answers the calls of one connection, each a line "TOOL MEMBER VERB TAG".
func (s *toolServer) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := bufio.NewScanner(c)
	for in.Scan() {
		word := strings.Fields(in.Text())
		if len(word) != 4 {
			return
		}
		if _, err := fmt.Fprintln(c, s.call(word[0], word[1], word[2] == "PROBE", word[3])); err != nil {
			return
		}
	}
}

// call is one call of a tool; it answers "ok" or "down".
func (s *toolServer) call(tool, member string, trial bool, tag string) string {
	s.mu.Lock()
	s.calls[tool]++
	ok := !s.down[tool]
	if !trial {
		s.mu.Unlock()
		return answer(ok)
	}
	s.inFlight[tool]++
	at, hold := len(s.visits), s.holding[tool]
	s.visits = append(s.visits, visit{tool: tool, member: member, tag: tag, from: time.Now(), atOnce: s.inFlight[tool]})
	s.mu.Unlock()
	if hold {
		said := make(chan bool, 1)
		s.held <- heldTrial{tool, member, said}
		ok = <-said
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight[tool]--
	s.visits[at].to, s.visits[at].ok = time.Now(), ok
	return answer(ok)
}

func answer(ok bool) string {
	if ok {
		return "ok"
	}
	return "down"
}

// set makes tools work or not.
func (s *toolServer) set(down bool, tools ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tool := range tools {
		s.down[tool] = down
	}
}

// hold makes the tool's trials wait for the test's word, or no longer.
func (s *toolServer) hold(tool string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding[tool] = on
}

// nextHeld waits for a trial that the tool holds.
func (s *toolServer) nextHeld(t testing.TB) heldTrial {
	t.Helper()
	select {
	case h := <-s.held:
		return h
	case <-time.After(patience):
		t.Fatal("no trial reached the tool")
		return heldTrial{}
	}
}

// seen are the trials so far, in the order in which they began.
func (s *toolServer) seen() []visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]visit(nil), s.visits...)
}

// toolClient is a connection of one worker to the tools.
type toolClient struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialTools(addr string) (*toolClient, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &toolClient{c, bufio.NewReader(c)}, nil
}

// call makes one call and reports whether the tool worked.
func (c *toolClient) call(tool, member, verb, tag string) (bool, error) {
	if _, err := fmt.Fprintf(c.conn, "%s %s %s %s\n", tool, member, verb, tag); err != nil {
		return false, err
	}
	line, err := c.in.ReadString('\n')
	return line == "ok\n", err
}
