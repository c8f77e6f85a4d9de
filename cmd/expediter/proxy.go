package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/expediter-go/expediter/integration/mcpproxy"
)

// proxyLimit is how long clients over HTTP have to end when the proxy does.
const proxyLimit = 5 * time.Second

// proxyFlags are those of proxy.
type proxyFlags struct {
	config, listen, journals string
}

func proxyCommand() *cobra.Command {
	var f proxyFlags
	cmd := &cobra.Command{
		Use:   "proxy --config FILE",
		Short: "Stand between an MCP client and its servers, and decide before each tool call",
		Long: `proxy speaks the Model Context Protocol with a client on standard input and
output, or with many over HTTP, and with the servers of its configuration. Before
each tool call it decides whether the server is asked: a broken tool is skipped at
once, with an answer that says what is open, since when and what you declared in
its place; a lost server is connected anew. All else goes through byte for byte.

FILE, in YAML or JSON, holds mcpServers as clients write it, and optionally
capability_map (tools are named SERVER/TOOL) and expediter, the policy:
interactive unless it says otherwise. Messages for people go to standard error.`,
		Example: `  expediter proxy --config mcp.json
  expediter proxy --config mcp.yaml --listen 127.0.0.1:8931 --journal-dir journals`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "`file` with the servers, the capability map and the policy")
	flags.StringVar(&f.listen, "listen", "", "`address` for clients over HTTP, such as 127.0.0.1:8931; default: one client on standard input and output")
	flags.StringVar(&f.journals, "journal-dir", "", "`folder` for a journal of each session")
	return cmd
}

func (f *proxyFlags) run(cmd *cobra.Command) error {
	if f.config == "" {
		return usagef("--config is missing; give it a file with mcpServers, see '%s --help'", cmd.CommandPath())
	}
	data, err := readInput(cmd, f.config)
	if err != nil {
		return fmt.Errorf("--config: %w; give it a file with mcpServers", err)
	}
	cfg, err := mcpproxy.ReadConfig(f.config, data, os.Getenv)
	if err != nil {
		return err
	}
	log, err := zap.NewProduction() // to standard error: the output is the protocol's
	if err != nil {
		return err
	}
	p, err := mcpproxy.New(cfg, mcpproxy.Env{Log: log, JournalDir: f.journals})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	signals := listen()
	defer ignore(signals)
	go func() {
		select {
		case <-signals:
			stop()
		case <-ctx.Done():
		}
	}()
	if f.listen != "" {
		err = serveHTTP(ctx, p, f.listen, cfg.Proxy.ListenToken != "", log)
	} else {
		err = p.Serve(ctx, cmd.InOrStdin(), cmd.OutOrStdout())
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, p.Close())
}

// serveHTTP serves many clients until ctx ends. Without a token only this
// machine may connect.
func serveHTTP(ctx context.Context, p *mcpproxy.Proxy, address string, token bool, log *zap.Logger) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--listen: %w; give it an address of this machine, such as 127.0.0.1:8931", err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !token && (!ok || !tcp.IP.IsLoopback()) {
		return errors.Join(usagef("--listen %s: others could connect; listen on 127.0.0.1, or set proxy.listen_token in the configuration", address), l.Close())
	}
	log.Info("listening", zap.String("url", "http://"+l.Addr().String()))
	s := &http.Server{Handler: p.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), proxyLimit)
	defer cancel()
	if s.Shutdown(last) != nil {
		return s.Close()
	}
	return nil
}
