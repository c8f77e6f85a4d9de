package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/mcpproxy"
	"github.com/expediter-go/expediter/integration/redisfleet"
)

// joinWithin is how long the first call of a proxy's client waits for its fleet.
const joinWithin = 100 * time.Millisecond

// sharedFleet is what the engines of one process have in common: one client of Redis,
// and one reader of the log. The nil sharedFleet is none.
type sharedFleet struct {
	join  func(*expediter.Engine) mcpproxy.Membership
	close func() error
}

// connect is the fleet of a proxy, by its flag or its file. It connects to nothing yet.
func (o proxyOptions) connect(cfg mcpproxy.Config, log *zap.Logger) (*sharedFleet, error) {
	where, url := "--fleet", string(o.fleet)
	if url == "" {
		where, url = "proxy.fleet", cfg.Proxy.Fleet
	}
	if url == "" {
		return nil, nil
	}
	client, all, err := redisfleet.Parse(url)
	if err != nil {
		return nil, usagef("%s: %v", where, err)
	}
	all.Reader, all.Log = &redisfleet.Reader{}, once(log)
	return &sharedFleet{close: client.Close, join: func(engine *expediter.Engine) mcpproxy.Membership {
		one := all
		if one.Member != "" { // it is the process's, and each client needs its own
			one.Member = fmt.Sprintf("%.40s_%s", all.Member, rand.Text()[:12])
		}
		ctx, cancel := context.WithTimeout(context.Background(), joinWithin)
		defer cancel()
		fleet, err := redisfleet.Join(ctx, client, engine, one)
		if err != nil { // the options were checked
			log.Error("a client goes on without its fleet", zap.Error(err))
			return mcpproxy.Membership{}
		}
		m := &membership{fleet: fleet}
		return mcpproxy.Membership{Stands: m.line, Leave: func() { _ = fleet.Close() }}
	}}, nil
}

// joiner is what a proxy makes its clients members with; nil: there is no fleet.
func (s *sharedFleet) joiner() func(*expediter.Engine) mcpproxy.Membership {
	if s == nil {
		return nil
	}
	return s.join
}

// end closes the client, after the last engine has left.
func (s *sharedFleet) end() {
	if s != nil {
		_ = s.close()
	}
}

// once is a log that says the same only once a minute: a thousand clients hear at
// once that Redis is away.
func once(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(c, time.Minute, 1, 0)
	}))
}
