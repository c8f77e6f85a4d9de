package replay

import (
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// measured is the configuration for a session that recorded steps and times,
// or not. Each kind is made once.
func (w *WhatIf) measured(steps, times bool) expediter.Config {
	if steps && times {
		return w.cfg
	}
	i := 0
	if steps {
		i = 1
	}
	if times {
		i = 2
	}
	if w.bare[i] == nil {
		cfg := w.cfg
		cfg.Tools = cfg.Tools.Clone()
		cfg.Policy.Policy = bare(cfg.Policy.Over(expediter.Faithful()).Policy, steps, times)
		for t := range cfg.Tools {
			if own := cfg.Tools[t].Policy; own != (breaker.Policy{}) {
				cfg.Tools[t].Policy = bare(own.Over(w.cfg.Policy.Over(expediter.Faithful()).Policy), steps, times)
			}
		}
		w.bare[i] = &cfg
	}
	return *w.bare[i]
}

// bare takes out of a policy, whose fields are all set, what was not recorded.
func bare(p breaker.Policy, steps, times bool) breaker.Policy {
	if p.Probe.Unit == breaker.Steps && !steps || p.Probe.Unit == breaker.Time && !times {
		backoff := p.Probe.Backoff
		p.Probe = breaker.Defaults().Probe
		p.Probe.Backoff = backoff
	}
	if !times {
		p.Probe.NotBeforeMS = breaker.Off
	}
	return p
}
