// Package report says what a run did, what it could not do, and why (SPEC
// section 12). New turns what is known into a Report, which is pure data;
// a Report prints itself as text, Markdown, JSON or HTML. Single blocks
// (StateTable, BudgetStatus, Pause, Systemic, ScopeReduction, RoutingNote)
// have a function each.
package report
