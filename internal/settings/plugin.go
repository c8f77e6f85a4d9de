package settings

import (
	"bytes"
	_ "embed"
	"path/filepath"
)

//go:embed plugin/plugin.json
var pluginManifest []byte

//go:embed plugin/marketplace.json
var pluginMarketplace []byte

// pluginFiles are those of the plugin folder besides its hooks. The folder is
// its own marketplace.
var pluginFiles = []struct {
	name string
	data []byte
}{
	{".claude-plugin/plugin.json", pluginManifest},
	{".claude-plugin/marketplace.json", pluginMarketplace},
}

func pluginHooks(dir string) string { return filepath.Join(dir, "hooks", "hooks.json") }

// plugin plans a Claude Code plugin in a folder, or our hooks in the plugin that
// is there already.
func (p *Plan) plugin(r Request, a *agent, c command) error {
	for _, part := range pluginFiles {
		f, err := find(filepath.Join(r.Plugin, filepath.FromSlash(part.name)))
		if err != nil {
			return err
		}
		if f.info == nil {
			p.add(Change{Path: f.path, found: f, After: part.data, mode: 0o666, record: &record{Missing: true}}, r)
		}
	}
	if err := p.install(r, a, c, pluginHooks(r.Plugin)); err != nil {
		return err
	}
	if len(p.Changes) == 0 {
		p.Settled = "the plugin in " + r.Plugin + " is as it should be"
	}
	p.Next = "start Claude Code with --plugin-dir " + shellText([]string{r.Plugin}) + ", or say in it: /plugin marketplace add " + r.Plugin + ", then /plugin install expediter@expediter"
	p.Notes = append(p.Notes, a.notes(r, pluginHooks(r.Plugin))...)
	return nil
}

// withoutPlugin plans to take our hooks out of a plugin folder, and the plugin
// away if it is ours.
func (p *Plan) withoutPlugin(r Request, a *agent) error {
	hooks, err := find(pluginHooks(r.Plugin))
	if err != nil {
		return err
	}
	manifest, err := find(filepath.Join(r.Plugin, filepath.FromSlash(pluginFiles[0].name)))
	if err != nil {
		return err
	}
	if err := p.uninstall(r, a, hooks.path, bytes.Equal(manifest.data, pluginManifest)); err != nil {
		return err
	}
	if stays := hooks.info != nil && (len(p.Changes) == 0 || !p.Changes[0].Remove); stays {
		return nil // the plugin has hooks of its own
	}
	for _, part := range pluginFiles {
		f, err := find(filepath.Join(r.Plugin, filepath.FromSlash(part.name)))
		if err != nil {
			return err
		}
		rec := remembered(r.State, f)
		if f.info == nil || !rec.fits(f) && !bytes.Equal(f.data, part.data) {
			continue
		}
		change := Change{Path: f.path, found: f, Before: f.data, Remove: true}
		if rec != nil {
			change.dirs = rec.Dirs
		}
		p.add(change, r)
	}
	return nil
}
