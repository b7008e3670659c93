// ---- live: the program that serves this page is asked for what is new ------------------------------------------------

// Of the policy without its noise, if the log has it.
function deployedWords(curves, at, cost) {
  const series = curves.series[`cost-deployed/${cost.name}`];
  if (!series || series.mean[at] === null) return [];
  const ruling = cost.limit === null ? 'within the limit' : limitWords(curves, at, series.mean[at], cost.limit);
  return [element('div', { class: `quiet ${ruling === 'within the limit' ? 'good' : 'bad'}` },
    `Deployed ${formatUncertain(series.mean[at], series.half && series.half[at])}, ${ruling}`)];
}

class LiveFeed {
  constructor(page) {
    this.page = page;
    this.group = DATA.groups[0];
    this.run = DATA.runs[0];
    this.snapshots = -1;
    this.failures = 0;
    this.state = byId('live-state');
    this.state.hidden = false;
    this.showCard(false);
    this.poll();
  }

  async poll() {
    try {
      const answer = await fetch(`log?from=${this.group.curves.steps.length}`);
      if (answer.ok) this.take(await answer.json());
      this.failures = 0;
    } catch (problem) {
      ++this.failures;
      if (this.failures >= 3) {
        this.state.textContent = 'the program has ended; this page keeps what it has';
        return;
      }
    }
    if (!this.finished) setTimeout(() => this.poll(), 1000);
  }

  take(news) {
    const { page, group, run } = this;
    if (news.curves.steps.length || news.curves.from < group.curves.steps.length) {
      appendCurves(group.curves, news.curves);
      page.board.build();
      showLastValues(DATA.groups);
    }
    run.iterations = news.iterations;
    run.steps = group.curves.steps.at(-1) || 0;
    run.seconds = group.curves.seconds.at(-1) || 0;
    this.finished = news.finished;
    this.state.textContent = this.finished ? `done: ${news.iterations} of ${news.planned} iterations` : `live: iteration ${news.iterations} of ${news.planned}`;
    this.showCard(this.finished);
    if (news.snapshots !== this.snapshots || this.finished) {
      this.snapshots = news.snapshots;
      this.fetchReplay();
    }
  }

  async fetchReplay() {
    try {
      const answer = await fetch('replay');
      if (!answer.ok) return;
      this.run.replay = await answer.json();
      const { page } = this;
      if (page.replay) page.replay.setRuns(replayRuns(DATA));
      else page.replay = startReplay(DATA);
    } catch (problem) {
      // The next snapshot brings it.
    }
  }

  // What the log says; a verdict needs episodes of its own.
  showCard(finished) {
    const { group, run } = this;
    const { curves } = group;
    const at = curves.steps.length - 1;
    const facts = element('dl', { class: 'facts' });
    const value = name => curves.series[name] && formatUncertain(curves.series[name].mean[at], curves.series[name].half && curves.series[name].half[at]);
    if (at >= 0) facts.append(fact('Return', value('return') || '–'));
    for (const cost of at >= 0 ? group.costs : []) {
      const series = curves.series[`cost/${cost.name}`];
      const mean = series ? series.mean[at] : null;
      const ruling = cost.limit === null ? 'within the limit' : limitWords(curves, at, mean, cost.limit);
      facts.append(fact(`Cost: ${cost.name}, limit ${cost.limit === null ? 'none' : formatNumber(cost.limit)}`, value(`cost/${cost.name}`) || '–',
        element('div', { class: `quiet ${ruling === 'within the limit' ? 'good' : 'bad'}` }, `In this iteration ${ruling}`),
        ...deployedWords(curves, at, cost)));
    }
    facts.append(fact('Training', formatDuration(run.seconds || 0), element('div', { class: 'quiet' }, `${formatNumber(run.steps)} steps`)));
    const words = finished ? `Training has ended after ${run.iterations} of ${run.planned} iterations` : `Training: iteration ${run.iterations} of ${run.planned}`;
    byId('verdict-title').textContent = 'Now';
    byId('verdict-cards').replaceChildren(element('article', { class: 'card' },
      element('div', { class: 'card-head' }, element('p', { class: 'ruling' }, words), element('span', { class: 'run' }, run.folder)), facts));
    byId('notes').replaceChildren(element('li', {}, `The verdict with its confidence comes from fresh episodes: ${programName(DATA)} report, on the folder of ${run.folder}.`));
  }
}

function startLive(page) {
  page.live = new LiveFeed(page);
}
