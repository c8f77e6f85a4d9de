package zaplog_test

import (
	"time"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/zaplog"
)

func ExampleNew() {
	x, err := expediter.New(expediter.Config{Events: zaplog.New(zap.NewExample())})
	if err != nil {
		panic(err)
	}
	for step := range int64(3) {
		d := x.Decide("Grep", step, time.Time{})
		if _, err := x.Record(d.Call, expediter.Failure(cascade.Network, "connection refused"), step, time.Time{}); err != nil {
			panic(err)
		}
	}
	// Output:
	// {"level":"warn","msg":"Circuit OPENED for Grep: 3 consecutive failures","tool":"Grep","from":"CLOSED","to":"OPEN","why":"3 consecutive failures","failures":3,"step":2}
}
