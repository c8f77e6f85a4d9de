// Package analysis lays policies over recorded sessions and counts what they
// would have saved and lost. A static replay cannot know what the agent would
// have done instead; every result says so.
package analysis
