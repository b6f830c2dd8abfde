// The bar of filters, which stays while the list below is redrawn, so that it keeps the focus; and
// which rows are shown, in which order.

// `rows` are all that fit, `lines` those that have a line of their own in the table.
const shown = { rows: [], lines: [], searching: false };
const bar = { search: null, chips: new Map(), selects: {}, view: null, clear: null, told: null, hits: null, searched: '' };
const CHANGES = ['broken', 'fixed', 'changed', 'added', 'removed', 'same', 'skipped', 'unfinished', 'not selected'];
const isChange = (kind) => CHANGES.indexOf(kind) < 5;

// A variable with its value, as one word of a filter.
const nameValue = ([name, value]) => `${name} = ${value}`;
const MOST_VALUES = 20;
// The variables to group by, each with its values: few, and one of them that of several cases. A
// case at several targets is one.
const grouping = { counted: -1, known: [] };
function groupVariables() {
  if (grouping.counted === data.count) return grouping.known;
  const [firsts, shared] = [new Map(), new Set()];
  cells.vars.forEach((pairs, row) => {
    for (const [name, value] of pairs) {
      if (!firsts.has(name)) firsts.set(name, new Map());
      const first = firsts.get(name);
      if (!first.has(value)) first.set(value, nameCase(row));
      else if (first.get(value) !== nameCase(row)) shared.add(name);
    }
  });
  const known = [...firsts].filter(([name, { size }]) => size > 1 && size <= MOST_VALUES && shared.has(name)).map(([name, first]) => [name, [...first.keys()]]);
  return Object.assign(grouping, { counted: data.count, known }).known;
}
const isGrouped = (name) => groupVariables().some(([each]) => each === name);

const TESTS = {
  verdict: (row) => !state.verdict.length || state.verdict.includes(verdictOf(row)),
  change: (row) => {
    if (!state.change.length) return true;
    const kind = cells.change[row];
    return state.change.includes(kind) || (state.change.includes('changes') && isChange(kind));
  },
  tag: (row) => !state.tag || cells.tags[row].includes(state.tag),
  vars: (row) => !state.vars || cells.vars[row].some((pair) => nameValue(pair) === state.vars),
  target: (row) => !state.target || targetOf(row) === state.target,
  suite: (row) => !state.suite || suiteOf(row) === state.suite,
  grader: (row) => !state.grader || cells.failing[row].includes(state.grader),
  q: (row) => !bar.hits || bar.hits.has(row),
};

// Rows that pass all tests but those named.
function selectRows(...without) {
  const tests = Object.entries(TESTS).filter(([name]) => !without.includes(name) && (name !== 'change' || isCompared())).map(([, test]) => test);
  const rows = [];
  for (let row = 0; row < data.count; row += 1) if (tests.every((test) => test(row))) rows.push(row);
  return rows;
}

// By default what did not pass comes first: that is what a report is opened for.
const URGENCY = { errored: 0, failed: 1, ungraded: 2, unfinished: 3, passed: 4, skipped: 5, absent: 6 };

const SORTS = {
  verdict: (row) => URGENCY[verdictOf(row)],
  change: (row) => CHANGES.indexOf(cells.change[row]),
  case: (row) => cells.case[row],
  target: targetOf,
  score: (row) => cells.score[row],
  seconds: (row) => cells.seconds[row],
  cost: (row) => cells.cost[row],
  trials: (row) => (cells.trials[row] ? cells.passed[row] / cells.trials[row] : null),
};

const sortName = () => state.sort.replace(/^-/, '') || (labels.blind ? 'case' : (isCompared() ? 'change' : 'verdict'));

function sortRows(rows) {
  const key = SORTS[sortName()] || SORTS.verdict;
  const sign = state.sort.startsWith('-') ? -1 : 1;
  const keys = new Array(data.count);
  for (const row of rows) keys[row] = key(row);
  return rows.sort((a, b) => {
    const one = keys[a];
    const other = keys[b];
    // What has no value is last, whichever way round.
    if (one === null || other === null) return one === other ? a - b : (one === null ? 1 : -1);
    if (one === other) return a - b;
    return (one < other ? -1 : 1) * sign;
  });
}

function chooseRows() {
  shown.rows = sortRows(selectRows());
}

let search = 0;
// First what the index knows, at once; then all text, as it is unpacked.
function startSearch() {
  if (bar.searched === state.q) return;
  bar.searched = state.q;
  search += 1;
  const mine = search;
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  shown.searching = words.length > 0;
  if (!words.length) { bar.hits = null; return; }
  bar.hits = new Set();
  for (let row = 0; row < data.count; row += 1) if (words.every((word) => rowHolds(row, word))) bar.hits.add(row);
  const isOver = () => mine !== search;
  let drawn = performance.now();
  searchText(words, (rows) => {
    rows.forEach((row) => bar.hits.add(row));
    if (performance.now() - drawn > 250) { drawn = performance.now(); drawFound(); }
  }, isOver).then(() => { if (!isOver()) { shown.searching = false; drawFound(); } });
}

