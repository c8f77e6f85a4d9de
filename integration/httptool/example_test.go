package httptool_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
	"github.com/expediter-go/expediter/integration/httptool"
)

func ExampleNew() {
	prices := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "database is down", http.StatusServiceUnavailable)
	}))
	defer prices.Close()

	engine, err := expediter.New(expediter.Config{
		Tools: capability.Map{{Tool: "prices", Provides: "today's prices", Fallback: "ask the user for the price",
			Alternatives: []capability.Alternative{{Tool: "price list", Degradation: "yesterday's prices"}}}},
		Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1}},
	})
	if err != nil {
		panic(err)
	}
	calls, err := executor.New(executor.Config{Engine: engine})
	if err != nil {
		panic(err)
	}
	transport, err := httptool.New(httptool.Config{
		Executor: calls,
		Name:     func(*http.Request) string { return "prices" },
	})
	if err != nil {
		panic(err)
	}
	client := &http.Client{Transport: transport}

	resp, err := client.Get(prices.URL) // the answer is handed on as it is
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
	fmt.Println(resp.Status)

	_, err = client.Get(prices.URL) // not sent
	if refused := (*executor.Refused)(nil); errors.As(err, &refused) {
		fmt.Println(refused)
	}
	// Output:
	// 503 Service Unavailable
	// "prices" skipped: its circuit is open (next trial in 2 attempts); use price list: ACCEPTABLE, yesterday's prices
}

func ExampleHost() {
	req := httptest.NewRequest(http.MethodGet, "https://API.Example.com:443/v1/users", nil)
	fmt.Println(httptool.Host(req))
	// Output: api.example.com
}
