package a2apeer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/executor"
	"github.com/expediter-go/expediter/expediter/precheck"
	a2apeer "github.com/expediter-go/expediter/integration/a2a"
)

// published serves an agent's card where agents have it.
func published(t testing.TB, interfaces int, skills ...string) string {
	card := &a2a.AgentCard{Name: "agent"}
	for range interfaces {
		card.SupportedInterfaces = append(card.SupportedInterfaces, a2a.NewAgentInterface("http://agent.invalid", a2a.TransportProtocolJSONRPC))
	}
	for _, id := range skills {
		card.Skills = append(card.Skills, a2a.AgentSkill{ID: id})
	}
	mux := http.NewServeMux()
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	addr, _ := listen(t, "", mux)
	return "http://" + addr
}

func TestCard(t *testing.T) {
	web := func(status int, text string) string {
		addr, _ := listen(t, "", writing(status, text))
		return "http://" + addr
	}
	gone, stop := listen(t, "", writing(200, "{}"))
	stop()
	for _, tt := range []struct {
		name, url string
		skills    []string
		want      capability.Score
		doubt     bool
	}{
		{"there", published(t, 1, "hotel", "flight"), []string{"flight"}, capability.Available, false},
		{"below a path", published(t, 1) + "/", nil, capability.Available, false},
		{"without the skill", published(t, 1, "hotel"), []string{"hotel", "flight"}, capability.Unavailable, false},
		{"without an interface", published(t, 0), nil, capability.Unavailable, false},
		{"nobody listens", "http://" + gone, nil, capability.Unavailable, false},
		{"no card", web(404, "what?"), nil, capability.Unavailable, false},
		{"gone", web(410, "gone"), nil, capability.Unavailable, false},
		{"not for us", web(401, "who?"), nil, capability.Available, false},
		{"busy", web(429, "later"), nil, capability.Degraded, false},
		{"broken", web(500, "oops"), nil, capability.Degraded, false},
		{"garbage", web(200, "<html>"), nil, capability.Degraded, false},
		{"endless", web(200, `{"name":"`+strings.Repeat("x", 2<<20)+`"}`), nil, capability.Degraded, false},
		{"an odd status", web(418, "teapot"), nil, capability.Available, true},
		{"no address", "http://%zz", nil, capability.Available, true},
		{"no protocol", "gopher://agent.invalid", nil, capability.Available, true},
		{"a card that breaks off", "http://" + rawServer(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{") }), nil, capability.Available, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := &http.Transport{}
			defer base.CloseIdleConnections()
			got, err := a2apeer.Card(&http.Client{Transport: base}, tt.url, tt.skills...)(t.Context())
			if got != tt.want || (err != nil) != tt.doubt {
				t.Errorf("got %v, %v; want %v, doubt %v", got, err, tt.want, tt.doubt)
			}
		})
	}
}

func TestCardOfASilentPeerIsNoVerdict(t *testing.T) {
	leave := make(chan struct{})
	addr, _ := listen(t, "", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-leave }))
	t.Cleanup(func() { close(leave) })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	got, err := a2apeer.Card(nil, "http://"+addr)(ctx)
	if got != capability.Available || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, %v", got, err)
	}
}

// A peer without the skill is routed around before anything was sent or charged.
func TestCardBeforeTheCall(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		b := newBench(t, nil)
		checks, err := precheck.New(precheck.Config{Checks: map[string]precheck.Check{
			"travel/flight": a2apeer.Card(nil, published(t, 1, "hotel"), "flight"),
		}})
		if err != nil {
			t.Fatal(err)
		}
		checks.Apply(t.Context(), b.engine, expediter.NoStep, b.now)
		c := b.guarded(t, bind, addr, "travel")
		if _, err := send(a2apeer.WithSkill(t.Context(), "flight"), c, "completed"); !errors.Is(err, executor.ErrUnavailable) {
			t.Errorf("got %v, want unavailable", err)
		}
		_, _ = send(a2apeer.WithSkill(t.Context(), "hotel"), c, "completed")
		b.tell(t, "SKIP travel/flight", "CALL travel/hotel", "success")
		if got := b.engine.Status().Consumed; got != 0 {
			t.Errorf("%d charged, want 0", got)
		}
	})
}
