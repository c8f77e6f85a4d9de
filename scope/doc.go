// Package scope reduces a task to what its working tools can still achieve
// (SPEC section 10). It is pure: it knows the sub-tasks and what the caller
// says of each tool, and every sub-task that goes in comes out with a verdict.
package scope
