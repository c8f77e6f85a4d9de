package view

import (
	"encoding/json"
	"io"

	"github.com/expediter-go/expediter/internal/analysis"
)

// JSON writes the whole result as one indented JSON object, in one write.
// Characters that HTML gives a meaning to are escaped.
func JSON(w io.Writer, r *analysis.Result) error {
	data, err := json.MarshalIndent(cleaned(r), "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
