// The page: an overview, charts, filters, the table, and a case beside it. Each is drawn once; what
// follows the address is drawn again when that changes.

const charts = { place: null, drawn: '' };
const QUICK_ROWS = 2000;

function drawOverview() {
  const { run, left_out: leftOut } = data.about;
  const { all } = run.figures;
  const facts = [run.created_at && sayTime(run.created_at), !isNone(run.duration_s) && `took ${saySeconds(run.duration_s)}`,
    !isNone(run.trials) && run.trials !== all.total && sayCount(run.trials, 'trial'), ...sayRepeats(all.repeats),
    all.cost.usd !== null && `${sayMoney(all.cost.usd)}${all.cost.unpriced ? `, ${sayCount(all.cost.unpriced, 'answer')} without a price` : ''}`,
    !isNone(run.grading_usd) && `${sayMoney(run.grading_usd)} for grading`, !isNone(run.users_usd) && `${sayMoney(run.users_usd)} for simulated users`,
    !isNone(run.lost_usd) && `${sayMoney(run.lost_usd)} for answers and gradings that don't count`, run.grading && drawWord(`grading ${run.grading}`)];
  return h('section.overview', { 'aria-label': 'Overview' },
    run.notice && !data.about.watch && h('p.notice', drawWord(run.notice)),
    run.remarks.map((text) => h('p.notice', drawWord(text))),
    leftOut && h('p.notice', `The details of ${sayCount(leftOut.cases, 'case')} that passed were left out, so that this file stays below ${groupDigits(leftOut.cap)} bytes: ${groupDigits(data.count - leftOut.cases)} of ${groupDigits(data.count)} are here, with every case that did not pass. The command `, h('code', leftOut.command), ' shows all.'),
    isCompared() && drawComparison(),
    h('div.headline', drawRate(run), drawVerdicts(all)),
    !data.about.watch && h('p.facts', facts.filter(Boolean).map((fact) => h('span', fact))));
}

const sayFirst = (text) => text[0].toUpperCase() + text.slice(1);

function sayRepeats(repeats) {
  if (!repeats) return [];
  const chances = repeats.pass_at.map(({ k, any, all }) => `pass@${k} ${sayPercent(any.mean)}, pass^${k} ${sayPercent(all.mean)}`);
  return [repeats.flaky > 0 && `${sayCases(repeats.flaky)} flaky`, ...chances];
}

// So many cases, each at one target; where each was put to several, how many were written, too.
function sayCases(count) {
  const targets = data.targets.length;
  const written = new Set(cells.case.map((_, row) => nameCase(row))).size;
  if (targets < 2 || data.count === written) return sayCount(count, 'case');
  return written * targets === count ? `${sayCount(written, 'case')} × ${targets} targets` : `${sayCount(count, 'pair')} of case and target`;
}

function drawRate(run) {
  const { rate: share, low, high, n, errored, without_errors: without, why } = run.figures.all;
  if (share === null) return h('p.rate-large', 'No case was tried.');
  const line = svg('svg.rate-line', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('line.axis', { x1: 0, x2: 100, y1: 5, y2: 5 }), low !== null && svg('rect.interval', { x: low * 100, y: 2, width: Math.max(0.6, (high - low) * 100), height: 6, rx: 1 }), svg('rect.point', { x: Math.max(0, Math.min(99.2, share * 100 - 0.4)), y: 0, width: 0.8, height: 10 }));
  const told = [low === null ? why || (n === 1 ? 'No interval: one case is too few' : sayFirst(run.figures.without_interval || 'no interval: it can\'t be estimated')) : `95% interval ${sayPercent(low)} to ${sayPercent(high)}`];
  if (errored && without.rate !== null) told.push(`${sayPercent(without.rate)} of the ${groupDigits(without.n)} that did not error`);
  return h('div.rate-block', h('p.rate-large', h('strong', sayPercent(share)), ' of ', sayCases(n), isCompared() ? ' passed in head' : ' passed'),
    line, h('p.fine', told.join('; ')));
}

function drawVerdicts(figures) {
  const all = [...VERDICTS.map((name) => [name, figures[name]]), ['not run', figures.not_run]].filter(([, count]) => count);
  const total = all.reduce((sum, [, count]) => sum + count, 0) || 1;
  const strip = h('div.strip', { 'aria-hidden': 'true' }, all.map(([name, count]) => {
    const part = h('span', { class: `part ${name.replace(' ', '-')}` });
    part.style.flexGrow = count / total;
    return part;
  }));
  return h('div.verdicts', strip, h('ul', all.map(([name, count]) => h('li', {},
    name === 'not run' ? h('span.verdict-count', groupDigits(count), ' not run')
      : button('', { class: 'verdict-count', title: `Show only ${name}`, onclick: () => change({ verdict: [name], change: [] }) }, drawMark(name, ''), h('strong', groupDigits(count)), ` ${name}`)))));
}

