// Package settings writes hooks into the settings of coding agents, and takes
// them out again. What else is in a file stays as it is, byte for byte: order,
// comments, indentation, line ends, duplicate keys, the hooks of others.
//
// A change is planned first (Install, Uninstall), can be shown, and is then
// applied: each file is replaced as a whole or not at all, and only if it is
// still what the plan was made for. Our own entries are known by their command,
// a program named expediter with the arguments hook and the agent's name.
//
// Uninstall gives back the very bytes that Install found. What they were is
// kept in a record (Request.State), and beside the file in a backup; without
// either, our entries are taken out, and the containers that are empty then.
// The package reads no clock and asks nobody.
package settings
