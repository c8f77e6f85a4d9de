
// sortable makes the heads of a table buttons that sort it.
function sortable(table) {
  const body = table.tBodies[0], heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((th, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = th.textContent;
    th.replaceChildren(button);
    th.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const was = th.getAttribute("aria-sort"), start = i ? "descending" : "ascending";
      const now = was === "none" ? start : was === "ascending" ? "descending" : "ascending";
      for (const h of heads) h.setAttribute("aria-sort", "none");
      th.setAttribute("aria-sort", now);
      const way = now === "ascending" ? 1 : -1, value = (row) => (i ? Number(row.cells[i].dataset.v) : row.cells[0].textContent);
      const order = (a, b) => (i ? value(a) - value(b) : value(a).localeCompare(value(b), "en", { numeric: true }));
      body.append(...Array.from(body.rows).sort((a, b) => way * order(a, b)));
    });
  });
}

const byId = (id) => document.getElementById(id);

function element(name, text, kind) {
  const el = document.createElement(name);
  if (text !== undefined) el.textContent = text;
  if (kind) el.className = kind;
  return el;
}

const amount = (n) => n.toLocaleString("en-US");

// callTable lists the calls of a session, a page at a time.
class CallTable {
  constructor() {
    this.size = 200;
    byId("which").addEventListener("change", () => this.show(this.line));
    byId("more").addEventListener("click", () => this.add());
    byId("calls").addEventListener("toggle", () => { if (!this.filled) this.fill(); });
  }

  show(line) {
    this.line = line;
    this.filled = false;
    const all = byId("which").value === "all";
    this.list = line.s.calls.filter((c) => all || notable(c));
    byId("rows").replaceChildren();
    byId("more").hidden = true;
    byId("rest").textContent = "";
    byId("shown").textContent = amount(this.list.length) + " of " + amount(line.s.total);
    if (byId("calls").open) this.fill();
  }

  fill() {
    this.filled = true;
    this.add();
  }

  add() {
    const rows = byId("rows"), from = rows.rows.length;
    for (const c of this.list.slice(from, from + this.size)) {
      const tr = element("tr"), name = element("th", amount(c.n + 1), "number");
      name.scope = "row";
      const what = MEANING[c.outcome] + (fate(c) ? " (" + fate(c) + ")" : "");
      tr.append(name, element("td", clock(c.at)), element("td", this.line.s.lanes[c.lane].tool), element("td", c.verb), element("td", what, fate(c)), element("td", c.note));
      rows.append(tr);
    }
    const left = this.list.length - rows.rows.length;
    byId("more").hidden = left === 0;
    byId("rest").textContent = left ? amount(left) + " more are not shown." : "";
  }
}

// chooser is the list of sessions, as one stop of the tab key.
function chooser(sessions, choose) {
  const list = byId("list"), options = sessions.map((s, i) => {
    const el = element("div", undefined, "choice"), name = element("span", s.name);
    name.append(" ", element("small", s.file));
    const seen = [s.incidents.length ? "incident" : "", s.pauses.length ? "paused" : ""].filter(Boolean).join(", ");
    el.append(name, element("span", amount(s.denied)), element("span", amount(s.failures)), element("span", amount(s.calls)), element("span", seen));
    el.id = "choice-" + i;
    el.setAttribute("role", "option");
    el.setAttribute("aria-label", s.name + ", " + s.denied + " denied, " + s.failures + " failures, " + s.calls + " calls" + (seen && ", " + seen));
    el.addEventListener("click", () => select(i));
    list.append(el);
    return el;
  });
  let at = -1, opened = false; // the first choice leaves the page at its top
  function select(i) {
    if (i === at || !options[i]) return;
    if (at >= 0) options[at].setAttribute("aria-selected", "false");
    at = i;
    options[i].setAttribute("aria-selected", "true");
    if (opened) options[i].scrollIntoView({ block: "nearest" });
    opened = true;
    list.setAttribute("aria-activedescendant", options[i].id);
    choose(i);
  }
  list.addEventListener("keydown", (e) => {
    const open = options.map((_, i) => i).filter((i) => !options[i].hidden), k = open.indexOf(at);
    const to = { ArrowDown: open[k + 1], ArrowUp: open[k - 1], Home: open[0], End: open[open.length - 1] }[e.key];
    if (!["ArrowDown", "ArrowUp", "Home", "End"].includes(e.key)) return;
    e.preventDefault();
    select(to);
  });
  byId("filter").addEventListener("input", (e) => {
    const want = e.target.value.trim().toLowerCase();
    let n = 0;
    options.forEach((el, i) => {
      const s = sessions[i], hit = (s.name + " " + s.file + " " + s.lanes.map((l) => l.tool).join(" ")).toLowerCase().includes(want);
      el.hidden = !hit;
      n += hit ? 1 : 0;
    });
    byId("found").textContent = n === 1 ? "1 session" : amount(n) + " sessions";
  });
  byId("chooser").hidden = sessions.length < 2;
  return select;
}

function timelines() {
  const sessions = JSON.parse(byId("data").textContent), table = new CallTable();
  byId("timeline").hidden = false;
  const line = new Timeline({ scroller: byId("scroller"), world: byId("world"), stage: byId("stage"), map: byId("map") }, (call, words) => { byId("detail").textContent = words; });
  const select = chooser(sessions, (i) => {
    const s = unpack(sessions[i]);
    line.show(s);
    table.show(line);
    const bits = [s.file, s.format, amount(s.total) + (s.total === 1 ? " call" : " calls"), s.lanes.length + (s.lanes.length === 1 ? " tool" : " tools"), day(s.start)].filter(Boolean);
    if (s.cut) bits.push("the last " + amount(s.cut) + " calls are not drawn");
    byId("session-name").replaceChildren(element("strong", s.name), " · " + bits.join(" · "));
    const broken = (s.failures === 1 ? "1 failure" : amount(s.failures) + " failures") + " in the recording.";
    const trouble = s.calls.find(denied);
    byId("detail").textContent = (trouble ? amount(s.denied) + " denied, the first at call " + amount(trouble.n + 1) : "Nothing was denied") + "; " + broken;
  });
  byId("in").addEventListener("click", () => line.zoom(1.6));
  byId("out").addEventListener("click", () => line.zoom(1 / 1.6));
  byId("fit").addEventListener("click", () => line.zoom(0));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { line.theme(); line.draw(); });
  select(0);
  return (on) => {
    if (on && !table.filled) table.fill();
    line.print(on);
  };
}

function printing(redraw) {
  let closed = [];
  const begin = () => {
    for (const d of document.querySelectorAll("details:not([open])")) { d.open = true; closed.push(d); }
    redraw(true);
  };
  const end = () => {
    for (const d of closed) d.open = false;
    closed = [];
    redraw(false);
  };
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  matchMedia("print").addEventListener("change", (e) => (e.matches ? begin() : end()));
}

function copying() {
  const button = byId("copy");
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = byId("yaml").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(byId("yaml"));
      if (!document.execCommand("copy")) {
        byId("copied").textContent = "Selected; copy it with the keyboard.";
        return;
      }
    }
    byId("copied").textContent = "Copied.";
  });
}

document.querySelectorAll("table.sortable").forEach(sortable);
printing(byId("data") ? timelines() : () => {});
if (byId("copy")) copying();
