package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/expediter-go/expediter/integration/mcpproxy"
)

type proxyOptions struct {
	storeFlag
	fleet                                          fleetFlag
	config, listen, journalDir, tokenDir, logLevel string
}

func proxyCommand() *cobra.Command {
	var o proxyOptions
	cmd := &cobra.Command{
		Use:   "proxy --config FILE",
		Short: "Stand between an MCP client and its servers",
		Long: `proxy is one MCP server in front of many. It passes everything through as it is,
and decides before each call of a tool: CALL, SKIP, PROBE or PAUSE. A tool that
is broken is answered at once, with what is open, since when, why, what may stand
in, and when it is tried again. A server that is lost is started or connected anew.

It serves one client on standard input and output, or with --listen many over
Streamable HTTP. Its log goes to standard error. It ends when its client leaves,
or by a signal; its servers' processes end with it.

Each client is a session: 'expediter sessions', status, report, journal and 'plan
show' tell of it, and 'expediter resume', confirm, reset and open are how you, and
no agent, change it while the proxy runs.

With --fleet, or fleet in the section proxy of FILE, the clients share how their
tools stand with each other, and with other processes, through Redis
(docs/fleet.md). While Redis is away each goes on by itself.

FILE is the client's own configuration of servers (mcpServers), in YAML or JSON,
with a capability_map beside it if you have one. docs/proxy.md describes it, and
'expediter proxy init' writes one to start from.`,
		Example: `  expediter proxy init --from .mcp.json --output proxy.yaml
  expediter proxy --config proxy.yaml
  expediter proxy --config proxy.yaml --listen 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "`file` of servers, map and policy")
	f.StringVar(&o.listen, "listen", "", "serve Streamable HTTP at this `address`; one that is not loopback needs proxy.listen_token in the file")
	f.StringVar(&o.journalDir, "journal-dir", "", "keep a journal of each session in this `folder`")
	f.StringVar(&o.tokenDir, "token-dir", "", "keep the tokens of servers that you have logged in to (oauth) in this `folder`, for the next start")
	o.storeFlag.register(f)
	o.fleet.register(f)
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	cmd.AddCommand(proxyInitCommand())
	return cmd
}

func (o proxyOptions) run(cmd *cobra.Command) error {
	ctx, cancel := untilSignal(cmd)
	defer cancel()
	log, err := newLog(cmd, o.logLevel)
	if err != nil {
		return err
	}
	cfg, err := o.read(cmd)
	if err != nil {
		return err
	}
	if o.journalDir != "" { // no client is there yet to whom it would be too late
		if err := os.MkdirAll(o.journalDir, 0o700); err != nil {
			return fmt.Errorf("--journal-dir: %w; give a folder that can be written", err)
		}
	}
	fleet, err := o.connect(cfg, log)
	if err != nil {
		return err
	}
	defer fleet.end()
	var l net.Listener
	if o.listen != "" {
		if l, err = listenAt(ctx, o.listen, cfg.Proxy.ListenToken != ""); err != nil {
			return err
		}
	}
	_, st, err := o.open()
	if err != nil {
		log.Warn("sessions are not kept, and 'expediter resume' and the like cannot reach this proxy", zap.Error(err))
	}
	p, err := mcpproxy.New(cfg, mcpproxy.Env{Log: log, Store: st, Source: o.config, JournalDir: o.journalDir, TokenDir: o.tokenDir, Fleet: fleet.joiner()})
	if err != nil {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	if l != nil {
		err = serveHTTP(ctx, l, p, log)
	} else {
		err = p.Serve(ctx, cmd.InOrStdin(), cmd.OutOrStdout())
	}
	if ctx.Err() != nil { // a signal is how a proxy ends
		err = nil
	}
	return errors.Join(err, p.Close())
}

// untilSignal is a context that ends by a signal; a second one ends the program
// at once. A broken pipe is none: it is a server's that is gone, or the client's,
// whose input ends as well.
func untilSignal(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(contextOf(cmd))
	signals := listen()
	go func() {
		defer ignore(signals)
		for {
			select {
			case s := <-signals:
				if s != syscall.SIGPIPE {
					cancel(fmt.Errorf("ended by a signal (%v)", s))
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// read reads the configuration, and prints its warnings.
func (o proxyOptions) read(cmd *cobra.Command) (mcpproxy.Config, error) {
	switch {
	case o.config == "":
		return mcpproxy.Config{}, usagef("--config is missing; 'expediter proxy init' writes a file to start from")
	case o.config == "-" && o.listen == "":
		return mcpproxy.Config{}, usagef("--config - needs --listen: standard input is the client's")
	}
	data, err := readInput(cmd, o.config)
	if err != nil {
		return mcpproxy.Config{}, err
	}
	cfg, err := mcpproxy.ReadConfig(o.config, data, os.Getenv)
	for _, w := range cfg.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), w)
	}
	if err == nil {
		err = noLoop(o.config)
	}
	return cfg, err
}

// proxyFiles is the variable that tells a proxy's servers of the files that it, and
// the proxies above it, were started with.
const proxyFiles = "EXPEDITER_PROXY_FILES"

// noLoop refuses a file among whose servers is the proxy of the same file: each
// would start the next without end.
func noLoop(config string) error {
	if config == "-" {
		return nil
	}
	path, err := filepath.Abs(config)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	above := filepath.SplitList(os.Getenv(proxyFiles))
	if slices.Contains(above, path) {
		return fmt.Errorf("%.300s: the proxy of this file is among its own servers; take the entry that starts 'expediter proxy' out of the file", config)
	}
	return os.Setenv(proxyFiles, strings.Join(append(above, path), string(filepath.ListSeparator)))
}

// newLog logs to standard error, a line for each event.
func newLog(cmd *cobra.Command, level string) (*zap.Logger, error) {
	at, err := zapcore.ParseLevel(level)
	if err != nil || at < zapcore.DebugLevel || at > zapcore.ErrorLevel {
		return nil, usagef("unknown --log-level %.40q; use debug, info, warn or error", level)
	}
	c := zap.NewProductionEncoderConfig()
	c.EncodeTime, c.EncodeLevel = zapcore.ISO8601TimeEncoder, zapcore.CapitalLevelEncoder
	out := zapcore.Lock(zapcore.AddSync(cmd.ErrOrStderr()))
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(c), out, at)), nil
}

// listenAt listens, without a token only where no other machine can come from.
func listenAt(ctx context.Context, address string, token bool) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, usagef("--listen %.200q: %v; write HOST:PORT, such as 127.0.0.1:8080", address, err)
	}
	if !token && (at.IP == nil || !at.IP.IsLoopback()) {
		return nil, usagef("--listen %.200q can be reached from other machines; listen at 127.0.0.1, or set proxy.listen_token in the file", address)
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}

// Bounds of a connection over HTTP.
const (
	headerWithin = 10 * time.Second
	idleWithin   = 5 * time.Minute
	drainWithin  = 2 * time.Second // of calls under way when the proxy ends
	maxHeader    = 64 << 10
)

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, l net.Listener, p *mcpproxy.Proxy, log *zap.Logger) error {
	server := &http.Server{Handler: p.Handler(), ReadHeaderTimeout: headerWithin, IdleTimeout: idleWithin,
		MaxHeaderBytes: maxHeader, ErrorLog: zap.NewStdLog(log)}
	log.Info("listening", zap.String("url", "http://"+l.Addr().String()+"/mcp"))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), drainWithin)
	defer cancel()
	if server.Shutdown(drain) != nil { // streams do not end by themselves
		return server.Close()
	}
	return nil
}
