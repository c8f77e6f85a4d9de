package main

import (
	"os"
	"os/signal"
	"syscall"
)

// listen returns a channel of what asks the program to end; a broken pipe does,
// since nobody reads any more. A hang-up that the program was started to
// outlive (nohup) stays ignored.
func listen() chan os.Signal {
	c := make(chan os.Signal, 4)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
	return c
}

// ignore stops listening; from then on a signal does what it usually does.
func ignore(c chan os.Signal) { signal.Stop(c) }
