package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/integration/mcpproxy"
)

type proxyInitOptions struct {
	from, output string
	force        bool
	within       time.Duration
}

func proxyInitCommand() *cobra.Command {
	var o proxyInitOptions
	cmd := &cobra.Command{
		Use:   "init --from FILE",
		Short: "Start a configuration from an MCP client's own",
		Long: `init reads the servers in a client's file: that of Claude Desktop, Claude Code,
Cursor, VS Code, Windsurf, Zed, Cline or Gemini CLI. It starts each server once,
lists its tools, and prints a configuration for 'expediter proxy': the servers as
they are, and an entry of the capability map for each tool.

Alternatives in it are guesses by the tools' names, marked unknown until somebody
has tested them. What a server says of its tools makes an entry only stricter. A
server that does not start is a comment in the result, and a warning.

Secrets that stand in the client's file stand in the result, too; a new --output
file can be read by you alone.`,
		Example: `  expediter proxy init --from .mcp.json --output proxy.yaml`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "the client's `file`, or - for standard input")
	f.StringVarP(&o.output, "output", "o", "", "write to this `file` instead of standard output")
	f.BoolVar(&o.force, "force", false, "replace the output file if it exists")
	f.DurationVar(&o.within, "within", time.Minute, "how long a server may take to start and to list its tools")
	return cmd
}

func (o proxyInitOptions) run(cmd *cobra.Command) error {
	switch {
	case o.from == "":
		return usagef("--from is missing; give it the file in which your MCP client keeps its servers")
	case sameFile(o.from, o.output):
		return usagef("--output %.200q is the client's own file; give the configuration a file of its own", o.output)
	case o.within <= 0:
		return usagef("--within %v is no time to start a server; write one such as 1m", o.within)
	}
	if err := o.check(); err != nil {
		return err
	}
	data, err := readInput(cmd, o.from)
	if err != nil {
		return err
	}
	return o.write(cmd, data)
}

// check sees to it that no server is started for a file that cannot be written.
func (o proxyInitOptions) check() error {
	if o.output == "" {
		return nil
	}
	if _, err := os.Lstat(o.output); err == nil && !o.force {
		return fmt.Errorf("%s exists already; choose another name, or replace it with --force", o.output)
	}
	return creatable(o.output, "--output")
}

func (o proxyInitOptions) write(cmd *cobra.Command, data []byte) error {
	ctx, cancel := untilSignal(cmd)
	defer cancel()
	var b bytes.Buffer
	warnings, err := mcpproxy.Init(ctx, o.from, data, os.Getenv, o.list, &b)
	for _, w := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "expediter: warning:", redact.Text(w, maxPath))
	}
	if err != nil {
		return err
	}
	if o.output == "" {
		_, err = cmd.OutOrStdout().Write(b.Bytes())
		return err
	}
	return o.create(b.Bytes())
}

func (o proxyInitOptions) list(ctx context.Context, s mcpproxy.Server) ([]mcpproxy.ToolInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, o.within)
	defer cancel()
	return mcpproxy.ListTools(ctx, s, nil)
}

// create writes the file so that a new one is never anybody else's to read.
func (o proxyInitOptions) create(data []byte) error {
	f, err := os.OpenFile(o.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		if err := f.Close(); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return err
	case !o.force:
		return fmt.Errorf("%s exists already; choose another name, or replace it with --force", o.output)
	}
	return createFile(o.output, data, true)
}
