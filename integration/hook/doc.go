// Package hook speaks with coding agents through their hooks: it reads an
// agent's event, lets the session decide or learn, and answers in the agent's
// own format. It never breaks the agent: whatever goes wrong here, the tool runs.
package hook
