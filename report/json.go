package report

import (
	"encoding/json"
	"io"
)

// JSON writes the whole report as one indented JSON object, in one write.
func (r Report) JSON(w io.Writer) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
