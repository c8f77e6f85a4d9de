
// drawCall draws a call at x and y: a shape for each decision and outcome, so
// that no colour is needed to tell them apart. r is half a shape's width, tall
// half a bar's height.
function drawCall(c, colours, call, x, y, r, tall) {
  c.lineWidth = Math.max(1.2, r * 0.36);
  c.beginPath();
  const draw = { SKIP: drawSkip, PROBE: drawProbe, PAUSE: drawPause, CALL: drawMade }[call.verb];
  draw(c, colours, call, x, y, r, tall);
}

function drawSkip(c, colours, call, x, y, r) {
  const kind = fate(call);
  c.fillStyle = colours.paper;
  c.strokeStyle = kind ? colours[kind] : colours.mute;
  c.arc(x, y, r, 0, 7);
  c.fill();
  if (kind === "lost") { c.moveTo(x, y - r); c.lineTo(x, y + r); }
  c.stroke();
}

function drawProbe(c, colours, call, x, y, r) {
  const q = r * 1.25, bad = call.outcome === "failure";
  c.moveTo(x, y - q); c.lineTo(x + q, y); c.lineTo(x, y + q); c.lineTo(x - q, y); c.closePath();
  c.fillStyle = bad ? colours.paper : colours.saved;
  c.strokeStyle = bad ? colours.failure : colours.saved;
  c.fill();
  if (bad) cross(c, x, y, r * 0.4);
  c.stroke();
}

function drawPause(c, colours, call, x, y, r) {
  c.fillStyle = colours.paper;
  c.strokeStyle = colours["pause-ink"];
  c.rect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7);
  c.fill();
  c.stroke();
}

function drawMade(c, colours, call, x, y, r, tall) {
  if (call.outcome === "failure") {
    c.strokeStyle = colours.failure;
    c.lineWidth = Math.max(1.4, r * 0.42);
    cross(c, x, y, r * 0.9);
    c.stroke();
  } else if (call.outcome === "ok") {
    c.fillStyle = colours.ok;
    c.fillRect(x - Math.max(0.6, r * 0.22), y - tall, Math.max(1.2, r * 0.44), tall * 2);
  } else if (call.outcome === "answered") {
    c.fillStyle = colours.answered;
    c.fillRect(x - 0.75, y - tall, 1.5, tall * 2);
    c.arc(x, y - tall + 1, Math.min(2.4, r * 0.6), 0, 7);
    c.fill();
  } else if (call.outcome === "ignored") {
    c.fillStyle = colours.mute;
    c.arc(x, y, Math.min(2, r * 0.5), 0, 7);
    c.fill();
  } else {
    c.fillStyle = colours.mute;
    c.fillRect(x - 0.75, y - tall, 1.5, tall * 0.7);
    c.fillRect(x - 0.75, y + tall * 0.3, 1.5, tall * 0.7);
  }
}

function cross(c, x, y, r) {
  c.moveTo(x - r, y - r); c.lineTo(x + r, y + r);
  c.moveTo(x + r, y - r); c.lineTo(x - r, y + r);
}
