// The curve of available nodes, with the line that the budget draws.

// available is how many nodes of a list serve, as steps of [time, count].
function available(nodes) {
  const changes = [];
  for (const node of nodes) {
    if (!node.e) continue;
    let served = false;
    for (const [t, state] of node.s) {
      const serves = state === 0 || state === 2 || state === 3;
      if (serves !== served) changes.push([t, serves ? 1 : -1]);
      served = serves;
    }
  }
  changes.sort((a, b) => a[0] - b[0]);
  const steps = [];
  let count = 0;
  for (const [t, by] of changes) {
    count += by;
    if (steps.length && steps[steps.length - 1][0] === t) steps[steps.length - 1][1] = count;
    else steps.push([t, count]);
  }
  if (!steps.length || steps[0][0] > 0) steps.unshift([0, 0]);
  return steps;
}

// drawCurve draws lines of steps: each {steps, colour, dash, width}. marks are levels with words.
// It returns where the axis begins.
function drawCurve(canvas, { height, left }, duration, most, lines, marks) {
  const { context, width } = fit(canvas, height);
  const c = colours(), top = 12, bottom = 22;
  const least = Math.min(...lines.filter((l) => l.fits).flatMap((l) => l.steps.map((s) => s[1])), ...marks.map((m) => m.level), most);
  // Where all is far above zero, what happens is near the top.
  const low = most > 40 && least > most / 2 ? Math.floor(least - (most - least) * 0.3 - 1) : 0;
  const x = (t) => left + (duration ? t / duration : 0) * (width - left - right);
  const y = (n) => top + (1 - (n - low) / Math.max(1, most - low)) * (height - top - bottom);
  context.font = "11px system-ui, sans-serif";
  context.lineWidth = 1;
  context.strokeStyle = c.rule;
  context.fillStyle = c.faint;
  for (const t of ticks(duration, width - left)) {
    context.beginPath(); context.moveTo(x(t), top); context.lineTo(x(t), height - bottom + 3); context.stroke();
    context.textAlign = t === 0 ? "left" : x(t) > width - 30 ? "right" : "center";
    context.fillText(clock(t), x(t), height - 6);
  }
  context.textAlign = "right";
  for (const n of new Set([low, most])) context.fillText(n, left - 5, y(n) + 4);
  context.save();
  context.beginPath(); context.rect(left, 0, width - left, height - bottom + 2); context.clip();
  for (const line of lines) {
    context.beginPath();
    context.setLineDash(line.dash || []);
    context.lineWidth = line.width || 2;
    context.strokeStyle = line.colour(c);
    line.steps.forEach(([t, n], i) => {
      if (i) context.lineTo(x(t), y(line.steps[i - 1][1])); else context.moveTo(x(t), y(n));
      context.lineTo(x(t), y(n));
    });
    if (line.steps.length) context.lineTo(x(duration), y(line.steps[line.steps.length - 1][1]));
    context.stroke();
  }
  context.restore();
  context.textAlign = "left";
  for (const mark of marks) {
    context.setLineDash([7, 4]);
    context.lineWidth = 1.5;
    context.strokeStyle = context.fillStyle = c.bad;
    context.beginPath(); context.moveTo(left, y(mark.level)); context.lineTo(width - right, y(mark.level)); context.stroke();
    context.fillText(mark.words, left + 4, y(mark.level) + (y(mark.level) > height - bottom - 16 ? -4 : 13));
  }
  context.setLineDash([]);
  return low;
}
