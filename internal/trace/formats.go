package trace

import (
	"encoding/json"
)

// format is one kind of recording.
type format struct {
	name   string             // as in Stats.Format
	sniff  func(h *head) bool // must be cheap, and must not claim foreign data
	stream []string           // nil: JSONL, one record a line; else see document
	keep   []string           // document formats: see document
	open   func(s *sink) decoder
}

// decoder gets each record with the path it came from, "" for lines. The raw
// bytes may be used until it returns. Lines need not be JSON: it returns an error
// for one that is not, or that is not what it should be; reading goes on.
type decoder interface {
	record(path string, raw json.RawMessage) error
}

// finisher is a decoder that keeps something back. It tells it when the source
// has ended, in whatever way.
type finisher interface{ finish() }

// formats in the order in which they are asked; the first that knows the
// source reads it.
var formats = []*format{
	claudeCode,
	codex,
	journal,
	factLines,
	factCases,
	sweAgent,
	miniSWEAgent,
	tauBench,
	tau2Bench,
	inspectAI,
	otlpLines,
	otlpDocument,
	geminiChat,
	geminiRecords,
	geminiStream,
	copilot,
	clineHistory,
	openHands,
	openHandsRuns,
	openAILines, // after other formats that keep chats
	openAIDocument,
}

// recognise returns the format of a source, nil if none knows it.
func recognise(h *head) *format {
	for _, f := range formats {
		if f.sniff(h) {
			return f
		}
	}
	return nil
}
