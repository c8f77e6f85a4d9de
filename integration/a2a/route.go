package a2apeer

import (
	"context"
	"errors"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter/executor"
)

// Routed is the client of the peer that stands in, where err is a refusal whose
// route is an alternative that the capability map declares, and clients has it
// by its name. The context is then that of the alternative's skill, where it is
// a peer/skill; the route in the refusal says what is lost. Else ok is false, and
// nothing stands in: tell what the error says.
//
// The alternative is asked for through its own client, guarded in turn.
func Routed(ctx context.Context, err error, clients map[string]*a2aclient.Client) (routed context.Context, client *a2aclient.Client, ok bool) {
	refused, ok := errors.AsType[*executor.Refused](err)
	if !ok || refused.Decision.Route == nil || refused.Decision.Route.Kind != capability.UseAlternative {
		return ctx, nil, false
	}
	tool := refused.Decision.Route.Tool
	peer, ok := capability.Nearest(clients, tool)
	if !ok || clients[peer] == nil {
		return ctx, nil, false
	}
	return WithSkill(ctx, strings.TrimPrefix(tool[len(peer):], "/")), clients[peer], true
}
