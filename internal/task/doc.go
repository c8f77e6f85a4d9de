// Package task reads the task file of `expediter run` (docs/task.md): the
// capability map, the tools as argument vectors, and the sub-tasks with their
// calls. It touches no file and runs nothing.
package task
