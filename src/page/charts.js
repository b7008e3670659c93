// ---- learning curves -----------------------------------------------------------------------------------------------

const AXES = { steps: 'environment steps', seconds: 'seconds of training', iteration: 'iterations' };
// Lines of one chart differ in their dashes, too, and the words above it show which is which.
const LINES = [{ dash: [], mark: '━' }, { dash: [7, 4], mark: '╍' }, { dash: [2, 3], mark: '┅' }, { dash: [9, 3, 2, 3], mark: '╸╺' }];

const CASES = {
  free: { sign: '●', words: 'free: the limit is not in the way', style: 'circle' },
  constrained: { sign: '■', words: 'constrained: along the limit', style: 'rect' },
  recover: { sign: '▲', words: 'recover: back below the limit', style: 'triangle' },
  retreat: { sign: '◆', words: 'retreat: the last step was taken back', style: 'rectRot' },
  none: { sign: '✕', words: 'none: no update', style: 'crossRot' },
  refused: { sign: '✱', words: 'refused: episodes diverged, or numbers were not finite', style: 'star' },
};
const BUCKETS = 350;  // of a curve's points; the eye sees no more in the width of a chart

// The costs of all groups by name, each with the limits that it has.
function allCosts(groups) {
  const costs = new Map();
  for (const group of groups) {
    for (const cost of group.costs) {
      if (!costs.has(cost.name)) costs.set(cost.name, new Set());
      if (cost.limit !== null) costs.get(cost.name).add(cost.limit);
    }
  }
  return [...costs].map(([name, limits]) => ({ name, limits: [...limits] }));
}

// The charts that the data names, each with its lines.
function chartDefinitions(groups) {
  const costs = allCosts(groups);
  const lines = (chart, names) => names.map(name => ({ name: `${chart.id}/${name}`, label: name }));
  const names = costs.map(cost => cost.name);
  // The same quantity, known in other ways; a log need not have them.
  const withMore = (chart, end) => [{ name: chart.id + end, label: chart.label || chart.id },
    ...chart.more.map(({ id, label }) => ({ name: id + end, label })).filter(({ name }) => groups.some(group => group.curves.series[name]))];
  const make = {
    one: chart => [{ ...chart, series: withMore(chart, '') }],
    cost: chart => [{ ...chart, series: lines(chart, names) }],
    signal: chart => [{ ...chart, series: lines(chart, ['return', ...names]) }],
    chart: chart => costs.map(cost => ({
      ...chart, id: `${chart.id}/${cost.name}`, title: `${chart.title}: ${cost.name}`, series: withMore(chart, `/${cost.name}`), limits: cost.limits,
    })),
  };
  return DATA.charts.flatMap(chart => make[chart.lines](chart));
}

function isShown(definition, groups) {
  if (definition.onlyIfVaried) {
    const values = groups.flatMap(({ curves }) => definition.series.flatMap(({ name }) => (curves.series[name] || { mean: [] }).mean));
    return new Set(values.filter(value => value !== null)).size > 1;
  }
  const has = ({ curves }) => definition.series.some(({ name }) => {
    const series = curves.series[name];
    return series && (!definition.onlyIfAny || series.mean.some(value => value > 0));
  });
  return groups.some(has);
}

// Writes the limit beside its line, so that it can be read without a legend.
const limitLabels = {
  id: 'limitLabels',
  afterDatasetsDraw(chart) {
    const { ctx, chartArea, scales } = chart;
    ctx.save();
    ctx.font = '600 12px system-ui, sans-serif';
    ctx.textAlign = 'right';
    for (const dataset of chart.data.datasets) {
      if (!dataset.limit) continue;
      const y = scales.y.getPixelForValue(dataset.data[0].y);
      const above = y - chartArea.top > 20;
      ctx.fillStyle = dataset.borderColor;
      ctx.textBaseline = above ? 'bottom' : 'top';
      ctx.fillText(dataset.label, chartArea.right - 4, above ? y - 3 : y + 3);
    }
    ctx.restore();
  },
};

// The last place at which a run that prepares on our engine still did; null: it never does.
function lastOfPreparation(curves, axis) {
  const at = curves.prepares.lastIndexOf(true);
  return at < 0 ? null : curves[axis][at];
}

