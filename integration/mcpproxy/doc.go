// Package mcpproxy stands between clients and servers of the Model Context
// Protocol and decides, before each tool call, whether its server is asked.
// What it does not decide it passes on, byte for byte.
package mcpproxy
