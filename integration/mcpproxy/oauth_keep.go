package mcpproxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/rogpeppe/go-internal/lockedfile"
	"go.uber.org/zap"
	"golang.org/x/oauth2"
)

// maxKept bounds a file of tokens, in bytes.
const maxKept = 256 << 10

// kept is a token with what it takes to renew it, as it stands in a file.
type kept struct {
	URL    string         `json:"url"`    // of the server
	Client string         `json:"client"` // as configured; empty: registered by the proxy
	Grant  *oauth2.Config `json:"grant"`  // nil: of client credentials, which are not kept
	Token  *oauth2.Token  `json:"token"`
	Scopes []string       `json:"scopes,omitempty"`
}

// keepIn has the tokens kept in a folder; empty: in memory alone. What the
// client's own secret is enough for is not kept.
func (a *authorizer) keepIn(dir string) {
	if a == nil || dir == "" || a.machine != nil {
		return
	}
	sum := sha256.Sum256([]byte(a.name + "\x00" + a.endpoint.String() + "\x00" + a.cfg.ClientID))
	a.path = filepath.Join(dir, "oauth-"+hex.EncodeToString(sum[:8])+".json")
}

// lock keeps other processes from renewing the same token meanwhile: a refresh
// token is often good for once. It waits for one that does, at most tokenWithin.
func (a *authorizer) lock() (unlock func(), err error) {
	if a.path == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return nil, err
	}
	return lockedfile.MutexAt(a.path + ".lock").Lock()
}

// load reads the file; nil: there is none that can be used.
func (a *authorizer) load() *kept {
	if a.path == "" {
		return nil
	}
	k, err := a.read()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.log.Warn("the kept token is not used", zap.Error(err))
		}
		return nil
	}
	return k
}

func (a *authorizer) read() (*kept, error) {
	info, err := os.Lstat(a.path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file; remove it", a.path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by others; remove it, and log in again", a.path)
	}
	f, err := os.Open(a.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKept))
	if err != nil {
		return nil, err
	}
	k := new(kept)
	if err := json.Unmarshal(data, k); err != nil {
		return nil, fmt.Errorf("%s is damaged; remove it", a.path) // the error would quote it
	}
	if k.URL != a.endpoint.String() || k.Client != a.cfg.ClientID || k.Grant == nil || k.Token == nil || k.Token.AccessToken == "" {
		return nil, fmt.Errorf("%s is no token for the server; remove it", a.path)
	}
	return k, nil
}

// save replaces the file as a whole. Nobody else can read it.
func (a *authorizer) save(k *kept) error {
	if a.path == "" {
		return nil
	}
	k.URL, k.Client = a.endpoint.String(), a.cfg.ClientID
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	dir := filepath.Dir(a.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".oauth-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), a.path)
}

// forget removes the file: its token is worth nothing any more.
func (a *authorizer) forget() {
	if a.path != "" {
		_ = os.Remove(a.path) // one that stays is refused again
	}
}

// refresh gets a new token for the refresh token, or takes one that another
// process has kept. It reports false without an error when the human must log in
// again.
func (a *authorizer) refresh(ctx context.Context, grant *oauth2.Config, old *oauth2.Token) (bool, error) {
	unlock, err := a.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	if a.takeOthers(old) {
		return true, nil
	}
	if old.RefreshToken != "" {
		ctx = context.WithValue(ctx, oauth2.HTTPClient, a.client)
		t, err := grant.TokenSource(ctx, &oauth2.Token{RefreshToken: old.RefreshToken}).Token()
		if err == nil {
			a.keep(grant, t)
			return true, nil
		}
		if err = a.failure(err); !errors.Is(err, errAuth) {
			return false, err
		}
		a.log.Warn("a token was not renewed", a.clean(err))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = nil
	a.forget()
	return false, nil
}

// takeOthers takes the kept token if it is another one than old.
func (a *authorizer) takeOthers(old *oauth2.Token) bool {
	k := a.load()
	if k == nil || k.Token.AccessToken == old.AccessToken || !k.Token.Valid() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.takeLocked(k)
	return true
}

// keep takes a token that the human's login or its renewal gave.
func (a *authorizer) keep(grant *oauth2.Config, t *oauth2.Token) {
	k := &kept{Grant: grant, Token: t, Scopes: scopesOf(t, grant.Scopes)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.takeLocked(k)
	if err := a.save(k); err != nil {
		a.log.Warn("the token is not kept: the user will have to log in again when the proxy is restarted", a.clean(err))
	}
}
