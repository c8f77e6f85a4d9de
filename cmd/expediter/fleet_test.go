package main

import (
	"crypto/rand"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// TestFleetScripts runs the scripts that need a Redis: FLEET is the URL of a fleet
// that belongs to the script, AWAY that of one whose Redis is not there.
func TestFleetScripts(t *testing.T) {
	server := redistest.Start(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/fleet",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("FLEET", "redis://"+server.Addr+"?scope="+rand.Text())
			env.Setenv("AWAY", "redis://someone:sesame@127.0.0.1:1?scope=away")
			return setup(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "transcript": transcript},
	})
}
