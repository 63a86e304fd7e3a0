// The page: for each set its numbers, its curve and its zones side by side.
const tip = document.getElementById("tip");
const redraws = [];
const grids = [];

function story(into, set, node) {
  const list = make(into, "ol", {});
  const add = (t, words) => make(list, "li", {}, make(null, "time", {}, clock(t)), make(null, "span", {}, words));
  if (!node.t || node.t[0][0] > 0) add(0, "at the start: " + set.states[node.s[0][1]]);
  for (const [t, what, pod, reason] of node.t || []) add(t, pod + " " + set.whats[what] + (reason ? " (" + set.reasons[reason] + ")" : ""));
  add(set.duration, "at the end: " + set.states[node.s[node.s.length - 1][1]]);
}

function showTip(set, zone, hit, x, y) {
  tip.replaceChildren();
  make(tip, "b", {}, hit.node.n);
  if (hit.node.w) tip.append(", a slow node");
  make(tip, "div", {}, "after " + clock(hit.t) + ": " + set.states[stateAt(hit.node, hit.t)]);
  if (hit.sharing > 1) make(tip, "div", { className: "faint" }, "the worst off of " + hit.sharing + " nodes on this line");
  story(tip, set, hit.node);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, x + 16 + box.width > innerWidth ? x - box.width - 12 : x + 16) + "px";
  tip.style.top = Math.max(4, Math.min(y + 14, innerHeight - box.height - 6)) + "px";
}

function tile(parent, words, value, kind) {
  make(parent, "div", { className: "tile " + (kind || "") }, make(null, "b", {}, value), words);
}

function header(section, set) {
  make(section, "h1", {}, set.name);
  make(section, "p", { className: "faint" }, "simulated from " + set.start);
  const tiles = make(section, "div", { className: "tiles" });
  tile(tiles, "outcome", set.outcome, set.outcome === "Complete" ? "good" : "bad");
  tile(tiles, "until the last change", clock(set.duration));
  tile(tiles, "nodes settled", set.settled + " of " + set.desired);
  tile(tiles, "worst: nodes unavailable", set.worst.unavailable + " at " + clock(set.worst.at));
  tile(tiles, "pods at most", set.peak);
  tile(tiles, "API writes", set.writes);
  tile(tiles, "budgets", set.held ? "held" : "BROKEN", set.held ? "good" : "bad");
  for (const words of set.waits) make(section, "p", { className: "waits" }, "waiting at the end: " + words);
}

function legend(section, set) {
  const used = new Set(set.zones.flatMap((z) => z.nodes.flatMap((n) => n.s.map((s) => s[1]))));
  const list = make(section, "ul", { className: "legend" });
  set.states.forEach((words, state) => {
    if (!used.has(state)) return;
    const canvas = make(null, "canvas", {});
    make(list, "li", {}, canvas, words);
    redraws.push(() => {
      const { context } = fit(canvas, 16);
      const c = colours();
      context.fillStyle = c.states[state];
      context.fillRect(0, 0, 26, 16);
      pattern(context, state, 0, 0, 26, 16, c.stroke);
    });
  });
}

// floor is the line that the budget draws, if it draws one.
function floor(set) {
  const level = set.desired - set.budget.unavailable;
  if (set.budget.surge > 0) return [{ level: set.desired, words: "an update takes no node: maxSurge " + set.budget.surge }];
  if (set.budget.unavailable === 0 || level < 0) return [];
  return [{ level, words: "budget: maxUnavailable " + set.budget.unavailable }];
}

function fleetCurve(section, set) {
  make(section, "h2", {}, "Available nodes");
  const words = make(section, "p", { className: "faint" });
  const canvas = make(section, "canvas", { className: "chart" });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "At worst " + set.worst.unavailable + " of " + set.desired + " nodes were unavailable, after " + clock(set.worst.at) + ".");
  const done = make(section, "canvas", { className: "chart" });
  done.setAttribute("role", "img");
  done.setAttribute("aria-label", set.settled + " of " + set.desired + " nodes were done at the end.");
  const settled = { steps: set.curve.map((p) => [p[0], p[2]]), colour: (c) => c.states[0], dash: [2, 3] };
  const serving = { steps: set.curve.map((p) => [p[0], p[1]]), colour: (c) => c.ink, fits: true };
  redraws.push(() => {
    const low = drawCurve(canvas, { height: 180, left: 44 }, set.duration, set.desired, [settled, serving], floor(set));
    words.textContent = "Solid: nodes with an available pod. Dotted: those where it is of the new revision and the only one" +
      (low ? ", once more below" : "") + ". Dashed: what an update must leave." + (low ? " The axis begins at " + low + "." : "");
    done.hidden = !low;
    if (low) drawCurve(done, { height: 90, left: 44 }, set.duration, set.desired, [{ ...settled, fits: true }], []);
  });
}

