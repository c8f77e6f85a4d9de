// Package mcpproxy stands between clients and servers of the Model Context
// Protocol and decides, before each tool call, whether its server is asked.
// What it does not decide it passes on, byte for byte.
//
// New makes a Proxy of a Config, which ReadConfig reads; Init writes one to start
// from. A call's way through the files, which are named after where they stand:
//
//   - downstream*, listen*, short*, rawparams: a client's request comes in, on
//     stdio or over HTTP, by the SDK's server or past it, with its own bytes;
//     outbox is what goes out beside answers;
//   - names, catalog, hub*, extension, instructions, offers, abilities: whose
//     tool, prompt, resource or method it is, and what goes back the other way;
//     parked and parks are calls whose clients were asked something;
//   - client, decide*, answers, own*, human: one client's engine, what it is told,
//     and what its human is asked; journal, keeper and control keep it, and hear
//     the human's commands;
//   - upstream*, transport*, oauth*: one server, connected anew when it is lost;
//     a link is one connection, over a process or Streamable HTTP (web);
//   - raw and wire: JSON whose bytes are kept; wait: channels and contexts.
//
// # Concurrency
//
// A Proxy is safe for concurrent use, and so is each type within it that says so.
// Locks are taken in the order Proxy.statusMu, Proxy.mu, parked.mu, parks.mu; an
// outbox's within Proxy.mu, keeper.mu within keeper.writing, the engine's own within
// outage.mu. What a server says is heard in order, by one goroutine for each
// (eventQueue), under no lock; its own requests are answered beside that.
package mcpproxy
