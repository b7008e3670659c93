// ---- words and tables ----------------------------------------------------------------------------------------------

function showHeader(data) {
  const seeds = data.runs.map(run => run.seed);
  byId('eyebrow').textContent = `${data.program} · ${seeds.length === 1 ? `seed ${seeds[0]}` : `${seeds.length} runs`} · ${data.made}`;
  byId('heading').textContent = `${data.task}, ${data.heading}`;
  byId('lead').textContent = data.summary ? `${capitalise(data.summary)}.` : '';
}

function fact(name, number, ...more) {
  return element('div', {}, element('dt', {}, name), element('dd', {}, element('div', { class: 'number' }, number), ...more));
}

const VERDICTS = {
  holds: ['good', '✓'], exceeded: ['bad', '✕'], diverged: ['bad', '✕'], 'too close to call': ['unsure', '≈'], 'cannot be judged': ['unsure', '?'],
};

// An evaluation with noise, and the one of the policy that is deployed.
function partsOf(evaluation) {
  return [{ title: 'With noise, as it trains', part: evaluation },
    { title: 'Deployed: the mean action, without noise', part: evaluation.deployed }];
}

function policyFacts(part) {
  const [low, high] = part.return.interval;
  const interval = low === null ? '' : `95 % interval ${formatNumber(low)} to ${formatNumber(high)}`;
  const facts = element('dl', { class: 'facts' },
    fact('Return', formatUncertain(part.return.mean, part.return.se), element('div', { class: 'quiet' }, interval)));
  for (const cost of part.costs) {
    const [word] = VERDICTS[cost.verdict] || ['unsure'];
    facts.append(fact(`Cost: ${cost.name}, limit ${cost.limit === null ? 'none' : formatNumber(cost.limit)}`, formatUncertain(cost.mean, cost.se),
      element('div', { class: `quiet ${word}` }, capitalise(cost.sentence)),
      element('div', { class: 'quiet' }, `${formatShare(cost.violation_rate)} of the episodes are over it`)));
  }
  facts.append(fact('Episodes', formatNumber(part.episodes),
    element('div', { class: 'quiet' }, `${formatNumber(part.episode_length)} steps on average${part.diverged ? `; ${part.diverged} diverged` : ''}`)));
  return facts;
}

function verdictCard(run, label) {
  const { evaluation } = run;
  const rate = run.seconds > 0 ? `${formatNumber(run.steps / run.seconds)} steps a second` : '';
  const speed = fact('Training', formatDuration(run.seconds), element('div', { class: 'quiet' }, `${formatNumber(run.steps)} steps, ${rate}`));
  const name = element('span', { class: 'run' }, `${label}, seed ${run.seed} · ${run.folder}`);
  if (!evaluation || evaluation.problem) {
    const words = evaluation ? `Not evaluated: ${evaluation.problem}` : 'Not evaluated';
    return element('article', { class: 'card' }, element('div', { class: 'card-head' }, element('p', { class: 'ruling unsure' }, words), name),
      element('dl', { class: 'facts' }, speed));
  }
  const [kind, sign] = VERDICTS[evaluation.verdict];
  const parts = partsOf(evaluation).flatMap(({ title, part }) => [element('p', { class: 'part' }, title), policyFacts(part)]);
  return element('article', { class: 'card' },
    element('div', { class: 'card-head' }, element('p', { class: `ruling ${kind}` }, `${sign} ${capitalise(evaluation.sentence)}`), name),
    ...parts, element('p', { class: 'part' }, 'How it came about'), element('dl', { class: 'facts' }, speed));
}