function zones(section, set) {
  make(section, "h2", {}, "Nodes by zone");
  const shared = set.zones.some((z) => layout(z).per > 1);
  make(section, "p", { className: "faint" }, (shared ? "A line stands for several nodes and shows the one that is worst off. " : "") +
    (set.apart ? set.apart + " nodes have and get no pod and are not shown. " : "") + "Point at a node for its story.");
  legend(section, set);
  const row = make(section, "div", { className: "zones" });
  for (const zone of set.zones) {
    const card = make(row, "div", {});
    make(card, "h3", {}, zone.name || "no zone");
    make(card, "p", { className: "faint" }, "at worst " + zone.worst.unavailable + " of " + zone.desired + " unavailable" +
      (zone.worst.unavailable ? ", at " + clock(zone.worst.at) : ""));
    const curve = make(card, "canvas", { className: "chart" });
    const steps = available(zone.nodes);
    redraws.push(() => drawCurve(curve, { height: 90, left: layout(zone).left }, set.duration, zone.desired, [{ steps, colour: (c) => c.ink, fits: true }], []));
    const canvas = make(card, "canvas", { className: "chart grid" });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", zone.nodes.length + " nodes of " + (zone.name || "no zone") + " against time; find a node below for its story in words.");
    redraws.push(() => drawGrid(canvas, set, zone));
    grids.push({ canvas, set, zone });
    canvas.addEventListener("mousemove", (event) => {
      const hit = under(canvas, set, zone, event.offsetX, event.offsetY);
      if (hit) showTip(set, zone, hit, event.clientX, event.clientY); else tip.hidden = true;
    });
    canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
  }
}

// finder tells a node's story in words, for those who know its name or cannot point.
function finder(section, set, i) {
  const all = set.zones.flatMap((z) => z.nodes);
  const form = make(section, "div", { className: "find" });
  const input = make(null, "input", { id: "find" + i, placeholder: all.length ? all[0].n : "" });
  input.setAttribute("autocomplete", "off");
  make(form, "label", { htmlFor: input.id }, "Node: ");
  form.append(input);
  const panel = make(section, "div", { className: "story" });
  panel.setAttribute("role", "status");
  input.addEventListener("input", () => {
    panel.replaceChildren();
    const text = input.value.trim();
    const node = text && (all.find((n) => n.n === text) || all.find((n) => n.n.startsWith(text)));
    if (!node) return;
    make(panel, "b", {}, node.n);
    story(panel, set, node);
  });
  const words = make(section, "details", {});
  make(words, "summary", {}, "In words");
  make(words, "pre", {}, set.summary);
}

sets.forEach((set, i) => {
  const section = make(document.getElementById("page"), "section", {});
  header(section, set);
  fleetCurve(section, set);
  zones(section, set);
  finder(section, set, i);
});

function redraw() { for (const draw of redraws) draw(); }
redraw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
let due = 0;
addEventListener("resize", () => { cancelAnimationFrame(due); due = requestAnimationFrame(redraw); });

// locate is where a node is in the window at a time, for tests.
window.locate = (name, t) => {
  for (const { canvas, set, zone } of grids) {
    const i = zone.nodes.findIndex((n) => n.n === name);
    if (i < 0) continue;
    const l = layout(zone);
    canvas.scrollIntoView({ block: "center" });
    const box = canvas.getBoundingClientRect();
    const row = Math.min(l.rows - 1, Math.floor(i / l.per));
    return [box.left + l.left + (set.duration ? t / set.duration : 0) * (box.width - l.left - right), box.top + row * l.row + l.row / 2];
  }
  return null;
};
