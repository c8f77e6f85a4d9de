package proof

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/sirupsen/logrus"
)

// memberEnv has the memberConfig of a process that is to be a member, and peerEnv
// the peerConfig of one that is to be a peer of the comparison.
const (
	memberEnv = "EXPEDITER_PROOF_MEMBER"
	peerEnv   = "EXPEDITER_PROOF_PEER"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(memberEnv); text != "" {
		os.Exit(begin(text, runMember))
	}
	if text := os.Getenv(peerEnv); text != "" {
		os.Exit(begin(text, runPeer))
	}
	flag.Parse()
	logrus.SetOutput(io.Discard) // toxiproxy's log
	os.Exit(m.Run())
}

// begin runs what a process is for, with its configuration.
func begin[C any](text string, run func(C) error) int {
	var cfg C
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		err = run(cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
