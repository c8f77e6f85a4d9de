
// Timeline draws one session on a canvas as large as its window: what is out
// of sight costs nothing.
class Timeline {
  constructor(el, changed) {
    Object.assign(this, el);
    this.changed = changed;
    this.ctx = this.stage.getContext("2d");
    this.widths = new Map();
    this.scroller.addEventListener("scroll", () => this.soon(), { passive: true });
    this.scroller.addEventListener("keydown", (e) => this.key(e));
    this.scroller.addEventListener("click", (e) => this.pick(e));
    this.scroller.addEventListener("focus", () => { if (this.s && !this.chosen) this.choose(this.s.calls[first(this.s.calls, this.left() / this.scale - 0.5)]); });
    this.map.addEventListener("pointerdown", (e) => { this.map.setPointerCapture(e.pointerId); this.jump(e); });
    this.map.addEventListener("pointermove", (e) => { if (e.buttons) this.jump(e); });
    let was = 0;
    new ResizeObserver(() => {
      if (this.scroller.clientWidth === was || this.paper) return;
      was = this.scroller.clientWidth;
      if (this.s) this.layout();
    }).observe(this.scroller);
    this.theme();
  }

  // theme reads the colours of the style sheet and makes the patterns.
  theme() {
    const style = getComputedStyle(document.documentElement);
    const get = (n) => style.getPropertyValue("--" + n).trim();
    this.c = {};
    for (const n of ["paper", "stripe", "shade", "line", "ink", "soft", "ok", "answered", "failure", "saved", "lost", "mute", "open", "open-ink", "half", "half-ink", "band", "band-ink", "pause", "pause-ink", "prompt", "budget", "focus"]) this.c[n] = get(n);
    this.font = "12px " + getComputedStyle(document.body).fontFamily;
    this.small = this.font.replace("12px", "11px");
    this.hatch = this.pattern(8, this.c.open, (p) => {
      p.strokeStyle = this.c["open-ink"];
      p.lineWidth = 1.2;
      for (const d of [-8, 0, 8]) { p.moveTo(d - 1, 9); p.lineTo(d + 9, -1); }
      p.stroke();
    });
    this.dots = this.pattern(6, this.c.half, (p) => {
      p.fillStyle = this.c["half-ink"];
      p.fillRect(1, 1, 1.6, 1.6);
      p.fillRect(4, 4, 1.6, 1.6);
    });
  }

