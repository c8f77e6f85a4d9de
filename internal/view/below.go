package view

import (
	"strings"

	"github.com/expediter-go/expediter/internal/analysis"
)

// leastBelow is how long a common folder is that is worth to be told once.
const leastBelow = 8

// below takes the folder that all sources share off their names, and returns
// it. The result must be a copy. Empty: there is none.
func below(r *analysis.Result) string {
	folder := ""
	for i := range r.Files {
		dir := r.Files[i].File[:strings.LastIndexByte(r.Files[i].File, '/')+1]
		if i == 0 {
			folder = dir
		}
		for !strings.HasPrefix(dir, folder) {
			folder = folder[:strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')+1]
		}
	}
	if len(r.Files) < 2 || len(folder) < leastBelow {
		return ""
	}
	for i := range r.Files {
		r.Files[i].File = strings.TrimPrefix(r.Files[i].File, folder)
	}
	for i := range r.ByFile {
		r.ByFile[i].Name = strings.TrimPrefix(r.ByFile[i].Name, folder)
	}
	for i := range r.Timelines {
		r.Timelines[i].File = strings.TrimPrefix(r.Timelines[i].File, folder)
	}
	return folder
}
