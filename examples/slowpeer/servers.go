package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// site is the peers as A2A servers on loopback, with a client for each.
type site struct {
	plan     plan
	began    time.Time // set before the first request
	requests []request
	closing  context.Context
	stop     context.CancelFunc
	clients  []*a2aclient.Client
	servers  []*http.Server
	serving  sync.WaitGroup
	wire     *http.Client
}

// open starts a server for each peer.
func open(ctx context.Context, p plan) (*site, error) {
	s := &site{plan: p, requests: p.requests(), wire: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4 * p.slots}}}
	s.closing, s.stop = context.WithCancel(ctx)
	for range p.peers {
		if err := s.add(ctx); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// add starts one server, which speaks JSON-RPC.
func (s *site) add(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("a peer needs a port on loopback: %w", err)
	}
	agent := a2asrv.NewHandler(s, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	server := &http.Server{Handler: a2asrv.NewJSONRPCHandler(agent), ReadHeaderTimeout: time.Minute}
	s.servers = append(s.servers, server)
	s.serving.Go(func() { _ = server.Serve(l) }) // ends with ErrServerClosed
	client, err := a2aclient.NewFromEndpoints(ctx, []*a2a.AgentInterface{
		a2a.NewAgentInterface("http://"+l.Addr().String(), a2a.TransportProtocolJSONRPC)}, a2aclient.WithJSONRPCTransport(s.wire))
	s.clients = append(s.clients, client)
	return err
}

func (s *site) close() error {
	s.stop()
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, server.Close())
	}
	s.serving.Wait()
	s.wire.CloseIdleConnections()
	return errors.Join(errs...)
}

// Execute is the work of a peer on the request whose number is the message: it
// takes as long as the plan says. That its caller has gone does not stop it, as
// it does not stop an agent.
func (s *site) Execute(_ context.Context, asked *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		number, err := numberOf(asked.Message)
		if err != nil || number < 0 || number >= len(s.requests) {
			yield(nil, fmt.Errorf("the message is no number of a request: %w", a2a.ErrInvalidParams))
			return
		}
		sleep(s.closing, s.plan.serves(s.requests[number], time.Since(s.began)))
		yield(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(fresh)), nil)
	}
}

// Cancel has nothing to stop.
func (s *site) Cancel(_ context.Context, asked *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateCanceled, nil), nil)
	}
}

func numberOf(m *a2a.Message) (int, error) {
	if m == nil || len(m.Parts) == 0 {
		return 0, errors.New("no text")
	}
	return strconv.Atoi(m.Parts[0].Text())
}

// ask calls the peer of a request.
func (s *site) ask(ctx context.Context, r request) error {
	_, err := s.clients[r.peer].SendMessage(ctx, &a2a.SendMessageRequest{
		Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(strconv.Itoa(r.number)))})
	return err
}

// real runs a way against servers, times faster than the plan.
func (w way) real(ctx context.Context, p plan, times float64) (visits []visit, err error) {
	p = w.plan(p).faster(times)
	s, err := open(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.began = time.Now()
	visits, err = w.live(ctx, p, s.ask, s.began)
	slower(visits, times)
	return visits, errors.Join(err, ctx.Err())
}
