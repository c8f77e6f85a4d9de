# The commands of a working day. None is needed to build or to test: go does.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.7.0
FUZZTIME ?= 30s
COUNT ?= 6

.PHONY: build test race vet lint fuzz bench hookbench proxybench fleetbench hookproof evidence huge mcpservers fleetmodel ci

build:
	go build -o expediter-cli ./cmd/expediter

test:
	go test ./...

race:
	go test -race ./...

vet:
	go vet ./...

lint: vet
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these'; exit 1; }
	go run $(STATICCHECK) ./...

# Every fuzz target of every package, FUZZTIME each.
fuzz:
	@set -e; for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

# The table of docs/performance.md.
bench:
	go test -run '^$$' -bench . -benchmem -count $(COUNT) ./...

# One hook call as a whole process beside a program that prints a line: medians
# and ratios. Run it on a machine that does nothing else.
RUNS ?= 500
hookbench:
	go test ./cmd/expediter -run '^$$' -bench '^BenchmarkHookProcess$$' -benchtime $(RUNS)x

# A call straight, through a plain proxy of the SDK's parts, through expediter
# proxy, and a skipped one, in turns of 50: p50, p99 and ratios, on stdio and over
# HTTP. Run it on a machine that does nothing else.
ROUNDS ?= 200
proxybench:
	go test ./cmd/expediter -run '^$$' -bench '^BenchmarkProxy$$' -benchtime $(ROUNDS)x

# The tables of docs/fleet.md: 50 processes on one Redis, beside gobreaker's
# distributed breaker, and what a fleet costs. It needs redis-server and takes two
# minutes. Run it on a machine that does nothing else.
fleetbench:
	go test ./integration/redisfleet/proof -run '^$$' -bench '^BenchmarkFleet$$' -benchtime 1x

# Every recorded session and incident as hook calls, and processes that are
# killed or come all at once, with their figures.
KILLS ?= 1000
hookproof:
	go test ./cmd/expediter -count 1 -timeout 30m -run '^TestHook' -all-sessions -kills $(KILLS) -v

# docs/evidence.md, from the recordings in ../shared/data.
evidence:
	go test ./internal/analysis -count 1 -run '^TestEvidenceOfRecordings$$' -evidence $(CURDIR)/docs/evidence.md

# Recordings of HUGE GiB read within 200 MB: lines, and one document.
HUGE ?= 5
huge:
	go test ./internal/trace -count 1 -timeout 30m -run '^TestHuge' -huge $(HUGE) -v

# The proxy in front of three public MCP servers. It needs Node 18 or later with
# npm, and keeps them in the folder of test caches.
MCP_SERVERS ?= $(shell go env GOCACHE)/expediter-mcpservers
mcpservers:
	mkdir -p $(MCP_SERVERS)
	cp cmd/expediter/testdata/mcpservers/package*.json $(MCP_SERVERS)
	npm ci --prefix $(MCP_SERVERS) --ignore-scripts --no-audit --no-fund
	MCP_SERVERS=$(MCP_SERVERS) go test ./cmd/expediter -count 1 -run '^TestProxyOfRealServers$$' -v

# docs/fleet.pml in all its sizes; it needs spin and a C compiler.
fleetmodel:
	@command -v spin >/dev/null && command -v cc >/dev/null || echo 'skipped: install the packages spin and gcc'
	go test ./integration/redisfleet -count 1 -timeout 30m -run '^TestModel$$' -model -v

ci:
	.ci/run
