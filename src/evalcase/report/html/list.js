// The table of cases. Only the rows on the screen are elements; every row has the same height, so
// that a hundred thousand of them scroll like ten.

const MOST_ROWS = 400000; // Browsers lose count of pixels beyond some millions.
const MOST_PRINTED = 2000;
const list = { head: null, rows: null, height: 34, cursor: 0, isBegun: false, isGrid: false, row: -1, printing: false, range: '' };

const COLUMNS = [
  { name: 'change', label: 'Change', width: '92px', needed: isCompared },
  { name: 'verdict', label: 'Verdict', width: '92px' },
  { name: 'case', label: 'Case', width: 'minmax(0, 1fr)' },
  { name: 'target', label: 'Target', width: 'minmax(70px, 190px)', needed: () => data.targets.length > 1 },
  { name: 'trials', label: 'Trials', width: '76px', needed: () => cells.trials.some((count) => count > 1) },
  { name: 'score', label: 'Score', width: '96px' },
  { name: 'seconds', label: 'Latency', width: '84px' },
  { name: 'cost', label: 'Cost', width: '92px', needed: () => cells.cost.some((cost) => cost !== null) },
];
let columns = [];

function drawTable() {
  list.head = h('div.row.head', { role: 'row' });
  list.rows = h('div.rows', { role: 'rowgroup', onfocusin: () => { list.isBegun = true; } });
  const table = h('div.table', { role: 'grid', 'aria-label': 'Cases' }, h('div.headgroup', { role: 'rowgroup' }, list.head), list.rows);
  table.classList.toggle('has-change', isCompared());
  window.addEventListener('scroll', () => requestAnimationFrame(() => drawRows()), { passive: true });
  window.addEventListener('resize', () => drawList());
  return table;
}

function chooseColumns() {
  shown.lines = isGrid() ? foldTargets(shown.rows) : shown.rows;
  columns = isGrid() ? gridColumns() : COLUMNS.filter((column) => !column.needed || column.needed());
  const table = list.rows.parentElement;
  table.style.setProperty('--columns', columns.map((column) => (column.name === 'verdict' && isCompared() ? '128px' : column.width)).join(' '));
  table.style.setProperty('--targets', columns.length - 1);
  // Who comes back from a case is still at it.
  if (list.isGrid !== isGrid()) list.cursor = shown.lines.findIndex((row) => nameCase(row) === nameCase(list.row));
  list.isGrid = table.classList.toggle('grid', isGrid());
}

function sortBy(name) {
  const first = ['case', 'target', 'verdict', 'change', 'trials'].includes(name) ? name : `-${name}`;
  const other = first.startsWith('-') ? name : `-${name}`;
  change({ sort: state.sort === first ? other : first });
}

function drawHead() {
  const active = sortName();
  const order = state.sort.startsWith('-') ? 'descending' : 'ascending';
  list.head.replaceChildren(...columns.map((column) => h('div', { role: 'columnheader', class: `cell ${column.name}`, 'aria-sort': column.name === active ? order : 'none' },
    column.name === 'said' ? column.label : button(column.label, { onclick: () => sortBy(column.name) }, column.label, h('span.order', { 'aria-hidden': 'true' }, column.name === active ? (order === 'ascending' ? '↑' : '↓') : '')))));
}

function drawList() {
  chooseColumns();
  drawHead();
  list.height = parseFloat(getComputedStyle(list.rows).getPropertyValue('--row')) || 34;
  const count = Math.min(shown.lines.length, MOST_ROWS);
  list.rows.style.height = `${Math.max(count, 1) * list.height}px`;
  list.rows.parentElement.setAttribute('aria-rowcount', shown.lines.length + 1);
  list.cursor = Math.max(0, Math.min(list.cursor, count - 1));
  const open = openRow();
  if (open >= 0 && shown.lines.includes(open)) list.cursor = shown.lines.indexOf(open);
  list.range = '';
  drawRows();
}

function drawRows() {
  const count = Math.min(shown.lines.length, MOST_ROWS);
  const top = list.rows.getBoundingClientRect().top;
  let first = Math.max(0, Math.floor(-top / list.height) - 8);
  let last = Math.min(count, first + Math.ceil(window.innerHeight / list.height) + 24);
  if (list.printing) [first, last] = [0, Math.min(count, MOST_PRINTED)];
  // Scrolling within what is drawn changes nothing.
  const range = `${first}-${last}-${list.cursor}-${state.case}`;
  list.row = shown.lines[list.cursor];
  if (range === list.range) return;
  list.range = range;
  const hadFocus = list.rows.contains(document.activeElement);
  const rows = shown.lines.slice(first, last).map((row, at) => drawRow(row, first + at));
  if (!count) rows.push(h('p.none', shown.searching ? 'Searching…' : (data.count ? (state.change.includes('changes') ? 'No case changed, of those that fit. Clear shows all.' : 'No case fits these filters.') : 'No case has a result.')));
  if (list.printing && count > last) rows.push(h('p.none', `and ${sayCount(count - last, 'more case')}`));
  list.rows.replaceChildren(h('div.slice', { role: 'presentation' }, rows));
  list.rows.firstChild.style.transform = list.printing ? '' : `translateY(${first * list.height}px)`;
  if (hadFocus) focusCursor();
}

