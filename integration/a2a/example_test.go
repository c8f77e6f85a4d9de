package a2apeer_test

import (
	"context"
	"fmt"
	"iter"
	"net/http/httptest"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
	a2apeer "github.com/expediter-go/expediter/integration/a2a"
)

// clerk is an agent that answers with a text, or fails with one.
type clerk struct {
	text string
	fail bool
}

func (c clerk) Execute(_ context.Context, x *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if !c.fail {
			yield(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(c.text)), nil)
			return
		}
		said := a2a.NewMessageForTask(a2a.MessageRoleAgent, x, a2a.NewTextPart(c.text))
		if yield(a2a.NewSubmittedTask(x, x.Message), nil) {
			yield(a2a.NewStatusUpdateEvent(x, a2a.TaskStateFailed, said), nil)
		}
	}
}

func (clerk) Cancel(context.Context, *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(func(a2a.Event, error) bool) {}
}

// Two agents that book travels. One fails; when it is skipped, the map says that
// the other may stand in.
func Example() {
	engine, err := expediter.New(expediter.Config{
		Tools: capability.Map{
			{Tool: "travel", Provides: "bookings", Fallback: "ask the user to book",
				Alternatives: []capability.Alternative{{Tool: "agency", Degradation: "trains only"}}},
			{Tool: "agency", Provides: "train bookings", Fallback: "ask the user to book"},
		},
		Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1}},
	})
	if err != nil {
		panic(err)
	}
	calls, err := executor.New(executor.Config{Engine: engine})
	if err != nil {
		panic(err)
	}
	clients := map[string]*a2aclient.Client{}
	for name, agent := range map[string]clerk{
		"travel": {"upstream 503 Service Unavailable", true},
		"agency": {"booked: the 10:04 to Basel", false},
	} {
		server := httptest.NewServer(a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(agent)))
		defer server.Close()
		peer, err := a2apeer.New(a2apeer.Config{Executor: calls, Name: name})
		if err != nil {
			panic(err)
		}
		card := &a2a.AgentCard{SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(server.URL, a2a.TransportProtocolJSONRPC)}}
		clients[name], err = a2aclient.NewFromCard(context.Background(), card, peer.Options(nil)...)
		if err != nil {
			panic(err)
		}
	}

	ctx := context.Background()
	for range 2 {
		message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("to Basel, please"))
		request := &a2a.SendMessageRequest{Message: message}
		got, err := clients["travel"].SendMessage(ctx, request)
		if routed, client, ok := a2apeer.Routed(ctx, err, clients); ok {
			fmt.Println(err)
			got, err = client.SendMessage(routed, request)
		}
		switch got := got.(type) {
		case *a2a.Task:
			fmt.Println(got.Status.State, got.Status.Message.Parts[0].Text())
		case *a2a.Message:
			fmt.Println(got.Parts[0].Text())
		default:
			fmt.Println(err)
		}
	}
	// Output:
	// TASK_STATE_FAILED upstream 503 Service Unavailable
	// "travel" skipped: its circuit is open (next trial in 2 attempts); use agency: ACCEPTABLE, trains only
	// booked: the 10:04 to Basel
}
