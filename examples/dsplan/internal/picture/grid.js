// Nodes against time. Where there are more nodes than lines, a line stands for several and
// shows the one that is worst off.
const mostHeight = 520, axis = 20, right = 8;

function layout(zone) {
  const row = Math.max(1, Math.min(16, Math.floor(mostHeight / zone.nodes.length)));
  const rows = Math.min(zone.nodes.length, mostHeight);
  const labels = row >= 11;
  const longest = Math.max(...zone.nodes.map((n) => n.n.length));
  const left = Math.max(44, Math.min(labels ? 150 : 110, 8 + longest * 6.6));
  const named = labels ? 1 : Math.ceil(22 / row); // every how many lines a name is beside one
  return { row, rows, per: zone.nodes.length / rows, named, left, height: rows * row + axis };
}

function drawGrid(canvas, set, zone) {
  const l = layout(zone);
  const { context, width } = fit(canvas, l.height);
  const c = colours();
  const left = l.left, shown = width - left - right;
  const columns = Math.max(1, Math.round(canvas.width * shown / width));
  const cells = new Int8Array(l.rows * columns).fill(-1);
  zone.nodes.forEach((node, i) => {
    const base = Math.min(l.rows - 1, Math.floor(i / l.per)) * columns;
    node.s.forEach(([from, state], j) => {
      const until = j + 1 < node.s.length ? node.s[j + 1][0] : set.duration;
      const first = Math.min(columns - 1, Math.floor(from / (set.duration || 1) * columns));
      const last = j + 1 < node.s.length ? Math.max(first + 1, Math.floor(until / (set.duration || 1) * columns)) : columns;
      for (let k = first; k < last && k < columns; k++) {
        const old = cells[base + k];
        if (old < 0 || urgency[state] > urgency[old]) cells[base + k] = state;
      }
    });
  });
  const scale = shown / columns, gap = l.row > 4 ? 1 : 0;
  const thin = urgency.map(() => []); // by state, what is too low for a pattern of its own
  for (let r = 0; r < l.rows; r++) {
    for (let k = 0; k < columns;) {
      const state = cells[r * columns + k];
      let end = k + 1;
      while (end < columns && cells[r * columns + end] === state) end++;
      const x = left + k * scale, w = (end - k) * scale;
      context.fillStyle = c.states[state];
      context.fillRect(x, r * l.row, w, l.row - gap);
      if (l.row - gap < 6 && state >= 0) thin[state].push([x, r * l.row, w, l.row - gap]);
      else pattern(context, state, x, r * l.row, w, l.row - gap, c.stroke);
      k = end;
    }
    if (r % l.named === 0) {
      context.fillStyle = c.ink;
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "left";
      context.fillText(zone.nodes[Math.ceil(r * l.per)].n, 0, r * l.row + Math.max(l.row, 9) / 2 + 3.5, left - 6);
    }
  }
  thin.forEach((boxes, state) => patternOver(context, state, boxes, [left, 0, shown, l.rows * l.row], c.stroke));
  context.fillStyle = c.faint;
  context.font = "11px system-ui, sans-serif";
  for (const t of ticks(set.duration, width - left)) {
    const x = left + (set.duration ? t / set.duration : 0) * shown;
    context.textAlign = t === 0 ? "left" : x > width - 30 ? "right" : "center";
    context.fillText(clock(t), x, l.height - 5);
  }
}

// under is the node and the time at a point of a grid: of the nodes that share the line, the
// one that is shown.
function under(canvas, set, zone, x, y) {
  const l = layout(zone);
  const r = Math.floor(y / l.row);
  if (r < 0 || r >= l.rows || x < 0) return null;
  const t = Math.max(0, Math.min(1, (x - l.left) / (canvas.clientWidth - l.left - right))) * set.duration;
  const sharing = zone.nodes.filter((_, i) => Math.min(l.rows - 1, Math.floor(i / l.per)) === r);
  let node = sharing[0];
  for (const other of sharing) if (urgency[stateAt(other, t)] > urgency[stateAt(node, t)]) node = other;
  return { node, t, sharing: sharing.length };
}