function drawPageTitle() {
  const { name, figures: { all } } = data.about.run;
  document.title = `${all.rate === null || labels.blind ? 'evalcase' : sayPercent(all.rate)} · ${name}`;
}

// What was tested: a few by their names, many by how many they are.
const MOST_NAMED = 3;
function drawSubject() {
  const { suites, targets } = data;
  const told = [['suite', suites], ['target', targets]].filter(([, names]) => names.length).map(([noun, names]) => h('span',
    names.length > MOST_NAMED ? sayCount(names.length, noun)
      : [`${noun}${names.length > 1 ? 's' : ''} `, names.flatMap((name, at) => [at > 0 && ', ', drawWord(name, { class: 'named' })])]));
  return h('p.subject', told);
}

const THEMES = { '': 'Theme: auto', light: 'Theme: light', dark: 'Theme: dark' };

function drawTheme() {
  const chooser = button('', { class: 'plain theme', onclick: () => choose({ '': 'light', light: 'dark', dark: '' }[document.documentElement.dataset.theme || '']) });
  const choose = (theme) => {
    document.documentElement.dataset.theme = theme;
    chooser.textContent = THEMES[theme];
    writeStore('evalcase theme', theme);
  };
  const kept = readStore('evalcase theme') || '';
  choose(Object.hasOwn(THEMES, kept) ? kept : '');
  return chooser;
}

function updateCharts() {
  if (!charts.place.open) return;
  const wanted = `${shown.rows.length}-${location.hash.replace(/&?(case|trial|side|sort|view)=[^&]*/g, '')}`;
  if (wanted === charts.drawn) return;
  charts.drawn = wanted;
  const [grid, drawn] = [charts.place.querySelector('.charts'), drawCharts()];
  grid.replaceChildren(...drawn);
  // More than fit into a row are two rows of about as many.
  grid.style.setProperty('--share', drawn.length > 6 ? `${Math.floor(90 / Math.ceil(drawn.length / 2))}%` : '0px');
}

function drawChartsPlace() {
  charts.place = h('details.charts-place', { open: !isNarrow(), ontoggle: updateCharts }, h('summary', isCompared() ? 'Charts (all cases)' : 'Charts (current filter)'), h('div.charts'));
  return charts.place;
}

function update() {
  startSearch();
  chooseRows();
  updateFilters();
  updatePanel();
  drawList();
  if (data.count <= QUICK_ROWS) updateCharts();
  else setTimeout(updateCharts); // the list need not wait for them
}

// The list has only what is on the screen; paper has all.
function setPrinting(isPrinting) {
  list.printing = isPrinting;
  document.body.classList.toggle('printing', isPrinting);
  drawList();
}

function show() {
  loadLabels();
  readState();
  const { run } = data.about;
  if (data.about.watch) countLive();
  drawPageTitle();
  document.getElementById('app').replaceWith(
    h('header.top', button('Skip to the cases', { class: 'skip', onclick: focusCursor }), h('div', h('h1', drawBrand(data.about.home), ' ', isCompared() && [drawWord(data.about.base.name), ' → '], drawWord(run.name)), drawSubject()), h('div.tools', drawExport(), drawTheme(), button('?', { class: 'plain', 'aria-label': 'Keyboard', onclick: () => help.showModal() }))),
    h('main', drawOverview(), drawChartsPlace(),
      h('div.sticky', drawFilters()),
      h('div.cases', drawTable(), drawPanel())),
    drawLive(), drawHelp());
  listeners.push(update);
  document.addEventListener('keydown', handleKey);
  window.addEventListener('beforeprint', () => setPrinting(true));
  window.addEventListener('afterprint', () => setPrinting(false));
  window.matchMedia('print').addEventListener('change', (event) => setPrinting(event.matches));
  // The head of the table sticks right below the filters, however many lines they take.
  const sticky = document.querySelector('.sticky');
  new ResizeObserver(() => document.documentElement.style.setProperty('--bar', `${sticky.offsetHeight}px`)).observe(sticky);
  update();
  if (data.about.watch) startWatching(data.about.watch);
  document.body.classList.add('ready');
}

function giveUp(error) {
  document.body.prepend(h('p.notice', `This report can't be shown: ${error.message}. It needs a browser of 2023 or later.`));
  throw error;
}

try {
  const shownLater = whenKnown(loadData(), show);
  if (isPromise(shownLater)) shownLater.catch(giveUp);
} catch (error) {
  giveUp(error);
}
