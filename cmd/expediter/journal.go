package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/session"
)

func journalCommand() *cobra.Command {
	var f sessionFlags
	var output string
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Export the journal of a coding agent's session",
		Long: `journal prints every event of a session, one JSON object on each line
(docs/journal.md): what was asked, what was decided, what came of it.
'expediter replay journal' runs it again. Of a very long session the oldest events
are gone; the journal then begins with the state that they led to.

It quotes what tools said. Treat it as you treat logs.

` + aboutSessions,
		Example: `  expediter journal --output session.jsonl && expediter replay journal session.jsonl
  expediter journal | jq 'select(.decided.decision == "SKIP")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.find(cmd)
			if err != nil {
				return err
			}
			c.warn(cmd)
			data, events, err := c.journal(cmd)
			if err != nil {
				return err
			}
			if output == "" {
				_, err = cmd.OutOrStdout().Write(data)
				return err
			}
			if err := createPrivate(output, data); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", count(events, "event"), redact.Text(output, maxPath))
			return err
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `file` instead of standard output")
	return cmd
}

// journal is the session's journal as lines, and how many there are. It is
// collected first: hooks wait while it is read, and must not wait for a pipe.
func (c chosen) journal(cmd *cobra.Command) (data []byte, events int, err error) {
	var b bytes.Buffer
	err = c.view(cmd, time.Now(), func(s *session.Session) error {
		for line := range s.Journal() {
			b.Write(printable(line))
			b.WriteByte('\n')
			events++
		}
		return nil
	})
	return b.Bytes(), events, err
}

// printable is a line of JSON in which what a terminal might obey, which can
// only stand within its texts, is escaped. It says the same.
func printable(line []byte) []byte {
	if !bytes.ContainsFunc(line, unprintable) {
		return line
	}
	out := make([]byte, 0, len(line)+32)
	for rest := line; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case !unprintable(r):
			out = append(out, rest[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		rest = rest[n:]
	}
	return out
}

// unprintable are control and format characters, among them those that turn the
// direction of a text, and what is no UTF-8.
func unprintable(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// createPrivate is createFile for what is nobody else's to read, unless the file
// is there already with other permissions.
func createPrivate(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil { // it is there, or createFile says what is wrong
		return createFile(path, data, true)
	}
	if err := errors.Join(f.Close(), createFile(path, data, true)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
