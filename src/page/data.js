// ---- what the page shows -------------------------------------------------------------------------------------------

const DATA = JSON.parse(byId('data').textContent);

// Numbers from base64: value = offset + scale · number, channel by channel.
function decodeNumbers(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const whole = new Int16Array(bytes.buffer);
  const channels = packed.offset.length;
  const values = new Float32Array(whole.length);
  for (let i = 0; i < whole.length; ++i) values[i] = packed.offset[i % channels] + packed.scale[i % channels] * whole[i];
  return values;
}

// At most about `buckets` times two points, with the lowest and the highest of every bucket among them. A bucket without
// a number leaves a gap.
function downsample(points, buckets) {
  if (points.length <= 2 * buckets) return points;
  const kept = [];
  for (let b = 0; b < buckets; ++b) {
    const begin = Math.floor(b * points.length / buckets);
    const end = Math.floor((b + 1) * points.length / buckets);
    let low = -1, high = -1;
    for (let i = begin; i < end; ++i) {
      if (!Number.isFinite(points[i].y)) continue;
      if (low < 0 || points[i].y < points[low].y) low = i;
      if (high < 0 || points[i].y > points[high].y) high = i;
    }
    if (low < 0) kept.push({ ...points[begin], y: NaN });
    else if (low === high) kept.push(points[low]);
    else kept.push(points[Math.min(low, high)], points[Math.max(low, high)]);
  }
  const first = points[0], last = points[points.length - 1];
  if (kept[0] !== first && Number.isFinite(first.y)) kept.unshift(first);
  if (kept[kept.length - 1] !== last && Number.isFinite(last.y)) kept.push(last);
  return kept;
}

// Puts the lines that came later behind those that are there, or in their place if the log was cut back.
function appendCurves(curves, more) {
  const from = more.from;
  const join = (list, tail) => {
    list.length = Math.min(list.length, from);
    while (list.length < from) list.push(null);
    list.push(...(tail || new Array(more.steps.length).fill(null)));
  };
  const had = curves.steps.length;
  for (const name of ['iteration', 'steps', 'seconds', 'prepares', 'case', 'diverged']) join(curves[name], more[name]);
  for (const name of new Set([...Object.keys(curves.series), ...Object.keys(more.series)])) {
    const target = curves.series[name] ||= { mean: new Array(Math.min(had, from)).fill(null) };
    const tail = more.series[name] || {};
    join(target.mean, tail.mean);
    if (tail.half && !target.half) target.half = new Array(from).fill(null);
    if (target.half) join(target.half, tail.half);
  }
}