// A line where a run goes over from our engine to the task's.
const stageLines = {
  id: 'stageLines',
  afterDatasetsDraw(chart) {
    const { ctx, chartArea, scales } = chart;
    for (const x of chart.options.stages || []) {
      if (!(x > scales.x.min && x < scales.x.max)) continue;
      const pixel = scales.x.getPixelForValue(x);
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = cssColor('--soft');
      ctx.setLineDash([2, 3]);
      ctx.beginPath();
      ctx.moveTo(pixel, chartArea.top);
      ctx.lineTo(pixel, chartArea.bottom);
      ctx.stroke();
      ctx.font = '11px system-ui, sans-serif';
      ctx.textBaseline = 'bottom';
      ctx.textAlign = 'right';
      ctx.fillText('our engine', pixel - 4, chartArea.bottom - 3);
      ctx.restore();
    }
  },
};

// 1, 2 or 5 times a power of ten, at least this much.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find(factor => factor * power >= least) || 10);
}

class CurveBoard {
  constructor(groups, target) {
    this.groups = groups;
    this.target = target;
    this.axis = 'steps';
    this.zoom = new Zoom(() => this.extent(), () => this.refresh());
    this.charts = new Map();
    this.build();
  }

  extent() {
    let last = 0;
    for (const { curves } of this.groups) {
      for (const x of curves[this.axis]) if (x > last) last = x;
    }
    return [0, last || 1];
  }

  // Makes a chart for every definition that has something to show and none yet.
  build() {
    for (const definition of chartDefinitions(this.groups)) {
      const made = this.charts.get(definition.id);
      if (made) made.definition = definition;  // a line may have come
      if (made || !isShown(definition, this.groups)) continue;
      const canvas = element('canvas', { tabindex: '0', role: 'img', 'data-chart': definition.id });
      const plot = element('div', { class: 'plot' }, canvas);
      const last = element('span', { class: 'last' });
      const figure = element('figure', {}, element('figcaption', {}, element('h3', {}, definition.title), last), plot);
      this.charts.set(definition.id, { definition, canvas, last, figure, plot });
      this.place(figure, definition.id);
    }
    // Only now do all figures have the width that they keep.
    for (const entry of this.charts.values()) {
      if (entry.chart) continue;
      entry.chart = new Chart(entry.canvas, this.settings(entry.definition));
      connectZoom(entry.canvas, entry.plot, this.zoom, pixel => entry.chart.scales.x.getValueForPixel(pixel));
    }
    this.refresh();
  }

  // In the order of the definitions, also if a chart comes later.
  place(figure, id) {
    const order = chartDefinitions(this.groups).map(definition => definition.id);
    const next = order.slice(order.indexOf(id) + 1).map(other => this.charts.get(other)).find(entry => entry && entry.figure.isConnected);
    this.target.insertBefore(figure, next ? next.figure : null);
  }

