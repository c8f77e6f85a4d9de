package redisfleet_test

import (
	"context"
	"fmt"
	"time"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/redisfleet"
)

// An engine becomes one of a fleet's. Here nothing listens where Redis should be: the
// engine begins alone, and would join as soon as it came.
func ExampleJoin() {
	if err := work(context.Background(), "redis://127.0.0.1:1/0?scope=team/audit&timeout=50ms"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// connected: false
	// web_search: CALL
}

func work(ctx context.Context, url string) error {
	engine, err := expediter.New(expediter.Config{})
	if err != nil {
		return err
	}
	client, options, err := redisfleet.Parse(url)
	if err != nil {
		return err
	}
	defer client.Close()
	fleet, err := redisfleet.Join(ctx, client, engine, options)
	if err != nil {
		return err // the options are wrong; a Redis that is away is no error
	}
	defer fleet.Close()
	fmt.Println("connected:", fleet.Status().Connected)
	d := engine.Decide("web_search", expediter.NoStep, time.Now())
	fmt.Println("web_search:", d.Verb)
	return nil
}
