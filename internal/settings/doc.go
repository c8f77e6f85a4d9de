// Package settings writes hooks into the settings of coding agents, and takes
// them out again: what else is there stays as it is, byte for byte.
package settings

import _ "github.com/tailscale/hujson"
