// ---- replay: policies of one run, side by side -----------------------------------------------------------------------

function decodeReplay(replay) {
  if (replay.decoded) return replay;
  for (const episode of replay.policies.flatMap(policy => policy.episodes)) {
    if (replay.kind !== 'robot') continue;
    episode.positions = decodeNumbers(episode.positions);
    episode.turns = decodeNumbers(episode.turns);
    episode.forces = { slots: episode.forces.slots, values: decodeNumbers(episode.forces) };
  }
  replay.decoded = true;
  return replay;
}

const SMALL_CHART = {
  type: 'line',
  options: {
    animation: false, responsive: true, maintainAspectRatio: false, parsing: false, events: [],
    scales: { x: { type: 'linear', ticks: { maxTicksLimit: 5, maxRotation: 0 } }, y: { ticks: { maxTicksLimit: 4, callback: value => formatNumber(value) } } },
    plugins: { legend: { display: false }, tooltip: { enabled: false } },
  },
};

function smallChart(canvas, plugins = []) {
  return new Chart(canvas, { ...SMALL_CHART, options: structuredCloneOptions(), plugins, data: { datasets: [] } });
}

function structuredCloneOptions() {
  const { options } = SMALL_CHART;
  return { ...options, scales: { x: { ...options.scales.x, ticks: { ...options.scales.x.ticks } }, y: { ...options.scales.y, ticks: { ...options.scales.y.ticks } } } };
}

function colourScales(chart) {
  for (const scale of Object.values(chart.options.scales)) {
    scale.ticks.color = cssColor('--soft');
    scale.grid = { color: cssColor('--grid'), borderColor: cssColor('--line') };
  }
}

// One sum over the episode, reward or cost, as it grows; a line marks the moment that the picture shows.
class Meter {
  constructor(title, limit, signal) {
    Object.assign(this, { limit, signal });
    this.now = element('output', {});
    this.words = element('p', { class: 'meter-words' });
    this.canvas = element('canvas', { role: 'img' });
    this.cursor = element('div', { class: 'divider' });
    const plot = element('div', { class: 'meter-plot' }, this.canvas, this.cursor);
    Object.assign(this.cursor.style, { position: 'absolute', width: '1.5px', background: 'var(--accent)', pointerEvents: 'none' });
    this.title = title;
    this.node = element('div', {}, element('div', { class: 'meter-head' }, element('h3', {}, title), this.now), plot, this.words);
  }

  // The chart needs its canvas to be in the page.
  draw(policies, colors, episode, period) {
    this.chart ||= smallChart(this.canvas, [limitLabels]);
    Object.assign(this, { policies, episode, period });
    let last = 0;
    this.chart.data.datasets = policies.map((policy, i) => {
      const { sums } = policy.episodes[episode];
      const points = sums[this.signal].map((y, t) => ({ x: t * period, y: y === null ? NaN : y }));
      last = Math.max(last, (points.length - 1) * period);
      return { data: points, borderColor: colors[i], borderWidth: 2, pointRadius: 0 };
    });
    if (this.limit !== null) {
      this.chart.data.datasets.push({
        limit: true, label: `limit ${formatNumber(this.limit)}`, data: [{ x: 0, y: this.limit }, { x: last, y: this.limit }],
        borderColor: cssColor('--ink'), borderWidth: 1.25, borderDash: [6, 4], pointRadius: 0,
      });
    }
    this.chart.options.scales.x.max = last;
    colourScales(this.chart);
    this.chart.update('none');
    this.canvas.setAttribute('aria-label', `${this.title} over the episode: ${policies.map(policy => `${policy.label} ends at ${formatNumber(policy.episodes[episode].sums[this.signal].at(-1))}`).join(', ')}.`);
  }