  pattern(size, ground, paint) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = size * 2;
    const p = tile.getContext("2d");
    p.scale(2, 2);
    p.fillStyle = ground;
    p.fillRect(0, 0, size, size);
    p.beginPath();
    paint(p);
    return this.ctx.createPattern(tile, "repeat");
  }

  show(s) {
    this.s = s;
    this.chosen = null;
    this.all = false; // all lanes in sight
    this.px = 0;
    this.scroller.scrollLeft = this.scroller.scrollTop = 0;
    this.layout();
    const trouble = s.calls.find(denied);
    if (!trouble || this.xAt(trouble.x) < this.w - 60) return;
    this.scroller.scrollLeft = trouble.x * this.scale - (this.w - this.gutter) / 3;
    this.draw();
  }

  // layout measures the session, then the window that shows it.
  layout() {
    this.w = this.paper || this.scroller.clientWidth;
    this.measure(this.s);
    this.resize(this.s);
    this.density();
    this.draw();
  }

  // measure chooses the sizes; px is the width of one position.
  measure(s) {
    this.gutter = Math.round(Math.min(this.w * 0.34, 230, this.widest()));
    this.head = 24 + (s.incidents.length ? 18 : 0) + (s.pauses.length ? 18 : 0);
    this.foot = 54;
    this.laneH = s.lanes.length > 24 ? 20 : s.lanes.length > 10 ? 24 : 30;
    const tall = Math.min(736, window.innerHeight * 0.8) - 2 - this.head - this.foot;
    if (this.all && !this.paper) this.laneH = Math.max(12, Math.min(this.laneH, Math.floor(tall / s.lanes.length)));
    const each = s.width / Math.max(s.calls.length, 1);
    this.fit = (this.w - this.gutter - 24) / Math.max(s.width, 1);
    this.most = 160 / each;
    if (!this.px) this.px = Math.max(10 / each, Math.min(this.fit, this.most));
    this.scale = this.paper ? Math.min(this.fit, this.most) : this.px;
    this.r = Math.max(2, Math.min(5.5, this.scale * each * 0.48, this.laneH * 0.4));
  }

  resize(s) {
    const paper = this.paper, across = Math.max(this.w, this.gutter + 24 + s.width * this.scale), down = this.head + s.lanes.length * this.laneH + this.foot;
    this.world.style.width = paper ? "" : across + "px";
    this.world.style.height = paper ? "" : down + "px";
    this.h = paper ? down : Math.min(down, this.scroller.clientHeight || down);
    this.long = across > this.w + 1;
    this.map.hidden = !this.long || Boolean(paper);
    this.dpr = Math.min(paper ? 3 : window.devicePixelRatio || 1, paper ? 8000 / this.h : 3);
    this.stage.width = Math.round(this.w * this.dpr);
    this.stage.height = Math.round(this.h * this.dpr);
    this.stage.style.width = this.w + "px";
    this.stage.style.height = this.h + "px";
  }

  widest() {
    this.ctx.font = this.font;
    return Math.max(112, ...this.s.lanes.map((l) => this.ctx.measureText(l.tool.slice(0, 60)).width + 22));
  }

  soon() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => { this.due = false; this.draw(); });
  }

  left() { return this.paper ? 0 : this.scroller.scrollLeft; }
  top() { return this.paper ? 0 : this.scroller.scrollTop; }
  xAt(x) { return this.gutter + 12 + (x + 0.5) * this.scale - this.left(); }
  yAt(lane) { return this.head + (lane + 0.5) * this.laneH - this.top(); }

  draw() {
    const s = this.s, c = this.ctx;
    if (!s) return;
    c.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    c.fillStyle = this.c.paper;
    c.fillRect(0, 0, this.w, this.h);
    this.from = Math.floor((this.left() - 24) / this.scale) - 1;
    this.to = Math.ceil((this.left() + this.w - this.gutter + 12) / this.scale) + 1;
    const lanes = [Math.max(0, Math.floor(this.top() / this.laneH)), Math.min(s.lanes.length, Math.ceil((this.top() + this.h - this.head - this.foot) / this.laneH))];
    this.clip(0, this.head, this.w, this.h - this.head - this.foot, () => {
      for (let i = lanes[0]; i < lanes[1]; i++) this.ground(i);
      this.clip(this.gutter, this.head, this.w - this.gutter, this.h, () => {
        this.overlays(lanes);
        for (let i = lanes[0]; i < lanes[1]; i++) this.marks(s.lanes[i]);
        if (this.chosen) this.ring(this.chosen);
      });
      for (let i = lanes[0]; i < lanes[1]; i++) this.label(i);
    });
    this.header();
    this.budget();
    this.beyond();
    this.overview();
  }

  clip(x, y, w, h, paint) {
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(x, y, w, h);
    this.ctx.clip();
    paint();
    this.ctx.restore();
  }

  // ground is a lane's background: its states, and the line that calls sit on.
  ground(i) {
    const c = this.ctx, y = this.yAt(i), top = y - this.laneH / 2;
    if (i % 2) {
      c.fillStyle = this.c.stripe;
      c.fillRect(0, top, this.w, this.laneH);
    }
    const end = Math.min(this.w, this.xAt(this.s.width - 0.5));
    c.fillStyle = this.c.line;
    c.fillRect(this.gutter, y - 0.5, Math.max(0, end - this.gutter), 1);
    for (const [from, to, state] of this.s.lanes[i].spans) {
      if (to < this.from || from > this.to) continue;
      const a = Math.max(this.xAt(from - 0.5), this.gutter - 2), b = Math.max(Math.min(this.xAt(to - 0.5), this.w + 2), a + 1.5);
      const fill = state === 1 ? this.hatch : this.dots;
      fill.setTransform(new DOMMatrix().translate(-this.left(), -this.top()).scale(0.5));
      c.fillStyle = fill;
      c.fillRect(a, top + 2, b - a, this.laneH - 4);
      c.strokeStyle = state === 1 ? this.c["open-ink"] : this.c["half-ink"];
      c.lineWidth = 1;
      c.strokeRect(a + 0.5, top + 2.5, b - a - 1, this.laneH - 5);
    }
  }

  // overlays are what lies across the lanes: bands and prompts.
  overlays(lanes) {
    const c = this.ctx, s = this.s, high = this.h - this.head - this.foot;
    for (const b of s.pauses) this.band(b, this.c.pause, this.head, high);
    for (const b of s.incidents) {
      this.band(b, this.c.band, this.head, high);
      for (let i = lanes[0]; i < lanes[1]; i++) {
        if (b.members.includes(s.lanes[i].tool)) this.band(b, this.c["band-ink"], this.yAt(i) - this.laneH / 2, 3);
      }
    }
    c.strokeStyle = this.c.prompt;
    c.lineWidth = 1;
    c.setLineDash([2, 3]);
    c.globalAlpha = this.spacing() < 40 ? 0.35 : 1;
    c.beginPath();
    for (const x of s.prompts) {
      if (x < this.from || x > this.to) continue;
      c.moveTo(Math.round(this.xAt(x)) + 0.5, this.head);
      c.lineTo(Math.round(this.xAt(x)) + 0.5, this.h - this.foot);
    }
    c.stroke();
    c.globalAlpha = 1;
    c.setLineDash([]);
  }

  // spacing is that of the prompts, on average.
  spacing() { return (this.s.width * this.scale) / Math.max(this.s.prompts.length, 1); }

  // beyond is where the session is over.
  beyond() {
    const x = Math.max(this.xAt(this.s.width - 0.5) + 10, this.gutter);
    if (x >= this.w) return;
    this.ctx.fillStyle = this.c.shade;
    this.ctx.fillRect(x, this.head, this.w - x, this.h - this.head);
  }

  band(b, fill, y, h) {
    const a = this.xAt(b.from - 0.5), z = Math.max(this.xAt(b.to - 0.5), a + 2);
    if (z < this.gutter || a > this.w) return;
    this.ctx.fillStyle = fill;
    this.ctx.fillRect(a, y, z - a, h);
  }

  // marks draws what is seen of a lane's calls, those that matter on top.
  marks(lane) {
    const seen = lane.calls.slice(first(lane.calls, this.from), first(lane.calls, this.to + 1));
    for (const c of seen) if (!notable(c)) this.mark(c);
    for (const c of seen) if (notable(c)) this.mark(c);
  }

  mark(call) { drawCall(this.ctx, this.c, call, this.xAt(call.x), this.yAt(call.lane), this.r, Math.min(this.laneH * 0.3, 8)); }

  ring(call) {
    const c = this.ctx, x = this.xAt(call.x), y = this.yAt(call.lane), q = Math.max(this.r + 4, 8);
    c.strokeStyle = this.c.focus;
    c.lineWidth = 2.5;
    c.strokeRect(x - q, y - Math.min(q, this.laneH / 2 - 1), 2 * q, 2 * Math.min(q, this.laneH / 2 - 1));
  }

  // label is a tool's name, cut in the middle: its end tells most.
  label(i) {
    const c = this.ctx, y = this.yAt(i);
    c.fillStyle = i % 2 ? this.c.stripe : this.c.paper;
    c.fillRect(0, y - this.laneH / 2, this.gutter, this.laneH);
    c.font = this.laneH < 16 ? this.small : this.font;
    c.textBaseline = "middle";
    c.textAlign = "left";
    c.direction = "ltr";
    c.fillStyle = this.chosen && this.chosen.lane === i ? this.c.focus : this.c.ink;
    c.fillText(this.cut(this.s.lanes[i].tool, this.gutter - 16), 8, y);
    c.fillStyle = this.c.line;
    c.fillRect(this.gutter - 1, y - this.laneH / 2, 1, this.laneH);
  }

  cut(text, room) {
    const c = this.ctx, key = room + c.font + text;
    if (this.widths.has(key)) return this.widths.get(key);
    let out = text;
    const runes = Array.from(text);
    for (let keep = runes.length - 1; keep > 1 && c.measureText(out).width > room; keep--) {
      const head = Math.ceil(keep / 2);
      out = runes.slice(0, head).join("") + "…" + runes.slice(runes.length - (keep - head)).join("");
    }
    this.widths.set(key, out);
    return out;
  }

  // header has the bands' names and the axis.
  header() {
    const c = this.ctx, s = this.s;
    c.fillStyle = this.c.paper;
    c.fillRect(0, 0, this.w, this.head);
    c.font = this.small;
    c.textBaseline = "middle";
    let y = 9;
    for (const [list, colour, word] of [[s.incidents, "band-ink", "incident"], [s.pauses, "pause-ink", "paused"]]) {
      if (!list.length) continue;
      this.side(word, y);
      this.clip(this.gutter, 0, this.w, this.head, () => { for (const b of list) this.tab(b, this.c[colour], word, y); });
      y += 18;
    }
    this.side(s.start ? "call, UTC" : "call", y + 2);
    this.clip(this.gutter, 0, this.w, this.head, () => this.axis(y + 2));
    c.fillStyle = this.c.line;
    c.fillRect(0, this.head - 1, this.w, 1);
  }

  side(word, y) {
    this.ctx.textAlign = "left";
    this.ctx.fillStyle = this.c.soft;
    this.ctx.fillText(this.cut(word, this.gutter - 12), 8, y);
  }

  tab(b, colour, word, y) {
    const c = this.ctx, a = this.xAt(b.from - 0.5), z = Math.max(this.xAt(b.to - 0.5), a + 3);
    if (z < this.gutter || a > this.w) return;
    c.fillStyle = colour;
    c.fillRect(a, y - 7, z - a, 15);
    const text = word === "incident" ? b.cause + ", " + b.members.length + " tools" : b.cause || "paused";
    const at = Math.max(a, this.gutter) + 5, room = z - at - 4;
    if (room < 24) return;
    c.textAlign = "left";
    c.fillStyle = this.c.paper;
    c.fillText(this.cut(text, room), at, y + 0.5);
  }

  axis(y) {
    const c = this.ctx, s = this.s, calls = s.calls;
    let last = -1e9;
    c.fillStyle = this.c.soft;
    c.textAlign = "left";
    for (let i = first(calls, this.from); i < calls.length && calls[i].x <= this.to; i++) {
      const x = this.xAt(calls[i].x);
      if (x - last < 118 || x < this.gutter) continue;
      if (x > this.w - (calls[i].at ? 96 : 40)) break;
      c.fillRect(x, this.head - 6, 1, 6);
      c.fillText(String(i + 1) + (calls[i].at ? " · " + clock(calls[i].at) : ""), x - 2, y - 1);
      last = x;
    }
    const q = this.spacing() < 40 ? 2 : 4;
    c.fillStyle = this.c.prompt;
    for (const p of s.prompts) {
      const x = this.xAt(p);
      if (x < this.gutter - 4 || x > this.w + 4) continue;
      c.beginPath();
      c.moveTo(x - q, this.head - 7); c.lineTo(x + q, this.head - 7); c.lineTo(x, this.head - 1);
      c.fill();
    }
  }

  budget() {
    const c = this.ctx, s = this.s, top = this.h - this.foot, base = this.h - 8, high = this.foot - 20;
    c.fillStyle = this.c.paper;
    c.fillRect(0, top, this.w, this.foot);
    c.fillStyle = this.c.line;
    c.fillRect(0, top, this.w, 1);
    const most = Math.max(s.limit, 1, ...s.budget.map((m) => m[1]));
    const y = (v) => base - (v / most) * high;
    this.clip(this.gutter, top, this.w - this.gutter, this.foot, () => {
      if (s.limit) {
        c.strokeStyle = this.c.failure;
        c.lineWidth = 1.2;
        c.setLineDash([6, 4]);
        c.beginPath();
        c.moveTo(this.gutter, y(s.limit)); c.lineTo(Math.min(this.w, this.xAt(s.width - 0.5)), y(s.limit));
        c.stroke();
        c.setLineDash([]);
      }
      c.strokeStyle = this.c.budget;
      c.lineWidth = 2;
      c.beginPath();
      let v = 0;
      c.moveTo(this.xAt(-0.5), y(0));
      for (const [x, spent] of s.budget) {
        c.lineTo(this.xAt(x), y(v)); c.lineTo(this.xAt(x), y(spent));
        v = spent;
      }
      c.lineTo(this.xAt(s.width - 0.5), y(v));
      c.stroke();
    });
    c.font = this.small;
    c.textBaseline = "middle";
    this.side("failure budget", top + 18);
    this.side(s.limit ? "limit " + s.limit : "unlimited", top + 34);
    c.fillStyle = this.c.line;
    c.fillRect(this.gutter - 1, top, 1, this.foot);
  }

  // density counts, for each column of the map, what is worth a look.
  density() {
    if (!this.long) return;
    const w = Math.max(1, Math.round(this.map.clientWidth || this.w)), s = this.s;
    this.columns = Array.from({ length: w }, () => ({ calls: 0, failure: 0, skip: 0, pause: 0 }));
    for (const c of s.calls) {
      const at = this.columns[Math.min(w - 1, Math.floor((c.x / s.width) * w))];
      at.calls++;
      if (c.verb === "SKIP") at.skip++; else if (c.verb === "PAUSE") at.pause++; else if (c.outcome === "failure") at.failure++;
    }
  }

  overview() {
    if (this.map.hidden || !this.columns) return;
    const c = this.map.getContext("2d"), w = this.columns.length, h = 36, dpr = window.devicePixelRatio || 1, s = this.s;
    this.map.width = w * dpr;
    this.map.height = h * dpr;
    c.scale(dpr, dpr);
    c.fillStyle = this.c.shade;
    c.fillRect(0, 0, w, h);
    for (const b of s.incidents) {
      c.fillStyle = this.c["band-ink"];
      c.fillRect((b.from / s.width) * w, 0, Math.max(2, ((b.to - b.from) / s.width) * w), 4);
    }
    this.columns.forEach((n, x) => {
      let y = h;
      for (const [k, colour] of [["failure", "failure"], ["skip", "saved"], ["pause", "mute"]]) {
        if (!n[k]) continue;
        const tall = Math.min(y - 5, 4 + n[k] * 3);
        c.fillStyle = this.c[colour];
        c.fillRect(x, y - tall, 1.5, tall);
        y -= tall;
      }
    });
    const inner = this.w - this.gutter - 12, a = (this.left() / this.scale / s.width) * w, b = Math.min(w - 1, a + (inner / this.scale / s.width) * w);
    c.strokeStyle = this.c.focus;
    c.lineWidth = 2;
    c.strokeRect(a + 1, 1, Math.max(4, b - a - 1), h - 2);
  }

  jump(e) {
    const box = this.map.getBoundingClientRect(), x = ((e.clientX - box.left) / box.width) * this.s.width;
    this.scroller.scrollLeft = x * this.scale - (this.w - this.gutter) / 2;
  }

  zoom(by) {
    const middle = (this.left() + (this.w - this.gutter) / 2) / this.scale;
    this.px = by ? Math.min(Math.max(this.px * by, Math.min(this.fit, this.most)), Math.max(this.most, this.fit)) : Math.min(this.fit, this.most);
    this.all = !by;
    this.layout();
    this.scroller.scrollLeft = middle * this.scale - (this.w - this.gutter) / 2;
    this.draw();
  }

  key(e) {
    if (e.altKey || e.ctrlKey || e.metaKey || !this.s || !this.s.calls.length) return;
    const calls = this.s.calls, at = this.chosen ? this.chosen.n : -1;
    const seek = (from, step) => {
      let i = from + step;
      while (calls[i] && !notable(calls[i])) i += step;
      return calls[i] || this.chosen;
    };
    const moves = {
      ArrowRight: () => calls[Math.min(at + 1, calls.length - 1)], ArrowLeft: () => calls[Math.max(at - 1, 0)],
      ArrowDown: () => this.beside(1), ArrowUp: () => this.beside(-1),
      PageDown: () => seek(at, 1), PageUp: () => seek(at, -1), Home: () => calls[0], End: () => calls[calls.length - 1],
    };
    if (moves[e.key]) {
      this.choose(moves[e.key]() || calls[0]);
    } else if (e.key === "+" || e.key === "=") {
      this.zoom(1.6);
    } else if (e.key === "-") {
      this.zoom(1 / 1.6);
    } else {
      return;
    }
    e.preventDefault();
  }

  // beside is the call nearest in time of the next lane that has one.
  beside(step) {
    if (!this.chosen) return null;
    const { x, lane } = this.chosen;
    for (let i = lane + step; this.s.lanes[i]; i += step) {
      const own = this.s.lanes[i].calls, k = first(own, x), after = own[k], before = own[k - 1];
      if (!after && !before) continue;
      if (!before || (after && after.x - x < x - before.x)) return after;
      return before;
    }
    return this.chosen;
  }

  pick(e) {
    const box = this.stage.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
    if (px < this.gutter || py < this.head || py > this.h - this.foot) return;
    const lane = this.s.lanes[Math.floor((py - this.head + this.top()) / this.laneH)];
    if (!lane) return;
    const x = (px - this.gutter - 12 + this.left()) / this.scale - 0.5, k = first(lane.calls, x);
    const near = [lane.calls[k - 1], lane.calls[k]].filter(Boolean).sort((a, b) => Math.abs(a.x - x) - Math.abs(b.x - x))[0];
    if (near && Math.abs(near.x - x) * this.scale < 24) this.choose(near);
  }

  choose(call) {
    if (!call) return;
    this.chosen = call;
    const x = this.xAt(call.x), y = this.yAt(call.lane), s = this.scroller;
    if (x < this.gutter + 24 || x > this.w - 24) s.scrollLeft += x - (this.gutter + this.w) / 2;
    if (y < this.head + this.laneH / 2) s.scrollTop += y - this.head - this.laneH / 2;
    if (y > this.h - this.foot - this.laneH / 2) s.scrollTop += y - (this.h - this.foot - this.laneH / 2);
    this.draw();
    this.changed(call, this.about(call));
  }

  // state is a tool's at a position, budget what is consumed there.
  state(lane, x) {
    const span = this.s.lanes[lane].spans.find(([from, to]) => from <= x && x < to);
    return STATES[span ? span[2] : 0];
  }

  // about describes a call in words.
  about(call) {
    const s = this.s, parts = ["Call " + (call.n + 1) + " of " + s.total + ", " + s.lanes[call.lane].tool + ": " + call.verb];
    parts[0] += ", in the recording it " + MEANING[call.outcome] + (fate(call) ? " (" + fate(call) + ")" : "") + ".";
    if (call.note) parts.push(call.note + ".");
    parts.push("Breaker " + this.state(call.lane, call.x) + ".");
    const spent = s.budget.filter((m) => m[0] <= call.x).pop();
    if (spent) parts.push("Budget " + spent[1] + (s.limit ? " of " + s.limit : "") + ".");
    for (const b of s.incidents) if (b.from <= call.x && call.x < b.to) parts.push("Incident: " + b.cause + ".");
    if (call.at) parts.push(clock(call.at) + " UTC.");
    return parts.join(" ");
  }

  // print draws the whole session at a page's width, and restores the window.
  print(on) {
    if (!this.s || Boolean(this.paper) === on) return;
    this.paper = on ? 1000 : 0;
    this.theme();
    this.layout();
  }
}
