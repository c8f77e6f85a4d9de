module github.com/expediter-go/expediter

go 1.26

require (
	github.com/cenkalti/backoff/v4 v4.3.0
	github.com/failsafe-go/failsafe-go v0.9.6
	github.com/google/go-cmp v0.7.0
	github.com/rogpeppe/go-internal v1.14.1
	github.com/sony/gobreaker/v2 v2.4.0
	github.com/spf13/cobra v1.9.1
	go.uber.org/zap v1.27.0
	go.yaml.in/yaml/v3 v3.0.4
	golang.org/x/sync v0.16.0
	golang.org/x/term v0.34.0
	pgregory.net/rapid v1.2.0
)

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.6 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	golang.org/x/sys v0.35.0 // indirect
	golang.org/x/tools v0.26.0 // indirect
)
