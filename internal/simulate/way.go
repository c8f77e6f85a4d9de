package simulate

// way is one way of working that is compared.
type way struct {
	name string
	work func(*agent) (tally, error)
}

// enginePrefix begins the names of the ways that ask the engine.
const enginePrefix = "expediter "

// ways are those of a Config, in the order of tables.
func (c Config) ways() []way {
	list := []way{
		{"retry at once", c.retry(make([]int64, c.Retries), nil)},
		{"retry with backoff", c.retry(schedule(c.Retries), nil)},
		{"gobreaker", c.retry(make([]int64, c.Retries), newGates)},
	}
	for _, p := range append(builtIn(), c.Policies...) {
		list = append(list, way{enginePrefix + p.Name, func(a *agent) (tally, error) {
			x, err := newExpedited(a, p.Policy, c.Answers)
			if err != nil {
				return tally{}, err
			}
			return x.work()
		}})
	}
	return list
}

// retry is a way without an expediter, with breakers before the calls or not.
func (c Config) retry(waits []int64, gates func() ([]*gate, error)) func(*agent) (tally, error) {
	return func(a *agent) (tally, error) {
		r := retrier{agent: a, waits: waits}
		if gates != nil {
			var err error
			if r.gates, err = gates(); err != nil {
				return tally{}, err
			}
		}
		return r.work(), nil
	}
}
