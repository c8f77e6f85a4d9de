package analysis

import "runtime"

// job is one chunk, as it was and with an outage, for every worker.
type job struct {
	plain   chunk
	spliced chunk // its session is nil where there is no outage
}

// worker applies jobs to some of the policies, in order.
type worker struct {
	jobs  chan job
	tasks []func(job)
}

// start spreads the policies over the cores.
func (a *analysis) start() {
	var tasks []func(job)
	for _, l := range a.plain {
		tasks = append(tasks, func(j job) { l.lay(j.plain) })
	}
	for _, s := range a.spliced {
		tasks = append(tasks, s.task)
	}
	for _, p := range a.points {
		tasks = append(tasks, p.task)
	}
	n := min(runtime.GOMAXPROCS(0), len(tasks))
	a.workers = make([]worker, n)
	for i, t := range tasks {
		w := &a.workers[i%n]
		w.tasks = append(w.tasks, t)
	}
	for i := range a.workers {
		a.workers[i].jobs = make(chan job, 8)
		a.wait.Go(a.workers[i].work)
	}
}

func (w *worker) work() {
	for j := range w.jobs {
		for _, t := range w.tasks {
			t(j)
		}
	}
}

func (a *analysis) stop() {
	for _, w := range a.workers {
		close(w.jobs)
	}
	a.wait.Wait()
}

// hand gives a chunk to every worker.
func (a *analysis) hand(c chunk) {
	j := job{plain: c}
	if a.Splice {
		j.spliced = a.withOutage(c)
	}
	if c.first && len(c.events) > 0 && c.events[0].at == 0 {
		a.untimed++
	}
	for _, w := range a.workers {
		w.jobs <- j
	}
}
