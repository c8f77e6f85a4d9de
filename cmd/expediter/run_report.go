package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/expediter-go/expediter/report"
)

var reportFormats = []string{"text", "md", "json", "html"}

// printReport writes a report as a whole.
func printReport(w io.Writer, format string, r report.Report) error {
	text, err := renderReport(format, r)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func renderReport(format string, r report.Report) ([]byte, error) {
	render := map[string]func(io.Writer) error{"text": r.Text, "md": r.Markdown, "json": r.JSON, "html": r.HTML}[format]
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

// saveReport puts a report in the place of a file, which is never seen
// half-written.
func saveReport(path, format string, r report.Report) error {
	text, err := renderReport(format, r)
	if err != nil {
		return err
	}
	if err := createFile(path, text, true); err != nil {
		return fmt.Errorf("%w; the report follows on standard output", err)
	}
	return nil
}

// outputs looks at the files that a run will write, before it works.
func (o runOptions) outputs(task string) error {
	switch {
	case sameFile(o.journal, task):
		return usagef("--journal %.200q is the task itself; give the journal a file of its own", o.journal)
	case sameFile(o.file, task):
		return usagef("--report-file %.200q is the task itself; give the report a file of its own", o.file)
	case sameFile(o.file, o.journal):
		return usagef("--report-file and --journal are both %.200q; give each a file of its own", o.file)
	case o.file == "":
		return nil
	}
	return creatable(o.file, "--report-file")
}
