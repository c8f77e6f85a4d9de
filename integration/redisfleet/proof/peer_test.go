package proof

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

// peerConfig is what a process with gobreaker's distributed breakers is started
// with.
type peerConfig struct {
	Redis, Tools string
	Name         string
	Work         []string
	Pause        time.Duration
	ProbeEvery   time.Duration
	For          time.Duration
}

// peerReport is what it says at its end.
type peerReport struct {
	Made, Refused, Errors int            // of calls
	Kinds                 map[string]int // of errors
	Lost                  int            // updates of others that were overwritten
	Costs                 []int64        // ns that a call took beside the tool
}

// peerStore is a gobreaker.SharedDataStore as its interface suggests it: a lock with
// an end and an owner, and a value. Each breaker has its own.
type peerStore struct {
	client *redis.Client
	owner  string
	read   string // what GetData gave last
	lost   int
}

var errLocked = errors.New("locked by another")

var unlock = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)

func (s *peerStore) Lock(name string) error {
	s.owner = rand.Text()
	ok, err := s.client.SetNX(context.Background(), name, s.owner, 8*time.Second).Result()
	if err == nil && !ok {
		err = errLocked
	}
	return err
}

func (s *peerStore) Unlock(name string) error {
	return unlock.Run(context.Background(), s.client, []string{name}, s.owner).Err()
}

func (s *peerStore) GetData(name string) ([]byte, error) {
	text, err := s.client.Get(context.Background(), name).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	s.read = text
	return []byte(text), err
}

// SetData also looks whether it overwrites what it has never read: the update of
// another process, which is lost by that.
func (s *peerStore) SetData(name string, data []byte) error {
	was, err := s.client.SetArgs(context.Background(), name, data, redis.SetArgs{Get: true}).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	if was != s.read {
		s.lost++
	}
	s.read = string(data)
	return err
}

var errDown = errors.New("the tool is down")

func runPeer(cfg peerConfig) error {
	client := redis.NewClient(&redis.Options{Addr: cfg.Redis, PoolSize: len(cfg.Work)})
	defer func() { _ = client.Close() }()
	total := peerReport{Kinds: map[string]int{}}
	end := time.Now().Add(cfg.For)
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, tool := range cfg.Work {
		c, err := dialTools(cfg.Tools)
		if err != nil {
			return err
		}
		all.Go(func() {
			r := cfg.work(tool, c, client, end)
			mu.Lock()
			defer mu.Unlock()
			total.add(r)
		})
	}
	all.Wait()
	return json.NewEncoder(os.Stdout).Encode(total)
}

func (r *peerReport) add(o peerReport) {
	r.Made, r.Refused, r.Errors, r.Lost = r.Made+o.Made, r.Refused+o.Refused, r.Errors+o.Errors, r.Lost+o.Lost
	r.Costs = append(r.Costs, o.Costs...)
	for k, n := range o.Kinds {
		r.Kinds[k] += n
	}
}

// work calls one tool through its breaker until the end.
func (cfg peerConfig) work(tool string, c *toolClient, client *redis.Client, end time.Time) peerReport {
	store := &peerStore{client: client}
	r := peerReport{Kinds: map[string]int{}}
	var breaker *gobreaker.DistributedCircuitBreaker[bool]
	for breaker == nil && time.Now().Before(end) {
		var err error
		breaker, err = gobreaker.NewDistributedCircuitBreaker[bool](store, gobreaker.Settings{Name: tool, Timeout: cfg.ProbeEvery,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 3 }})
		if err != nil {
			r.Errors++
			r.Kinds[err.Error()]++
			breaker = nil
		}
	}
	next := time.NewTicker(cfg.Pause)
	defer next.Stop()
	for range next.C {
		if !time.Now().Before(end) {
			break
		}
		cfg.call(tool, c, breaker, &r)
	}
	r.Lost = store.lost
	return r
}

// call makes one call and counts what came of it.
func (cfg peerConfig) call(tool string, c *toolClient, breaker *gobreaker.DistributedCircuitBreaker[bool], r *peerReport) {
	began := time.Now()
	var inTool time.Duration
	_, err := breaker.Execute(func() (bool, error) {
		verb := "CALL"
		if breaker.CircuitBreaker.State() == gobreaker.StateHalfOpen {
			verb = "PROBE"
		}
		called := time.Now()
		ok, err := c.call(tool, cfg.Name, verb, "-")
		inTool = time.Since(called)
		if err == nil && !ok {
			err = errDown
		}
		return ok, err
	})
	switch {
	case err == nil || errors.Is(err, errDown):
		r.Made++
	case errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests):
		r.Refused++
	default:
		r.Errors++
		r.Kinds[err.Error()]++
	}
	r.Costs = append(r.Costs, (time.Since(began) - inTool).Nanoseconds())
}
