package simulate

import (
	"context"
	"fmt"
	"sync"
)

// ResultFormat is the version of Result's JSON.
const ResultFormat = 1

// Result is one comparison. Its JSON is described in docs/simulate.md.
type Result struct {
	Format   int      `json:"format"` // ResultFormat
	Seed     uint64   `json:"seed"`
	Seeds    int      `json:"seeds"`    // runs behind each row
	Agents   int      `json:"agents"`   // in each run
	Subtasks int      `json:"subtasks"` // of each agent
	Retries  int      `json:"retries"`
	Answers  int      `json:"answers"`
	OwnWords bool     `json:"own_words"`
	Rows     []Row    `json:"rows"`  // by model, then rate, then way
	Notes    []string `json:"notes"` // what the figures assume
}

// setting is one model at one rate.
type setting struct {
	model Model
	rate  float64
}

// settings are all of a Config. At rate 0 the models are the same, so that one
// setting stands for all.
func (c Config) settings() []setting {
	var list []setting
	for _, r := range c.Rates {
		if r == 0 {
			list = append(list, setting{NoFault, 0})
		}
	}
	for _, m := range c.Models {
		for _, r := range c.Rates {
			if r > 0 {
				list = append(list, setting{m, r})
			}
		}
	}
	return list
}

// Run makes the comparison, on several processors. It ends early with an error
// when ctx does.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return Result{}, err
	}
	ways, settings := cfg.ways(), cfg.settings()
	tallies, err := cfg.all(ctx, ways, settings)
	if err != nil {
		return Result{}, err
	}
	res := Result{Format: ResultFormat, Seed: cfg.Seed, Seeds: cfg.Seeds, Agents: cfg.Agents, Subtasks: cfg.Subtasks,
		Retries: cfg.Retries, Answers: cfg.Answers, OwnWords: cfg.OwnWords, Notes: notes(cfg)}
	for i, s := range settings {
		for j, w := range ways {
			runs := make([]tally, cfg.Seeds)
			for k := range runs {
				runs[k] = tallies[i*cfg.Seeds+k][j]
			}
			row := Row{Model: s.model, Rate: s.rate, Way: w.name}
			row.fill(runs, cfg.Agents)
			res.Rows = append(res.Rows, row)
		}
	}
	return res, nil
}

// all runs every world, cfg.Seeds for each setting, and returns for each what
// every way did.
func (c Config) all(ctx context.Context, ways []way, settings []setting) ([][]tally, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tallies := make([][]tally, len(settings)*c.Seeds)
	next := make(chan int)
	count := c.counter(len(tallies))
	var workers sync.WaitGroup
	for range min(c.Workers, len(tallies)) {
		workers.Go(func() {
			for i := range next {
				var err error
				if tallies[i], err = c.one(ctx, ways, settings[i/c.Seeds], i%c.Seeds); err != nil {
					cancel(err)
				}
				count()
			}
		})
	}
	for i := 0; i < len(tallies) && ctx.Err() == nil; i++ {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("the simulation did not end: %w", err)
	}
	return tallies, nil
}

// counter tells Progress of one more world each time that it is called.
func (c Config) counter(all int) func() {
	if c.Progress == nil {
		return func() {}
	}
	var mu sync.Mutex
	finished := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		finished++
		c.Progress(finished, all)
	}
}

// one lets every way work in one world.
func (c Config) one(ctx context.Context, ways []way, s setting, number int) ([]tally, error) {
	seed := stream(c.Seed, seedStream, uint64(number)).Uint64()
	w := newWorld(seed, s.model, s.rate, c.horizon())
	w.ownWords = c.OwnWords
	list := make([]tally, len(ways))
	for i, way := range ways {
		for n := range c.Agents {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			t, err := way.work(newAgent(w, n, c.Subtasks))
			if err != nil {
				return nil, fmt.Errorf("%s, model %s, rate %v: %w", way.name, s.model, s.rate, err)
			}
			list[i].add(t)
		}
	}
	return list, nil
}

// horizon is about how long an agent works when nothing fails, in ms.
func (c Config) horizon() int64 { return int64(c.Subtasks) * 2 * (thinkMS + 2_000) }
