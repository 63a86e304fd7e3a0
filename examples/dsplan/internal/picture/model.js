// What both charts need to know of the data.
const sets = JSON.parse(document.getElementById("data").textContent);

// The states by how much they are to be seen where several share a pixel: no pod at all first.
const urgency = [0, 5, 2, 1, 6, 7, 9, 8, -1];

function colours() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return {
    states: urgency.map((_, i) => value("--s" + i)),
    ink: value("--ink"), faint: value("--faint"), rule: value("--rule"),
    stroke: value("--stroke"), bad: value("--bad"), paper: value("--paper"),
  };
}

function clock(seconds) {
  const s = Math.round(seconds);
  const two = (n) => String(n).padStart(2, "0");
  if (s < 60) return s + "s";
  if (s < 3600) return Math.floor(s / 60) + "m" + two(s % 60) + "s";
  return Math.floor(s / 3600) + "h" + two(Math.floor(s / 60) % 60) + "m" + (s % 60 ? two(s % 60) + "s" : "");
}

// ticks are round times, so many that their labels do not touch.
function ticks(duration, width) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  const most = Math.max(2, Math.floor(width / 70));
  let step = steps.find((s) => duration / s <= most) || 86400 * Math.ceil(duration / 86400 / most);
  const list = [];
  for (let t = 0; t <= duration; t += step) list.push(t);
  return list;
}

function stateAt(node, t) {
  let state = node.s[0][1];
  for (const [from, s] of node.s) if (from <= t) state = s;
  return state;
}

// fit gives a canvas the pixels that it is shown with, and a context in CSS units.
function fit(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.style.height = height + "px";
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

function make(parent, tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  if (parent) parent.append(element);
  return element;
}

// pattern draws what tells a state without its colour.
function pattern(context, state, x, y, w, h, stroke) {
  if (w < 3 || h < 6) return;
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.strokeStyle = context.fillStyle = stroke;
  context.lineWidth = 1;
  context.beginPath();
  const line = (x1, y1, x2, y2) => { context.moveTo(x1, y1); context.lineTo(x2, y2); };
  const from = Math.floor(x / 6) * 6;
  for (let i = from - h; i < x + w + h; i += 6) {
    if (state === 1) line(i, y + h, i + h, y);                                      // starting: rising
    if (state === 5) line(i, y, i + h, y + h);                                      // stopping: falling
    if (state === 4) line(i, y, i, y + h);                                          // not available: upright
    if (state === 6 || state === 7) { line(i, y + h, i + h, y); line(i, y, i + h, y + h); } // none: crossed
    if (state === 2) for (let j = y + Math.min(h, 16) / 2 - 1; j < y + h; j += 16) context.rect(i, j, 2, 2); // surge: dots
  }
  if (state === 2) context.fill(); else context.stroke();
  context.restore();
}

// patternOver draws one pattern over many boxes that are too low to have it one by one.
function patternOver(context, state, boxes, [x, y, w, h], stroke) {
  if (!boxes.length) return;
  context.save();
  context.beginPath();
  for (const box of boxes) context.rect(...box);
  context.clip();
  pattern(context, state, x, y, w, h, stroke);
  context.restore();
}
