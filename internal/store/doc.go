// Package store keeps the sessions of coding agents on disk: for each a journal
// and the state that it folds to, changed together in one transaction, safe for
// many processes at once, and whole after a crash at any instant.
package store

import _ "go.etcd.io/bbolt"
