// ---- start ---------------------------------------------------------------------------------------------------------

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function preferredTheme() {
  const asked = new URLSearchParams(location.hash.slice(1)).get('theme');
  return asked || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

function connectCurveTools(board) {
  const buttons = [...byId('axis').querySelectorAll('button')];
  const choose = button => {
    for (const other of buttons) {
      other.setAttribute('aria-checked', String(other === button));
      other.tabIndex = other === button ? 0 : -1;
    }
    board.setAxis(button.dataset.axis);
  };
  buttons.forEach((button, index) => {
    button.tabIndex = index === 0 ? 0 : -1;
    button.addEventListener('click', () => choose(button));
    button.addEventListener('keydown', event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = buttons[(index + step + buttons.length) % buttons.length];
      next.focus();
      choose(next);
    });
  });
  byId('zoom-in').addEventListener('click', () => board.zoom.scale(0.6));
  byId('zoom-out').addEventListener('click', () => board.zoom.scale(1 / 0.6));
  byId('zoom-reset').addEventListener('click', () => board.zoom.reset());
}

function start() {
  setTheme(preferredTheme());
  // What scripts and tests may look at.
  const page = window.cgpo = { data: DATA, board: null, replay: null };
  const only = new URLSearchParams(location.hash.slice(1)).get('only');
  if (only) document.body.dataset.only = only;
  showHeader(DATA);
  showFooter(DATA);
  if (DATA.curves) {
    showVerdict(DATA);
    byId('curves').hidden = false;
    page.board = new CurveBoard(DATA.groups, byId('charts'));
    connectCurveTools(page.board);
    showLegend(DATA.groups);
    showLastValues(DATA.groups);
    showConfiguration(DATA);
  }
  // Curves and numbers first; the robot takes its time to compile.
  requestAnimationFrame(() => setTimeout(() => {
    page.replay = startReplay(DATA);
    page.ready = true;
  }));
  const recolour = () => {
    if (page.board) page.board.refresh();
    if (page.replay) page.replay.recolour();
    if (DATA.curves) showLegend(DATA.groups);
  };
  byId('theme').addEventListener('click', () => {
    setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
    recolour();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    setTheme(preferredTheme());
    recolour();
  });
  if (DATA.live) startLive(page);
}

start();
