package classify

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"strings"
)

// Bounds of the host in a key, in bytes, and of the URLs of a call.
const (
	maxHost = 200
	maxURLs = 64
)

// fetchTools are the names, in lower case, under which agents read a page of
// the web.
var fetchTools = map[string]bool{
	"webfetch": true, "web_fetch": true, "fetch": true, "fetch_url": true, "fetch_web_content": true, "fetch_webpage": true, "fetch_web_page": true,
	"url_fetch": true, "get_url": true, "http_request": true, "httprequest": true, "http_get": true,
	"read_url": true, "read_url_content": true, "readurl": true, "open_url": true, "view_url": true,
	"web_reader": true, "webreader": true, "scrape": true, "scrape_url": true, "visit": true, "visit_page": true,
	"browse": true, "browser_action": true, "browser_navigate": true, "browser_open": true, "navigate": true, "goto": true,
}

// host is that of the URL that a fetch is for; empty for other tools and for
// what is no URL of one host.
func (o Observation) host() string {
	if len(o.Input) == 0 || !names(fetchTools, o.Tool) {
		return ""
	}
	in := object(o.Input)
	if text := in.text("url", "Url", "URL", "uri"); text != "" {
		return hostOf(text)
	}
	var several []string
	if json.Unmarshal(in["urls"], &several) != nil {
		for _, request := range array(in["requests"]) { // Cline
			several = append(several, object(request).text("url"))
		}
	}
	if several == nil {
		several = addresses(in.text("prompt")) // Gemini
	}
	return commonHost(several)
}

// commonHost is the host of all URLs, if that is one.
func commonHost(urls []string) string {
	host := ""
	for i, url := range urls[:min(len(urls), maxURLs)] {
		if next := hostOf(url); i == 0 || next == host {
			host = next
		} else {
			return ""
		}
	}
	return host
}

// addresses are the URLs in a text.
func addresses(text string) (urls []string) {
	for word := range strings.FieldsSeq(head(text, 4*window)) {
		if strings.Contains(word, "://") {
			urls = append(urls, strings.Trim(word, punctuation))
		}
	}
	return urls
}

// hostOf is the host of a URL in lower case, with its port if that is not the
// scheme's own.
func hostOf(text string) string {
	u, err := url.Parse(strings.TrimSpace(head(text, 4*window)))
	if err != nil {
		return ""
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if scheme != "http" && scheme != "https" {
		return ""
	}
	host := plainHost(u.Hostname())
	if host == "" || port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return host
	}
	return host + ":" + port
}

// plainHost is a name of ASCII letters, digits, dots and hyphens, or an
// address; a name in another script in its punycode form.
func plainHost(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr = addr.Unmap().WithZone(""); addr.Is6() {
			return "[" + addr.String() + "]"
		}
		return addr.String()
	}
	labels := strings.Split(strings.TrimSuffix(strings.ToLower(host), "."), ".")
	for i, label := range labels {
		labels[i] = punycode(label)
		if labels[i] == "" || strings.Trim(labels[i], "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return ""
		}
	}
	if host = strings.Join(labels, "."); len(host) > maxHost {
		return ""
	}
	return host
}