  // In words for the last of the policies shown.
  moveTo(time) {
    const { left, right, top, bottom } = this.chart.chartArea;
    const x = Math.min(Math.max(this.chart.scales.x.getPixelForValue(time * this.period), left), right);
    Object.assign(this.cursor.style, { left: `${x}px`, top: `${top}px`, height: `${bottom - top}px` });
    const { sums } = this.policies[this.policies.length - 1].episodes[this.episode];
    const list = sums[this.signal];
    const now = list[Math.min(Math.floor(time), list.length - 1)];
    this.now.textContent = formatNumber(now);
    if (this.limit === null) return;
    const end = list[list.length - 1];
    const side = value => (value <= this.limit ? 'within' : 'over');
    this.words.textContent = `The limit of ${formatNumber(this.limit)} is for the whole episode, which ends ${side(end)} it, at ${formatNumber(end)}.`;
  }
}

// A chart in the place of the robot's stage.
function flatChart(host) {
  host.classList.add('flat');
  const canvas = element('canvas', {});
  host.append(canvas);
  return smallChart(canvas);
}

// A task with one state: a point on the curve of its reward.
class CurvePicture {
  constructor(host, replay) {
    this.replay = replay;
    this.chart = flatChart(host);
    Object.assign(this.chart.options.scales.x, { title: { display: true, text: 'state' } });
    Object.assign(this.chart.options.scales.y, { title: { display: true, text: 'reward of a step' } });
    this.policies = [];
  }

  show(policies) { this.policies = policies; }

  draw(time, episode) {
    const { x, signals: [reward] } = this.replay.curve;
    const curve = { data: x.map((value, i) => ({ x: value, y: reward[i] })), borderColor: cssColor('--soft'), borderWidth: 2, pointRadius: 0 };
    const height = place => {
      const share = Math.min(Math.max((place - x[0]) / (x[x.length - 1] - x[0]), 0), 1) * (x.length - 1);
      const i = Math.min(Math.floor(share), x.length - 2);
      return reward[i] + (reward[i + 1] - reward[i]) * (share - i);
    };
    const balls = this.policies.map((policy, index) => {
      const path = policy.episodes[episode].states[0];
      const at = Math.min(time, path.length - 1), i = Math.floor(at);
      const place = path[i] + ((path[i + 1] ?? path[i]) - path[i]) * (at - i);
      const color = seriesColor(index);
      return { data: [{ x: place, y: height(place) }], pointRadius: 9, pointBackgroundColor: color, pointBorderColor: cssColor('--card'), pointBorderWidth: 2, showLine: false };
    });
    this.chart.data.datasets = [...balls, curve];
    colourScales(this.chart);
    for (const scale of Object.values(this.chart.options.scales)) scale.title.color = cssColor('--soft');
    this.chart.update('none');
  }
}

// Any other task without a robot: its states over time, up to the moment that is shown.
class StatesPicture {
  constructor(host, replay) {
    this.replay = replay;
    this.chart = flatChart(host);
  }

  show(policies) { this.policies = policies; }

  draw(time, episode) {
    const policy = this.policies[this.policies.length - 1];
    const { states } = policy.episodes[episode];
    this.chart.data.datasets = states.map((row, i) => ({
      data: row.slice(0, Math.floor(time) + 1).map((y, t) => ({ x: t, y: y === null ? NaN : y })), borderColor: seriesColor(i), borderWidth: 2, pointRadius: 0,
    }));
    this.chart.options.scales.x.max = states[0].length - 1;
    colourScales(this.chart);
    this.chart.update('none');
  }
}

class Replay {
  constructor(runs) {
    this.player = new Player(() => this.draw());
    this.connect();
    this.setRuns(runs);
  }

  // runs: [{label, replay}], those that can be shown.
  setRuns(runs) {
    this.runs = runs;
    byId('replay').hidden = false;
    byId('run-label').hidden = runs.length < 2;
    byId('replay-run').replaceChildren(...runs.map(({ label }, i) => element('option', { value: String(i) }, label)));
    this.load(0);
  }

