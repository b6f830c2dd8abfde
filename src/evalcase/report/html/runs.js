// The list of all runs in `evalcase view`: pass rates over time, and a way to each run and to two
// of them side by side.

const picked = [];
const MOST_HISTORIES = 12;
const MOST_POINTS = 40;
let isWhole = false;

// A suite at a target, run by run: each point with its interval, the newest at the right. A run by
// other graders, of some cases or of a part is no step of the trend: it is a ring beside the line.
function drawHistory(name, all) {
  const points = all.slice(-MOST_POINTS);
  const [width, height, room] = [220, 56, 6];
  const x = (at) => room + (points.length === 1 ? (width - 2 * room) / 2 : (at * (width - 2 * room)) / (points.length - 1));
  const y = (share) => room + (1 - share) * (height - 2 * room);
  const even = points.map((point, at) => ({ ...point, at })).filter((point) => !point.remark);
  const last = even[even.length - 1];
  const apart = points.length - even.length;
  return h('figure', h('figcaption', h('strong', drawWord(name)), h('span.fine', last ? sayRate(last.rate) : 'no whole run', apart > 0 && `; ○ ${sayCount(apart, 'run')} with a remark`, all.length > points.length && `; the last ${points.length} of ${all.length} runs`)),
    svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${name}: ${points.map((point) => sayPercent(point.rate[0]) + (point.remark ? `, but ${point.remark}` : '')).join(', ')}`, class: 'history' },
      svg('line.axis', { x1: 0, x2: width, y1: y(0), y2: y(0) }), svg('line.axis', { x1: 0, x2: width, y1: y(1), y2: y(1) }),
      even.map(({ rate, at }) => rate[1] !== null && svg('line.whisker', { x1: x(at), x2: x(at), y1: y(rate[1]), y2: y(rate[2]) })),
      svg('polyline.trend', { points: even.map(({ rate, at }) => `${x(at)},${y(rate[0])}`).join(' ') }),
      points.map(({ rate, id, remark }, at) => svg('circle', { class: remark ? 'apart' : 'point', cx: x(at), cy: y(rate[0]), r: 2.6 }, svg('title', `${id}: ${sayRate(rate)}${remark ? `; ${remark}` : ''}`)))));
}

function drawHistories(runs) {
  const groups = new Map();
  for (const run of [...runs].reverse()) {
    for (const part of run.parts || []) {
      const name = `${part.suite} at ${part.target}`;
      if (!groups.has(name)) groups.set(name, []);
      if (part.rate) groups.get(name).push({ ...part, id: run.id, remark: run.apart && run.remark });
    }
  }
  const known = [...groups].filter(([, points]) => points.length).reverse();
  drawCut(known.length);
  return known.slice(0, isWhole ? known.length : MOST_HISTORIES).map(([name, points]) => drawHistory(name, points));
}

// Those of the newest runs are shown, and that there are more is said.
function drawCut(count) {
  const isCut = count > MOST_HISTORIES && !isWhole;
  document.getElementById('cut').replaceChildren(...(isCut ? [`${MOST_HISTORIES} of ${count} shown `, button(`Show all ${count}`, { onclick: () => { isWhole = true; drawRuns(); } })] : []));
}

function drawVerdictCounts(verdicts) {
  return Object.entries(verdicts || {}).filter(([name]) => name !== 'total').map(([name, count]) => h('span.verdict-count', drawMark(name), groupDigits(count)));
}

function drawRun(run) {
  const box = h('input', { type: 'checkbox', id: `mark ${run.id}`, 'aria-label': `Compare ${run.id}`, onchange: () => pick(run.id, box.checked) });
  box.checked = picked.includes(run.id);
  const parts = run.parts || [];
  const drawList = (name) => {
    const [first = '', ...more] = new Set(parts.map((part) => part[name]));
    return h('td.name', { title: [first, ...more].join(', ') }, drawName(first, { title: null }), more.length > 0 && ` +${more.length}`);
  };
  const remark = run.problem ? `damaged: ${run.problem}` : run.remark;
  return [h('tr', h('td', box), h('th', { scope: 'row' }, h('a', { id: `run ${run.id}`, href: `run/${encodeURIComponent(run.id)}` }, drawWord(run.id))),
    h('td', run.created_at ? sayTime(run.created_at) : ''), drawList('suite'), drawList('target'),
    h('td', drawVerdictCounts(run.verdicts)), h('td', run.rate ? sayRate(run.rate) : '–'), h('td', sayMoney(run.cost))),
    remark && h('tr.remark-row', h('td'), h('td', { colspan: 7 }, drawWord(remark)))];
}

// The older one is the base.
function pick(id, isOn) {
  const at = picked.indexOf(id);
  if (at >= 0) picked.splice(at, 1);
  if (isOn) picked.push(id);
  if (picked.length > 2) picked.shift();
  drawRuns();
}

let told = null;
function drawRuns() {
  const { runs } = told;
  const held = document.activeElement.id;
  const link = document.getElementById('compare');
  link.hidden = picked.length !== 2;
  link.href = `compare/${[...picked].sort().map(encodeURIComponent).join('/')}`;
  document.querySelector('.charts').replaceChildren(...drawHistories(runs));
  document.querySelector('.runs tbody').replaceChildren(...flatten(runs.map(drawRun)));
  // Who goes by keyboard stays where he was.
  if (held) document.getElementById(held)?.focus({ preventScroll: true });
  document.querySelector('.told').textContent = runs.length ? sayCount(runs.length, 'run') + (told.pending ? ', reading' : '') : 'There is no run yet: `evalcase run` creates one.';
}

async function followRuns() {
  if (!document.hidden) {
    try {
      const now = await (await fetch('runs')).json();
      // What is the same is not drawn again: somebody may be about to mark a run.
      if (JSON.stringify(now) !== JSON.stringify(told)) { told = now; drawRuns(); }
    } catch { announce('evalcase view does not answer.'); }
  }
  setTimeout(followRuns, told.pending ? 300 : 3000);
}

async function startRuns() {
  told = await unpack('runs');
  document.title = 'evalcase';
  document.getElementById('app').replaceWith(
    h('header.top', h('h1', drawBrand(''), ' all runs')),
    h('main', h('section.overview', { 'aria-label': 'Pass rates over time' }, h('div.charts'), h('p.fine', { id: 'cut' })),
      h('div.filters', h('p.fine', 'Mark two runs to compare them.'), h('a.chip', { id: 'compare', hidden: true }, 'Compare these two'), h('p.told', { role: 'status' })),
      drawScrolled('Runs', h('table.runs',
        h('thead', h('tr', ['Compare', 'Run', 'Begun', 'Suite', 'Target', 'Cases', 'Pass rate, 95% interval', 'Cost'].map((name) => h('th', { scope: 'col' }, name)))), h('tbody')))),
    drawLive());
  drawRuns();
  document.body.classList.add('ready');
  setTimeout(followRuns, told.pending ? 0 : 3000);
}

startRuns();
