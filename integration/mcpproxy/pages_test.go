package mcpproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestPagesOfServers(t *testing.T) {
	big := `{"things":[],"nextCursor":%d,"x":"` + strings.Repeat("x", maxList/8) + `"}`
	refusal := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "not now"}
	tests := []struct {
		name string
		page func(n int) answer // from 0
		want string             // the list, or of its error
		asks int
	}{
		{"one", func(int) answer { return answer{Result: json.RawMessage(`{"things":[1,{"a":2}]}`)} }, `1,{"a":2}`, 1},
		{"three", func(n int) answer {
			return answer{Result: json.RawMessage([]string{`{"things":[1],"nextCursor":"x"}`, `{"things":[],"nextCursor":"y"}`, `{"things":[2],"nextCursor":null}`}[n])}
		}, "1,2", 3},
		{"not known", func(int) answer { return answer{Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound}} }, "", 1},
		{"refused", func(int) answer { return answer{Error: refusal} }, "things/list: not now", 1},
		{"no list", func(int) answer { return answer{Result: json.RawMessage(`{}`)} }, "has no list of things", 1},
		{"again and again", func(int) answer { return answer{Result: json.RawMessage(`{"things":[1],"nextCursor":"x"}`)} }, "the same page", 2},
		{"endless", func(n int) answer {
			return answer{Result: json.RawMessage(fmt.Sprintf(`{"things":[],"nextCursor":"%d"}`, n))}
		}, "more than 1000 pages", maxPages},
		{"too large", func(n int) answer { return answer{Result: json.RawMessage(fmt.Sprintf(big, n))} }, errTooLarge.Error(), 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asks := 0
			list, err := pages("things/list", "things", func(params json.RawMessage) (answer, error) {
				if (asks == 0) != (field(params, "cursor") == nil) {
					t.Errorf("page %d: params %s", asks, params)
				}
				asks++
				return tt.page(asks - 1), nil
			})
			if err != nil {
				if tt.want == "" || !strings.Contains(err.Error(), tt.want) || list != nil {
					t.Errorf("got %s, %v, want %q", list, err, tt.want)
				}
			} else if diff := cmp.Diff(tt.want, strings.Join(texts(list), ",")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if asks != tt.asks {
				t.Errorf("asked %d times, want %d", asks, tt.asks)
			}
		})
	}
	if _, err := pages("things/list", "things", func(json.RawMessage) (answer, error) { return answer{}, errDown }); !errors.Is(err, errDown) {
		t.Errorf("got %v, want %v", err, errDown)
	}
}

func texts(list []json.RawMessage) (all []string) {
	for _, raw := range list {
		all = append(all, string(raw))
	}
	return all
}