  load(index) {
    this.replay = decodeReplay(this.runs[index].replay);
    const { replay } = this;
    if (this.stage && this.stage.dispose) this.stage.dispose();
    byId('stage').replaceChildren();
    byId('stage').classList.remove('flat');
    this.stage = this.makePicture(byId('stage'));
    const robot = replay.kind === 'robot';
    for (const id of ['reset-view', 'orbit-help']) byId(id).hidden = !robot;
    byId('forces-label').hidden = !robot || !replay.policies.some(policy => policy.episodes.some(episode => episode.forces.slots > 0));
    byId('follow-label').hidden = !robot || !replay.geoms.some(geom => geom.type === 'plane');
    const episodes = replay.policies[0].episodes.length;
    byId('episode-label').hidden = episodes < 2;
    byId('episode').replaceChildren(...Array.from({ length: episodes }, (_, i) => element('option', { value: String(i) }, String(i + 1))));
    this.episode = 0;
    this.player.setPeriod(replay.period || 0);
    const unit = replay.period ? replay.period : 1;
    this.meters = [new Meter('Return so far', null, 0), ...replay.costs.map((cost, i) => new Meter(`Cost so far: ${cost.name}`, cost.limit, i + 1))];
    this.meterPeriod = unit;
    byId('meters').replaceChildren(...this.meters.map(meter => meter.node));
    byId('policies').replaceChildren(...replay.policies.map((policy, i) => {
      const chip = element('button', { type: 'button' }, policy.label);
      chip.addEventListener('click', () => this.togglePolicy(i));
      return chip;
    }));
    byId('replay-note').textContent = `${replay.noise ? 'With' : 'Without'} action noise, seed ${replay.seed}: every policy starts from the same state. One episode may be over a limit that holds on average.`
      + (replay.kind === 'curve' ? ' The line is the reward of a step at each state; the points are the policies.' : '')
      + (robot && replay.geoms.some(geom => geom.type === 'mesh' || geom.type === 'heightfield') ? ' Meshes are not drawn.' : '');
    this.choose(this.usualPolicies());
  }

  // Start, middle and end, unless the address names others; a narrow stage has no room for the middle.
  usualPolicies() {
    const { policies } = this.replay;
    const asked = new URLSearchParams(location.hash.slice(1)).get('show');
    const narrow = byId('stage').clientWidth < 560;
    const roles = asked ? asked.split(',') : narrow ? ['start', 'end'] : ['start', 'middle', 'end'];
    const chosen = policies.filter(policy => roles.includes(policy.role) || (roles.includes('best') && policy.label.startsWith('best')));
    if (roles.includes('last') && !chosen.includes(policies.at(-1))) chosen.push(policies.at(-1));
    return chosen.length ? chosen : [policies.at(-1)];
  }

  makePicture(host) {
    if (this.replay.kind === 'curve') return new CurvePicture(host, this.replay);
    if (this.replay.kind === 'states') return new StatesPicture(host, this.replay);
    const problem = webglProblem();
    if (problem) {
      host.append(element('p', { class: 'message' }, problem));
      return null;
    }
    const stage = new Stage(host, this.replay);
    stage.follow = byId('follow').checked;
    stage.forces = byId('forces').checked;
    stage.onChange = () => this.draw();
    return stage;
  }

  togglePolicy(index) {
    const policy = this.replay.policies[index];
    const chosen = this.chosen.includes(policy) ? this.chosen.filter(other => other !== policy) : [...this.chosen, policy];
    if (chosen.length) this.choose(this.replay.policies.filter(other => chosen.includes(other)));
  }

  choose(policies) {
    this.chosen = policies;
    [...byId('policies').children].forEach((chip, i) => {
      const place = policies.indexOf(this.replay.policies[i]);
      chip.setAttribute('aria-pressed', String(place >= 0));
      chip.style.setProperty('--dot', place >= 0 ? seriesColor(place) : 'transparent');
    });
    if (this.stage) this.stage.show(policies);
    this.drawMeters();
    this.player.setFrames(Math.max(...policies.map(policy => policy.episodes[this.episode].frames)));
  }

