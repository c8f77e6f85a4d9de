"use strict";

// Verbs and outcomes in the order of the letters that stand for them.
const VERBS = ["CALL", "SKIP", "PROBE", "PAUSE"];
const OUTCOMES = ["ok", "answered", "failure", "ignored", "open"];
const STATES = ["CLOSED", "OPEN", "HALF_OPEN"];
const MEANING = { ok: "worked", answered: "answered: looks like an error, is none", failure: "failed", ignored: "says nothing about the tool", open: "has no result" };

// unpack turns a session of the page's data into calls in their order.
function unpack(raw) {
  const s = { ...raw, calls: [], total: raw.calls };
  s.lanes = raw.lanes.map((l, lane) => {
    const own = [];
    let x = 0, at = raw.start || 0;
    for (let i = 0; i < l.kinds.length; i++) {
      const kind = l.kinds.charCodeAt(i) - 97;
      x += l.x[i];
      if (l.at.length) at += l.at[i];
      const call = { lane, x, verb: VERBS[Math.floor(kind / 5)], outcome: OUTCOMES[kind % 5], at: l.at.length ? at : 0, note: l.notes.length && l.notes[i] ? raw.notes[l.notes[i] - 1] : "" };
      own.push(call);
      s.calls.push(call);
    }
    return { tool: l.tool, spans: l.spans, calls: own };
  });
  s.calls.sort((a, b) => a.x - b.x || a.lane - b.lane);
  s.calls.forEach((c, i) => { c.n = i; });
  return s;
}

const denied = (c) => c.verb === "SKIP" || c.verb === "PAUSE";
const notable = (c) => c.verb !== "CALL" || c.outcome === "failure";

// fate says what a denial came to.
function fate(c) {
  if (c.verb !== "SKIP") return "";
  if (c.outcome === "failure") return "saved";
  return c.outcome === "ok" || c.outcome === "answered" ? "lost" : "";
}

const clock = (at) => (at ? new Date(at).toISOString().slice(11, 19) : "");
const day = (at) => (at ? new Date(at).toISOString().slice(0, 16).replace("T", " ") + " UTC" : "");

// first is the place of the first call at x or after it.
function first(calls, x) {
  let lo = 0, hi = calls.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (calls[mid].x < x) lo = mid + 1; else hi = mid;
  }
  return lo;
}
