package mcpproxy

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Bounds of what is taken of one list of a server.
const (
	maxPages = 1000
	maxList  = 100 << 20 // bytes of all pages
)

// pages reads all pages of a list of a server: of resources/list under key
// resources, for one. ask asks for one page. A server that does not know the
// method has none.
func pages(method, key string, ask func(params json.RawMessage) (answer, error)) ([]json.RawMessage, error) {
	var all []json.RawMessage
	var params, cursor json.RawMessage
	size := 0
	for range maxPages {
		a, err := ask(params)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", method, err)
		case a.Error != nil && a.Error.Code == jsonrpc.CodeMethodNotFound:
			return all, nil
		case a.Error != nil:
			return nil, &refusalError{doing: method, answer: a}
		}
		if size += len(a.Result); size > maxList {
			return nil, fmt.Errorf("%s: %w", method, errTooLarge)
		}
		page, ok := elements(field(a.Result, key))
		if !ok {
			return nil, fmt.Errorf("%s: the server's answer has no list of %s", method, key)
		}
		all = append(all, page...)
		next := field(a.Result, "nextCursor")
		if len(next) == 0 || string(next) == "null" || string(next) == `""` {
			return all, nil
		}
		if string(next) == string(cursor) {
			return nil, fmt.Errorf("%s: the server gives the same page again and again", method)
		}
		cursor = next
		params = with(nil, "cursor", cursor)
	}
	return nil, fmt.Errorf("%s: the server's list has more than %d pages", method, maxPages)
}