function focusCursor() {
  const row = list.rows.querySelector('[tabindex="0"]');
  if (row) row.focus({ preventScroll: true });
}

const sayAnswers = (count) => (count === 1 ? 'all answers identical' : sayCount(count, 'different answer'));

// Whether the trials of a case were answered alike, as a sign that says in words what it means.
function drawAnswers(count) {
  const told = sayAnswers(count);
  return h('span.answers', { role: 'img', title: told, 'aria-label': told }, count === 1 ? '=' : `≠${count}`);
}

const CELLS = {
  change: (row) => [drawChange(cells.change[row]), h('span', cells.change[row])],
  verdict: (row) => [cells.base_verdict && cells.change[row] !== 'same' && cells.base_verdict[row] !== null
    ? [drawMark(cells.base_verdict[row]), h('span.arrow', { 'aria-label': 'then' }, '→')] : null,
    drawMark(verdictOf(row)), h('span.word', { 'aria-hidden': 'true' }, verdictOf(row))],
  case: (row) => [h('a', { href: writeHash(opening(row)), tabindex: '-1', class: 'name' }, drawWord(cells.case[row])),
    drawWord((!isGrid() && verdictOf(row) !== 'passed' && cells.reason[row]) || cells.asked[row], { class: 'why' })],
  target: (row) => drawName(targetOf(row)),
  trials: (row) => (cells.trials[row] > 1 ? [`${cells.passed[row]}/${cells.trials[row]}`,
    cells.answers[row] > 0 && drawAnswers(cells.answers[row])] : ''),
  score: (row) => [sayScore(cells.score[row]), drawDelta(row, 'score', (value) => round(value, 2), 1)],
  seconds: (row) => [saySeconds(cells.seconds[row]), cells.retries[row] ? h('span.retries', { title: `retried ${cells.retries[row]} ×` }, `↻${cells.retries[row]}`) : null],
  cost: (row) => sayMoney(cells.cost[row]),
  said: (row, at, { of }) => drawSaid(findBeside(row).get(of), at),
};

function drawRow(row, at) {
  const isOpen = nameRow(row) === state.case;
  const element = h('div', { role: 'row', class: `row ${verdictOf(row)}${isOpen ? ' open' : ''}`, 'aria-rowindex': at + 2, 'aria-selected': String(at === list.cursor),
    tabindex: at === list.cursor ? '0' : '-1', onclick: (event) => pickRow(event, row, at) },
    columns.map((column) => h('div', { role: 'gridcell', class: `cell ${column.name}` }, CELLS[column.name](row, at, column))));
  return element;
}

function pickRow(event, row, at) {
  // A link may be opened in a tab of its own, and text may be marked.
  if (event.metaKey || event.ctrlKey || event.shiftKey || String(getSelection())) return;
  event.preventDefault();
  list.cursor = at;
  change(opening(row));
}

function moveCursor(to) {
  if (!shown.lines.length) return;
  list.cursor = Math.max(0, Math.min(to, shown.lines.length - 1));
  if (state.case) change(opening(shown.lines[list.cursor]), true);
  showCursor();
  drawRows();
  if (!state.case || !isNarrow()) focusCursor();
}

function showCursor() {
  const top = list.rows.getBoundingClientRect().top + list.cursor * list.height;
  const above = list.head.getBoundingClientRect().bottom;
  if (top < above) window.scrollBy(0, top - above);
  else if (top + list.height > window.innerHeight) window.scrollBy(0, top + list.height - window.innerHeight + 8);
}

// From a page on which nothing was chosen yet, the first step is to the first case.
const isFresh = () => !list.isBegun && !state.case;

function stepCursor(step) {
  moveCursor(isFresh() ? list.cursor : list.cursor + step);
}

// The next row that did not pass, from the cursor on and then from the start.
function findTrouble(step) {
  const { rows } = shown;
  for (let n = isFresh() && step > 0 ? 0 : 1; n <= rows.length; n += 1) {
    const at = (list.cursor + step * n + rows.length * n) % rows.length;
    if (!['passed', 'skipped', 'absent'].includes(verdictOf(rows[at]))) return at;
  }
  return -1;
}
