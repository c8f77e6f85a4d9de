// Package operator keeps what only a human may do from agents. An agent that
// confirms the recovery of its own tools would make every pause worthless, so
// expediter confirm, resume, reset, open, install and uninstall are for humans.
// There are two lines of defence:
//
//   - Controls reads the shell text that an agent is about to run, and tells
//     whether it runs one of these commands or sets EXPEDITER_OPERATOR.
//   - Require is asked by the commands themselves: is there a controlling
//     terminal, and does no coding agent run this shell?
//
// Neither is a wall. They stop an agent that takes the obvious way, and most
// detours that fit into one shell text. They do not stop
//
//   - a script, a program or a copy of expediter under another name that one
//     call writes and a later one runs, or that a file tool has written;
//   - text that is encoded (base64, hex), fetched, or put together from more
//     pieces than two, and variables that come from the environment;
//   - programs in other languages: only the text after their -c or -e, on their
//     standard input, or in a file of the same text is searched for the words;
//   - a pseudo-terminal that such a program opens for itself, and the terminal
//     of the user, where the agent shares it and leaves no mark of its own in
//     the environment (on Windows every console counts as a terminal);
//   - an agent that inherits EXPEDITER_OPERATOR=1: set it for one command or
//     one machine's service, never in a profile from which agents start;
//   - tools that are no shell (MCP servers, file tools that edit the settings),
//     and deleting or changing the store.
//
// What must hold against an agent with ill will belongs into its sandbox, its
// permissions, or another user's account.
package operator
