package main

import (
	"errors"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Real servers, without a word about speed: a machine may be busy.
func TestServers(t *testing.T) {
	well := plan{slots: 20, peers: 5, ill: 1, rate: 150, quick: time.Millisecond, length: 300 * time.Millisecond, end: time.Second,
		patience: time.Minute, deadline: time.Minute, limit: 20, threshold: 3, cooldown: time.Minute, seed: 1}
	ill := well // the summarizer is slow all the time, and its callers have no patience
	ill.slow, ill.deadline = time.Hour, 50*time.Millisecond
	for _, w := range ways[4:] {
		t.Run(w.name, func(t *testing.T) {
			visits, err := w.real(t.Context(), well, 1)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range visits {
				if v.end != own || !v.reached || v.probe {
					t.Errorf("caller %d: got %+v, want an answer", i, v)
				}
			}
			visits, err = w.real(t.Context(), ill, 1)
			if err != nil {
				t.Fatal(err)
			}
			reached := 0
			for i, v := range visits {
				if v.peer != summarizer {
					continue
				}
				if v.end == own || v.end == gaveUp {
					t.Errorf("caller %d: got %+v, want no answer of the summarizer, and soon", i, v)
				}
				if v.reached {
					reached++
				}
			}
			if reached < ill.threshold {
				t.Errorf("%d calls reached the summarizer; want %d at least, or its breaker could not open", reached, ill.threshold)
			}
		})
	}
}

func TestServersRefuseStrangers(t *testing.T) {
	s, err := open(t.Context(), plan{slots: 1, peers: 1, rate: 1, length: time.Second, seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "x", "-1", "1000000"} {
		_, err := s.clients[0].SendMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))})
		if !errors.Is(err, a2a.ErrInvalidParams) {
			t.Errorf("%q: got %v, want invalid parameters", text, err)
		}
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}