function drawFound() {
  chooseRows();
  updateFilters();
  drawList();
}

const toggled = (list, name) => (list.includes(name) ? list.filter((each) => each !== name) : [...list, name]);

function drawChips(kind, names, draw) {
  const row = h('div.chips', { role: 'group', 'aria-label': kind === 'verdict' ? 'Filter by verdict' : 'Filter by change' });
  for (const name of names) {
    const count = h('span.count');
    const chip = button(name, { class: `chip ${name}`, 'aria-pressed': 'false', onclick: () => change({ [kind]: toggled(kind === 'change' && state.change.includes('changes') ? [] : state[kind], name) }) }, draw(name), h('span', name), count);
    bar.chips.set(`${kind}:${name}`, { chip, count });
    row.append(chip);
  }
  return row;
}

function drawSelect(kind, label, names) {
  if (names.length < (kind === 'grader' ? 1 : 2)) return null;
  const select = h('select', { 'aria-label': label, onchange: (event) => change({ [kind]: event.target.value }) },
    h('option', { value: '' }, label), [...names].sort().map((name) => h('option', { value: name }, name)));
  bar.selects[kind] = select;
  return select;
}

function drawFilters() {
  let timer = 0;
  bar.search = h('input', { type: 'search', placeholder: 'Search all text', 'aria-label': 'Search all text', 'aria-keyshortcuts': '/',
    oninput: () => { clearTimeout(timer); timer = setTimeout(() => change({ q: bar.search.value.trim() }, true), 150); } });
  const present = VERDICTS.filter((name) => cells.verdict.includes(name));
  bar.clear = button('Clear', { class: 'plain', onclick: () => { bar.search.value = ''; change({ q: '', verdict: [], change: [], tag: '', vars: '', target: '', suite: '', grader: '' }); } });
  bar.told = h('p.told', { role: 'status' });
  return h('div.filters', { role: 'search', 'aria-label': 'Filter cases' },
    h('div.find', bar.search, h('kbd', { 'aria-hidden': 'true' }, '/')),
    isCompared() && drawChips('change', CHANGES.filter((name) => cells.change.includes(name)), drawChange),
    drawChips('verdict', present, (name) => drawMark(name, '')),
    drawSelect('tag', 'Any tag', data.tags),
    drawSelect('vars', 'Any variable', groupVariables().flatMap(([name, values]) => values.map((value) => nameValue([name, value])))), drawSelect('target', 'Any target', data.targets),
    drawSelect('suite', 'Any suite', data.suites), drawSelect('grader', 'Failed by any grader', data.graders),
    bar.view = drawGridToggle(), bar.clear, bar.told);
}

function countBy(rows, nameOf) {
  const counts = {};
  for (const row of rows) counts[nameOf(row)] = (counts[nameOf(row)] || 0) + 1;
  return counts;
}

function updateFilters() {
  const counts = { verdict: countBy(selectRows('verdict'), verdictOf) };
  if (isCompared()) counts.change = countBy(selectRows('change'), (row) => cells.change[row]);
  for (const [name, { chip, count }] of bar.chips) {
    const [kind, value] = name.split(':');
    count.textContent = groupDigits(counts[kind][value] || 0);
    const isOn = state[kind].includes(value) || (kind === 'change' && isChange(value) && state.change.includes('changes'));
    chip.setAttribute('aria-pressed', isOn);
  }
  for (const [kind, select] of Object.entries(bar.selects)) select.value = state[kind];
  if (bar.view) bar.view.setAttribute('aria-pressed', state.view === 'grid');
  if (document.activeElement !== bar.search) bar.search.value = state.q;
  const isFiltered = shown.rows.length !== data.count;
  bar.clear.hidden = !isFiltered && !state.q;
  bar.told.textContent = sayShown(isFiltered);
}

function sayShown(isFiltered) {
  const searching = shown.searching ? ', searching' : '';
  const all = sayCases(data.count);
  if (!isFiltered) return `${all}${searching}`;
  const [tried] = countGroups(shown.rows, () => ['']);
  // Of cases that are chosen by what became of them, a rate says nothing.
  const told = tried && !state.verdict.length && !state.change.length && !labels.blind ? `, ${sayRate(rateGroup(tried), ' of them passed')}` : '';
  const of = all.includes('×') ? `${groupDigits(data.count)} (${all})` : all;
  return `${groupDigits(shown.rows.length)} of ${of}${searching || told}`;
}