  drawMeters() {
    const colors = this.chosen.map((policy, i) => seriesColor(i));
    for (const meter of this.meters) meter.draw(this.chosen, colors, this.episode, this.meterPeriod);
  }

  draw() {
    if (!this.chosen || this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawNow();
    });
  }

  drawNow() {
    const { time } = this.player;
    for (const meter of this.meters) meter.moveTo(time);
    if (this.stage) this.stage.draw(time, this.episode, (policy, episode, frame) => this.caption(policy, episode, frame));
    byId('stage').setAttribute('aria-label', `${this.chosen.map(policy => policy.label).join(', ')}: ${this.player.describe()}`);
  }

  caption(policy, episode, frame) {
    const parts = [policy.label];
    this.replay.costs.forEach((cost, i) => {
      const now = episode.sums[i + 1][Math.min(frame, episode.sums[i + 1].length - 1)];
      parts.push(`${cost.name} ${formatNumber(now, 3)}${cost.limit === null ? '' : ` of ${formatNumber(cost.limit)}`}`);
    });
    if (episode.diverged) parts.push('diverged');
    else if (episode.ended && frame >= episode.length) parts.push(`ended at step ${episode.length}`);
    return parts.join(' · ');
  }

  connect() {
    byId('follow').addEventListener('change', event => this.set('follow', event.target.checked));
    byId('forces').addEventListener('change', event => this.set('forces', event.target.checked));
    byId('reset-view').addEventListener('click', () => this.resetView());
    byId('replay-run').addEventListener('change', event => this.load(Number(event.target.value)));
    byId('episode').addEventListener('change', event => {
      this.episode = Number(event.target.value);
      this.choose(this.chosen);
    });
    byId('stage').addEventListener('keydown', event => this.key(event));
    byId('play').addEventListener('keydown', event => { if (event.key !== ' ' && event.key !== 'Enter') this.key(event); });
  }

  key(event) {
    const { player } = this;
    const actions = {
      ' ': () => player.toggle(), ArrowRight: () => player.step(event.shiftKey ? 10 : 1), ArrowLeft: () => player.step(event.shiftKey ? -10 : -1),
      Home: () => player.step(-player.last - 1), End: () => player.step(player.last + 1), '+': () => player.changeSpeed(1), '=': () => player.changeSpeed(1), '-': () => player.changeSpeed(-1),
      f: () => byId('follow').click(), r: () => this.resetView(), c: () => byId('forces').click(),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  set(what, value) {
    if (this.stage) this.stage[what] = value;
    this.draw();
  }

  resetView() {
    if (this.stage && this.stage.resetCamera) this.stage.resetCamera();
    this.draw();
  }

  recolour() {
    this.drawMeters();
    this.draw();
  }

  // For pictures: this frame, at once.
  show(frame) {
    this.player.pause();
    this.pending = true;  // once is enough
    this.player.seek(frame);
    this.pending = false;
    this.drawNow();
    return this.player.last;
  }
}

// Plays by itself once it comes into view, unless the reader prefers things to stay still.
function playWhenSeen(replay) {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches || location.hash.includes('only=') || location.hash.includes('still')) return;
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    observer.disconnect();
    if (replay.player.time === 0) replay.player.play();
  }, { threshold: 0.4 });
  observer.observe(byId('stage'));
}

function replayRuns(data) {
  return data.groups.flatMap(group => group.runs.map(index => ({ label: `${group.label}, seed ${data.runs[index].seed}`, replay: data.runs[index].replay })))
    .filter(({ replay }) => replay && !replay.problem);
}

function startReplay(data) {
  const runs = replayRuns(data);
  const problem = data.runs.map(run => run.replay && run.replay.problem).find(Boolean);
  if (!runs.length) {
    if (!problem) return null;
    byId('replay').hidden = false;
    byId('replay-note').textContent = `There is no replay: ${problem}.`;
    document.querySelector('.replay-grid').hidden = true;
    return null;
  }
  const replay = new Replay(runs);
  playWhenSeen(replay);
  return replay;
}
