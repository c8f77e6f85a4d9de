package httptool_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/integration/httptool"
)

func TestBodyIsLeftAlone(t *testing.T) {
	addr := serve(t, answering(200, `{"n":1} and more`, "X-Own", "yes"))
	for _, atEnd := range []bool{false, true} {
		b := newBench(t, nil)
		resp, err := b.client(t, httptool.Config{AtBodyEnd: atEnd}).Get(addr)
		if err != nil {
			t.Fatal(err)
		}
		b.tell(t, map[bool][]string{false: {"CALL api", "success"}, true: {"CALL api"}}[atEnd]...)
		var got struct{ N int }
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || got.N != 1 || resp.Header.Get("X-Own") != "yes" {
			t.Errorf("got %+v, %v, %v", got, err, resp.Header)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		b.tell(t, "CALL api", "success")
	}
}

// Closing a body that is being read ends the read with an error of our own
// making.
func TestClosedWhileReading(t *testing.T) {
	leave := make(chan struct{})
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-leave
	})
	t.Cleanup(func() { close(leave) })
	b := newBench(t, nil)
	resp, err := b.client(t, httptool.Config{AtBodyEnd: true}).Get(addr)
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error)
	go func() { _, err := resp.Body.Read(make([]byte, 1)); read <- err }()
	_ = resp.Body.Close()
	if err := <-read; err == nil {
		t.Error("the read succeeded")
	}
	b.tell(t, "CALL api", "success")
}

func TestDeadlineInTheBody(t *testing.T) {
	leave := make(chan struct{})
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-leave
	})
	t.Cleanup(func() { close(leave) })
	b := newBench(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := fetch(ctx, b.client(t, httptool.Config{AtBodyEnd: true}), addr); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	b.tell(t, "CALL api", "failure timeout")
}

// A switched protocol's body is also the way to the server.
func TestSwitchedProtocol(t *testing.T) {
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		_, _ = rw.WriteString(line)
		_ = rw.Flush()
	})
	b := newBench(t, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := b.client(t, httptool.Config{AtBodyEnd: true}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	line, ok := resp.Body.(io.ReadWriter)
	if !ok {
		t.Fatalf("the body is a %T", resp.Body)
	}
	_, _ = io.WriteString(line, "hello\n")
	got, err := bufio.NewReader(line).ReadString('\n')
	if diff := cmp.Diff("hello\n", got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	b.tell(t, "CALL api", "success")
}