  settings(definition) {
    const board = this;
    return {
      type: 'line',
      data: { datasets: [] },
      plugins: [limitLabels, stageLines],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
        interaction: { mode: 'nearest', axis: 'x', intersect: false },
        layout: { padding: { right: 6 } },
        scales: {
          x: { type: 'linear', ticks: { maxTicksLimit: 7, maxRotation: 0, callback: value => formatNumber(value) }, title: { display: true } },
          y: {
            type: definition.log ? 'logarithmic' : 'linear',
            ticks: { maxTicksLimit: 6, callback: value => (definition.percent ? formatShare(value) : formatNumber(value)) },
          },
        },
        plugins: {
          legend: { display: false },
          tooltip: {
            displayColors: false,
            filter: (item, index) => index === 0,
            callbacks: {
              title: items => (items.length ? board.tooltipTitle(items[0].parsed.x) : ''),
              label: item => board.tooltipLines(board.charts.get(definition.id).definition, item.parsed.x),
            },
          },
        },
      },
    };
  }

  nearest(curves, x) {
    const list = curves[this.axis];
    let best = 0;
    for (let i = 1; i < list.length; ++i) if (Math.abs(list[i] - x) < Math.abs(list[best] - x)) best = i;
    return best;
  }

  tooltipTitle(x) {
    const { curves } = this.groups[0];
    const i = this.nearest(curves, x);
    const iteration = this.groups.length === 1 && this.axis !== 'iteration' ? `, iteration ${curves.iteration[i]}` : '';
    return `${formatNumber(x)} ${AXES[this.axis]}${iteration}`;
  }

  // The log's own numbers at this place, whatever was left out for drawing.
  tooltipLines(definition, x) {
    const lines = [];
    for (const group of this.groups) {
      const i = this.nearest(group.curves, x);
      for (const { name, label } of definition.series) {
        const series = group.curves.series[name];
        if (!series) continue;
        const who = [this.groups.length > 1 ? group.label : null, definition.series.length > 1 ? label : null].filter(Boolean).join(', ');
        const half = series.half && series.half[i] !== null ? ` ± ${formatNumber(series.half[i], 2)}` : '';
        lines.push(`${who}${who ? ': ' : ''}${formatExact(series.mean[i])}${half}`);
      }
      if (definition.cases && group.curves.case[i]) lines.push((CASES[group.curves.case[i]] || { words: group.curves.case[i] }).words);
    }
    return lines;
  }

  // The points of one line within the visible range, one more on each side.
  points(curves, values, log) {
    const xs = curves[this.axis];
    const [first, last] = this.zoom.visible();
    let begin = 0, end = xs.length;
    while (begin + 1 < end && xs[begin + 1] < first) ++begin;
    while (end - 1 > begin && xs[end - 2] > last) --end;
    const points = [];
    for (let i = begin; i < end; ++i) {
      const y = values(i);
      points.push({ x: xs[i], y: y === null || y === undefined || (log && !(y > 0)) ? NaN : y, i });
    }
    return downsample(points, BUCKETS);
  }

  datasets(definition) {
    const sets = [];
    this.groups.forEach(({ curves, label }, g) => {
      definition.series.forEach(({ name, label: part }, s) => {
        const series = curves.series[name];
        if (!series) return;
        const color = seriesColor(this.groups.length > 1 ? g : s);
        const line = { borderColor: color, backgroundColor: color, borderWidth: 2, pointRadius: 0, pointHitRadius: 0, tension: 0 };
        if (series.half) {
          const edge = sign => this.points(curves, i => (series.half[i] === null || series.mean[i] === null ? null : series.mean[i] + sign * series.half[i]), definition.log);
          sets.push({ ...line, label: `${name} low`, data: edge(-1), borderWidth: 0, pointHoverRadius: 0, band: true });
          sets.push({ ...line, label: `${name} high`, data: edge(1), borderWidth: 0, pointHoverRadius: 0, fill: '-1', backgroundColor: withAlpha(color, 0.18), band: true });
        }
        const data = this.points(curves, i => series.mean[i], definition.log);
        const few = data.length <= 60;
        const set = { ...line, label: `${label} ${part}`, data, borderDash: LINES[s % LINES.length].dash, pointRadius: data.length === 1 ? 4 : 0, group: g, series: name };
        if (definition.cases && curves.case.length) {
          set.pointStyle = data.map(point => (CASES[curves.case[point.i]] || { style: 'circle' }).style);
          set.pointRadius = few ? 4 : 2.5;
          set.borderWidth = 1;
        }
        sets.push(set);
      });
    });
    const [first, last] = this.zoom.visible();
    for (const limit of definition.limits || []) {
      sets.push({
        limit: true, label: `limit ${formatNumber(limit)}`, data: [{ x: first, y: limit }, { x: last, y: limit }],
        borderColor: cssColor('--ink'), borderWidth: 1.25, borderDash: [7, 4], pointRadius: 0, pointHoverRadius: 0, pointHitRadius: 0,
      });
    }
    return sets;
  }

  refresh() {
    const [first, last] = this.zoom.visible();
    for (const { chart, definition, canvas, last: words } of this.charts.values()) {
      if (!chart) continue;
      chart.data.datasets = this.datasets(definition);
      chart.options.stages = [...new Set(this.groups.map(({ curves }) => lastOfPreparation(curves, this.axis)).filter(x => x !== null))];
      const { x, y } = chart.options.scales;
      Object.assign(x, { min: first, max: last });
      x.title.text = AXES[this.axis];
      for (const scale of [x, y]) {
        scale.ticks.color = cssColor('--soft');
        scale.grid = { color: cssColor('--grid'), borderColor: cssColor('--line') };
      }
      x.title.color = cssColor('--soft');
      Object.assign(y, this.heights(chart.data.datasets, definition));
      chart.update('none');
      canvas.setAttribute('aria-label', this.inWords(definition));
      words.textContent = this.lastWords(definition);
    }
  }

  // Cut to the means and the limits: the interval of two or three seeds can be many times as wide.
  heights(datasets, definition) {
    let low = Infinity, high = -Infinity;
    for (const set of datasets) {
      if (set.band && this.groups.some(group => group.runs.length > 1)) continue;
      for (const { y } of set.data) {
        if (!Number.isFinite(y)) continue;
        low = Math.min(low, y);
        high = Math.max(high, y);
      }
    }
    if (!(high >= low)) return { min: undefined, max: undefined };
    if (definition.log) return { min: low / 1.5, max: high * 1.5 };
    if (low >= 0 && low < 0.5 * high) low = 0;  // a chart that nearly reaches down to zero starts there
    const room = high > low ? 0.03 * (high - low) : Math.max(0.02 * Math.abs(high), 1e-3);
    const step = niceStep((high - low + 2 * room) / 5);
    const bottom = low === 0 ? 0 : Math.floor((low - room) / step) * step;
    const top = Math.ceil((high + room) / step) * step;
    return { min: bottom, max: definition.percent ? Math.min(1, top) : top };
  }

  setAxis(axis) {
    this.axis = axis;
    this.zoom.reset();
  }

  lastWords(definition) {
    const several = definition.series.length > 1;
    const key = s => (several ? `${LINES[s % LINES.length].mark} ` : '');
    if (this.groups.length > 1) return several ? definition.series.map(({ label }, s) => key(s) + label).join(', ') : '';
    const { curves, costs } = this.groups[0];
    const at = curves.steps.length - 1;
    if (definition.cases && curves.case.length) return caseCounts(curves.case);
    return definition.series.map((series, s) => ({ ...series, s })).filter(({ name }) => curves.series[name]).map(({ name, label, s }) => {
      const { mean, half } = curves.series[name];
      const value = definition.percent ? formatShare(mean[at]) : formatUncertain(mean[at], half && half[at]);
      const cost = definition.limits && costs.find(c => name.endsWith(`/${c.name}`));
      // The first line says it in any case, the others if there is something to say.
      const tells = cost && cost.limit !== null && (s === 0 || mean[at] > cost.limit);
      const holds = tells ? `, ${limitWords(curves, at, mean[at], cost.limit)}` : '';
      return `${key(s)}${several ? `${label} ` : ''}${value}${holds}`;
    }).join(', ');
  }

  // What a reader who does not see the chart is told.
  inWords(definition) {
    const parts = [];
    for (const group of this.groups) {
      for (const { name, label } of definition.series) {
        const series = group.curves.series[name];
        if (!series) continue;
        const finite = series.mean.filter(value => value !== null);
        if (!finite.length) continue;
        let low = finite[0], high = finite[0];
        for (const value of finite) { low = Math.min(low, value); high = Math.max(high, value); }
        parts.push(`${group.label}, ${label}: from ${formatNumber(finite[0])} to ${formatNumber(finite[finite.length - 1])}, lowest ${formatNumber(low)}, highest ${formatNumber(high)}`);
      }
    }
    const limits = (definition.limits || []).map(limit => `limit ${formatNumber(limit)}`);
    for (const { curves, label } of this.groups) {
      const last = lastOfPreparation(curves, this.axis);
      if (last !== null) limits.push(`${label}: on our engine up to ${formatNumber(last)}`);
    }
    return `${definition.title} over ${AXES[this.axis]}. ${[...parts, ...limits].join('. ')}.`;
  }
}

// Of one iteration.
function limitWords(curves, at, mean, limit) {
  if (curves.prepares[at]) return 'not judged, since this is our engine';
  if (curves.diverged[at]) return `cannot be judged: ${curves.diverged[at]}`;
  if (mean === null) return 'cannot be judged';
  return mean <= limit ? 'within the limit' : 'over the limit';
}

function caseCounts(cases) {
  const counts = new Map();
  for (const name of cases) if (name) counts.set(name, (counts.get(name) || 0) + 1);
  return [...counts].map(([name, count]) => `${(CASES[name] || { sign: '●' }).sign} ${name} ${count}`).join(', ');
}
