// Package sonybreaker puts Expediter on top of breakers of sony/gobreaker that a
// program already has, and gives such breakers the rules of SPEC section 2.
//
// Settings turns a policy into settings whose breaker follows seed 000 to the
// letter. docs/sonybreaker.md lists where a plain gobreaker differs, and why.
package sonybreaker
