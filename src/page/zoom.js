// ---- one horizontal range for all curves ---------------------------------------------------------------------------

// Which part of the axis is shown; null: all of it. Charts ask it, and redraw when it changes.
class Zoom {
  constructor(extent, changed) {
    this.extent = extent;    // () => [first, last] of the axis
    this.changed = changed;
    this.range = null;
  }

  visible() {
    return this.range || this.extent();
  }

  show(first, last) {
    const [low, high] = this.extent();
    const width = Math.min(Math.max(last - first, (high - low) * 1e-4), high - low);
    first = Math.min(Math.max(first, low), high - width);
    this.range = width >= (high - low) * 0.999 ? null : [first, first + width];
    this.changed();
  }

  reset() {
    this.range = null;
    this.changed();
  }

  // factor < 1: closer. `at` stays where it is.
  scale(factor, at) {
    const [first, last] = this.visible();
    const centre = at === undefined ? (first + last) / 2 : at;
    this.show(centre - (centre - first) * factor, centre + (last - centre) * factor);
  }

  move(share) {
    const [first, last] = this.visible();
    this.show(first + share * (last - first), last + share * (last - first));
  }
}

// Drag to choose a range, double click for all, the wheel (once the chart has the focus, or with Ctrl) and keys.
function connectZoom(canvas, frame, zoom, valueAt) {
  const selection = element('div', { class: 'selection', hidden: true });
  frame.append(selection);
  let start = null;
  const place = event => event.clientX - canvas.getBoundingClientRect().left;
  canvas.addEventListener('pointerdown', event => {
    if (event.button !== 0) return;
    start = place(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    if (start === null) return;
    const now = place(event);
    selection.hidden = Math.abs(now - start) < 6;
    selection.style.left = `${Math.min(start, now)}px`;
    selection.style.width = `${Math.abs(now - start)}px`;
  });
  const release = event => {
    if (start === null) return;
    const [from, to] = [start, place(event)].sort((a, b) => a - b);
    start = null;
    selection.hidden = true;
    if (event.type === 'pointerup' && to - from >= 6) zoom.show(valueAt(from), valueAt(to));
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('dblclick', () => zoom.reset());
  canvas.addEventListener('wheel', event => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    zoom.scale(Math.exp(Math.sign(event.deltaY) * 0.25), valueAt(place(event)));
  }, { passive: false });
  canvas.addEventListener('keydown', event => {
    const actions = {
      '+': () => zoom.scale(0.75), '=': () => zoom.scale(0.75), '-': () => zoom.scale(1 / 0.75),
      ArrowLeft: () => zoom.move(-0.1), ArrowRight: () => zoom.move(0.1), 0: () => zoom.reset(), Home: () => zoom.reset(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });
}