// Of several runs, a line each.
function verdictTable(data) {
  const costs = allCosts(data.groups);
  const columns = ['', ', deployed'].flatMap(suffix => [`Return${suffix}`, ...costs.map(cost => `Cost: ${cost.name}${suffix}`)]);
  const head = element('tr', {}, ...['Run', 'Verdict', ...columns].map(text => element('th', {}, text)),
    ...['Training', 'Steps a second'].map(text => element('th', { class: 'number' }, text)));
  const rows = data.groups.flatMap(group => group.runs.map(index => {
    const run = data.runs[index];
    const name = element('td', { title: run.folder }, `${group.label}, seed ${run.seed}`);
    const speed = [element('td', { class: 'number' }, formatDuration(run.seconds)), element('td', { class: 'number' }, run.seconds > 0 ? formatNumber(run.steps / run.seconds, 3) : '–')];
    const { evaluation } = run;
    if (!evaluation || evaluation.problem) {
      const words = evaluation ? `Not evaluated: ${evaluation.problem}` : 'Not evaluated';
      return element('tr', {}, name, element('td', { class: 'unsure', colspan: String(1 + columns.length) }, words), ...speed);
    }
    const [kind, sign] = VERDICTS[evaluation.verdict];
    const cells = partsOf(evaluation).flatMap(({ part }) => [element('td', {}, formatUncertain(part.return.mean, part.return.se)), ...costs.map(({ name: wanted }) => {
      const cost = part.costs.find(entry => entry.name === wanted);
      if (!cost) return element('td', {}, '–');
      return element('td', { title: cost.sentence }, `${formatUncertain(cost.mean, cost.se)}, limit ${cost.limit === null ? 'none' : formatNumber(cost.limit)}: ${cost.verdict}`);
    })]);
    return element('tr', {}, name, element('td', { class: kind }, `${sign} ${capitalise(evaluation.sentence)}`), ...cells, ...speed);
  }));
  return element('div', { class: 'card scroll' }, element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
}

function showVerdict(data) {
  byId('verdict').hidden = false;
  const single = data.runs.length === 1;
  byId('verdict-cards').replaceChildren(single ? verdictCard(data.runs[0], data.groups[0].label) : verdictTable(data));
  const several = data.runs.length > 1;
  const notes = data.runs.flatMap(run => run.notes.map(note => (several ? `${run.folder}: ${note}` : note)));
  byId('notes').replaceChildren(...notes.map(note => element('li', {}, note)));
}

function showLegend(groups) {
  const entries = groups.length > 1 ? groups.map(group => `${group.label}${group.runs.length > 1 ? ` (${group.runs.length} seeds)` : ''}`) : [];
  byId('legend').replaceChildren(...entries.map((words, index) => {
    const swatch = element('span', { class: 'swatch' });
    swatch.style.borderColor = seriesColor(index);
    return element('span', {}, swatch, words);
  }));
  const averaged = groups.some(group => group.runs.length > 1);
  const seeds = groups.map(group => group.runs.length);
  byId('band-note').textContent = (averaged
    ? `Lines are means over the seeds at the same iteration (${[...new Set(seeds)].sort().join(' or ')} runs each), bands their 95 % interval (Student’s t). `
    : 'Bands are 95 % intervals of each iteration’s mean over its episodes. ')
    + 'Drag to zoom in, double-click for all; with the focus on a chart the wheel and + − ← → 0 work, too.';
}

function showLastValues(groups) {
  const rows = [];
  for (const definition of chartDefinitions(groups)) {
    for (const { name, label } of definition.series) {
      if (!groups.some(group => group.curves.series[name])) continue;
      const cells = groups.map(({ curves }) => {
        const series = curves.series[name];
        const at = curves.steps.length - 1;
        return element('td', { class: 'number' }, series ? formatUncertain(series.mean[at], series.half && series.half[at]) : '–');
      });
      const limits = (definition.limits || []).map(formatNumber).join(', ');
      const part = definition.series.length > 1 ? `, ${label}` : '';
      rows.push(element('tr', {}, element('td', {}, definition.title + part), ...cells, element('td', { class: 'number' }, limits || '')));
    }
  }
  const iterations = groups.map(({ curves }) => element('td', { class: 'number' }, String(curves.iteration[curves.iteration.length - 1] ?? 0)));
  const head = element('tr', {}, element('th', {}, 'Last iteration'), ...groups.map(group => element('th', {}, group.label)), element('th', {}, 'limit'));
  byId('last-values').querySelector('table').replaceChildren(
    element('thead', {}, head), element('tbody', {}, element('tr', {}, element('td', {}, 'Iteration'), ...iterations, element('td', {})), ...rows));
}

function showConfiguration(data) {
  byId('configuration').hidden = false;
  const groups = data.groups.map(group => group.label);
  const head = element('tr', {}, element('th', {}, 'Key'), ...groups.map(label => element('th', {}, groups.length > 1 ? label : 'Value')), element('th', { class: 'help' }, 'Meaning'));
  const rows = data.configuration.map(({ key, help, values }) => {
    const differs = values.some(value => value !== values[0]);
    return element('tr', { class: differs ? 'differs' : '', 'data-text': `${key} ${help}`.toLowerCase() }, element('td', { class: 'key' }, key),
      ...values.map(value => element('td', { class: 'value' }, value === null ? 'not set' : value)), element('td', { class: 'help' }, help));
  });
  byId('configuration-table').replaceChildren(element('thead', {}, head), element('tbody', {}, ...rows));
  byId('configuration-filter').addEventListener('input', event => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.dataset.text.includes(wanted);
  });
}

// As it was typed: a program of one's own has another name.
function programName(data) {
  return data.command.split(' ')[0] || 'cgpo';
}

function showFooter(data) {
  const versions = [...new Set(data.runs.map(run => run.version))].join(', ');
  const origin = data.live ? [element('p', {}, `Served by ${data.program} while the run trains; opened ${data.made}.`)] : [
    element('p', {}, 'Made by ', element('code', {}, data.command), ` with ${data.program}, ${data.made}. The run was written by ${versions}.`),
    element('p', {}, 'Repeat a run, bit for bit: ', element('code', {}, `${programName(data)} train --config ${data.runs[0].folder}/config.toml --out FOLDER`))];
  byId('footer').replaceChildren(...origin,
    element('p', {}, 'Curves by Chart.js, robots by three.js, both under the MIT licence. This file needs no network.'));
}
