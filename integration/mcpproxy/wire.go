package mcpproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// field returns the value of an object's member; nil: none, or no object.
func field(raw json.RawMessage, key string) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	ms, _ := members(raw)
	return getMember(ms, key)
}

// with returns the object with the member set, in its place if it was there
// and else at the end. Bytes that are no object give an object of the one
// member.
func with(raw json.RawMessage, key string, val json.RawMessage) json.RawMessage {
	ms, err := members(raw)
	if err != nil && !errors.Is(err, errNotObject) {
		return raw // a key stands twice: what the server makes of it is its own
	}
	return encodeMembers(setMember(ms, key, val))
}

// without returns the object without the members.
func without(raw json.RawMessage, keys ...string) json.RawMessage {
	ms, err := members(raw)
	if err != nil {
		return raw
	}
	for _, key := range keys {
		ms, _ = dropMember(ms, key)
	}
	return encodeMembers(ms)
}

// elements lists the elements of an array. It reports false for bytes that are
// no array.
func elements(raw json.RawMessage) ([]json.RawMessage, bool) {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '[' || !json.Valid(raw) {
		return nil, false
	}
	var list []json.RawMessage
	for i = skipSpace(raw, i+1); raw[i] != ']'; i = skipSpace(raw, i) {
		if raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
		end := skipValue(raw, i)
		list = append(list, raw[i:end:end])
		i = end
	}
	return list, true
}

var errNoMessage = errors.New("no JSON-RPC message")

// decode reads one message, or a batch of them as revision 2025-03-26 has it.
// What it returns shares the memory of data.
func decode(data []byte) ([]jsonrpc.Message, error) {
	parts, isBatch := elements(data)
	if !isBatch {
		parts = []json.RawMessage{data}
	}
	var list []jsonrpc.Message
	for _, part := range parts {
		msg, err := decodeOne(part)
		if err != nil {
			return list, err
		}
		list = append(list, msg)
	}
	return list, nil
}

func decodeOne(data json.RawMessage) (jsonrpc.Message, error) {
	ms, err := members(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoMessage, err)
	}
	id, err := decodeID(getMember(ms, "id"))
	if err != nil {
		return nil, err
	}
	if name := getMember(ms, "method"); name != nil {
		req := &jsonrpc.Request{ID: id, Params: getMember(ms, "params")}
		if err := json.Unmarshal(name, &req.Method); err != nil {
			return nil, fmt.Errorf("%w: its method is no string", errNoMessage)
		}
		return req, nil
	}
	return decodeResponse(id, getMember(ms, "result"), getMember(ms, "error"))
}

func decodeResponse(id jsonrpc.ID, result, fault json.RawMessage) (jsonrpc.Message, error) {
	resp := &jsonrpc.Response{ID: id, Result: result}
	switch {
	case fault != nil && string(fault) != "null":
		e := new(jsonrpc.Error)
		if err := json.Unmarshal(fault, e); err != nil {
			e = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: string(fault)}
		}
		resp.Error, resp.Result = e, nil
	case result == nil:
		resp.Error = fmt.Errorf("%w: it has neither result nor error", errUnreadable)
	}
	if !id.IsValid() && resp.Error == nil {
		return nil, fmt.Errorf("%w: it answers no id", errNoMessage)
	}
	return resp, nil
}

func decodeID(raw json.RawMessage) (jsonrpc.ID, error) {
	if raw == nil || string(raw) == "null" {
		return jsonrpc.ID{}, nil
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return jsonrpc.MakeID(s)
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return jsonrpc.MakeID(f)
	}
	return jsonrpc.ID{}, fmt.Errorf("%w: its id is neither string nor number", errNoMessage)
}
