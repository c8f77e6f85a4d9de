package a2apeer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter/precheck"
)

// cardPath is where an agent publishes its card.
const cardPath = "/.well-known/agent-card.json"

// maxCard bounds a card, in bytes; a longer one cannot be read.
const maxCard = 1 << 20

// Card is a pre-call check that costs no call: it reads the card that an agent
// publishes below its base URL. The agent is Unavailable if it cannot be
// connected to, has no card there, offers no interface, or lacks one of the skills
// (by id); Degraded if it answers with an error of its own, with too many
// requests, or with something that is no card. A card that is not for this caller
// (401, 403) is Available: somebody is there. Silence until the deadline and
// other statuses are no verdict. A nil client is http.DefaultClient; do not give
// a guarded one, whose refusals would say nothing new.
func Card(client *http.Client, baseURL string, skills ...string) precheck.Check {
	skills = slices.Clone(skills)
	if client == nil {
		client = http.DefaultClient
	}
	return func(ctx context.Context) (capability.Score, error) {
		address, err := url.JoinPath(baseURL, cardPath)
		if err != nil {
			return capability.Available, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return capability.Available, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return precheck.Dialled(err)
		}
		defer func() { _ = resp.Body.Close() }() // nothing was written
		if resp.StatusCode != http.StatusOK {
			return byStatus(resp.StatusCode)
		}
		return byCard(resp.Body, skills)
	}
}

func byStatus(status int) (capability.Score, error) {
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return capability.Unavailable, nil
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return capability.Available, nil
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		return capability.Degraded, nil
	}
	return capability.Available, fmt.Errorf("the agent card has status %d; see that the base URL is the agent's", status)
}

func byCard(body io.Reader, skills []string) (capability.Score, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxCard+1))
	if err != nil {
		return capability.Available, err
	}
	card, err := agentcard.DefaultCardParser(data)
	switch {
	case len(data) > maxCard || err != nil:
		return capability.Degraded, nil
	case len(card.SupportedInterfaces) == 0 || !hasAll(card, skills):
		return capability.Unavailable, nil
	}
	return capability.Available, nil
}

func hasAll(card *a2a.AgentCard, skills []string) bool {
	return !slices.ContainsFunc(skills, func(id string) bool {
		return !slices.ContainsFunc(card.Skills, func(s a2a.AgentSkill) bool { return s.ID == id })
	})
}
