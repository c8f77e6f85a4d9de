package proof

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// fanOut measures what an event costs Redis when so many connections wait for it,
// and says what that makes of 100,000, which one machine cannot hold.
func (p *page) fanOut(b *testing.B) {
	var last fan
	for _, n := range []int{100, 1000, 4000} {
		last = measureFan(b, n)
		p.row(fmt.Sprintf("%d, measured", n), fmt.Sprintf("%.0f", last.bytes), ms(last.cpu), ms(last.late), fmt.Sprintf("%.1f kB", last.memory/1000))
	}
	const far = 100_000
	scale := far / float64(last.readers)
	p.row(fmt.Sprintf("%d, computed from %d", far, last.readers), fmt.Sprintf("%.0f", last.bytes*scale), ms(time.Duration(float64(last.cpu)*scale)),
		"at least that", fmt.Sprintf("%.1f kB", last.memory/1000))
}

// fan is what one event costs.
type fan struct {
	readers   int
	bytes     float64       // out of Redis
	cpu, late time.Duration // Redis's own, and until the last reader has it
	memory    float64       // of one reader's connection
}

func measureFan(b *testing.B, n int) fan {
	b.Helper()
	server := redistest.Start(b)
	client := server.Client()
	before := info(b, client, "memory", "used_memory")
	readers := redis.NewClient(&redis.Options{Addr: server.Addr, PoolSize: n + 8, ContextTimeoutEnabled: true, MaxRetries: -1})
	defer func() { _ = readers.Close() }()
	ctx, cancel := context.WithCancel(b.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer server.Kill() // ends what waits
	defer cancel()
	var heard atomic.Int64
	for range n {
		all.Go(func() { follow(ctx, readers, &heard) })
	}
	await(b, "all wait", func() bool { return info(b, client, "clients", "blocked_clients") == float64(n) })
	f := fan{readers: n, memory: (info(b, client, "memory", "used_memory") - before) / float64(n)}
	bytes, cpu := info(b, client, "stats", "total_net_output_bytes"), cpuOf(b, client)
	const events = 20
	var late []time.Duration
	for i := range events {
		began := time.Now()
		if err := client.XAdd(ctx, &redis.XAddArgs{Stream: "log", Values: typical}).Err(); err != nil {
			b.Fatal(err)
		}
		for heard.Load() < int64((i+1)*n) {
			if time.Since(began) > patience {
				b.Fatal("not all readers have it")
			}
			<-time.After(200 * time.Microsecond)
		}
		late = append(late, time.Since(began))
		await(b, "all wait", func() bool { return info(b, client, "clients", "blocked_clients") == float64(n) })
	}
	f.bytes = (info(b, client, "stats", "total_net_output_bytes") - bytes) / events
	f.cpu = time.Duration((cpuOf(b, client) - cpu) / events * float64(time.Second))
	f.late = quantile(late, 0.5)
	return f
}

// typical is an entry of the log.
var typical = []string{"v", "1", "m", "host_12345_ABCDEFGH", "s", "ABCDEFGHIJKL-17", "p", "1796100519679-0",
	"c", `{"kind":"opened","tool":"mcp/server/tool","failure":{"category":"upstream","signature":"502 bad gateway"},"text":"502 Bad Gateway from upstream","run":3}`}

func cpuOf(b *testing.B, client *redis.Client) float64 {
	b.Helper()
	return info(b, client, "cpu", "used_cpu_user") + info(b, client, "cpu", "used_cpu_sys")
}

// follow reads the log as a member does.
func follow(ctx context.Context, client *redis.Client, heard *atomic.Int64) {
	from := "0-0"
	for ctx.Err() == nil {
		streams, err := client.XRead(ctx, &redis.XReadArgs{Streams: []string{"log", from}, Count: 500, Block: time.Minute}).Result()
		if err != nil || len(streams) == 0 {
			continue
		}
		messages := streams[0].Messages
		from = messages[len(messages)-1].ID
		heard.Add(int64(len(messages)))
	}
}
