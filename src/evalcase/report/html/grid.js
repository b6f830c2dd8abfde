// Cases below each other and their targets beside each other, each with the beginning of its answer:
// what one says that another doesn't is seen at once.

const LONGEST_SAID = 600;
const grid = { counted: -1, rows: new Map() };

const hasGrid = () => data.targets.length > 1 && !isCompared();
// While a case is open there is no room for it, and paper doesn't wait for answers to be unpacked.
const isGrid = () => state.view === 'grid' && !state.case && !list.printing && hasGrid();
const nameCase = (row) => `${cells.suite[row]} ${cells.case[row]}`;

// The rows of the same case, by their targets.
function findBeside(row) {
  if (grid.counted !== data.count) {
    Object.assign(grid, { counted: data.count, rows: new Map() });
    cells.target.forEach((target, each) => {
      const beside = grid.rows.get(nameCase(each)) || new Map();
      grid.rows.set(nameCase(each), beside.set(target, each));
    });
  }
  return grid.rows.get(nameCase(row));
}

// Of each case the row that comes first: where trouble does, that of the target in trouble.
function foldTargets(rows) {
  const seen = new Set();
  return rows.filter((row) => !seen.has(nameCase(row)) && seen.add(nameCase(row)));
}

function gridColumns() {
  const passed = countBy(shown.rows.filter((row) => verdictOf(row) === 'passed'), targetOf);
  return [{ name: 'case', label: 'Case', width: 'minmax(0, 1fr)' },
    ...data.targets.filter((of) => !state.target || of === state.target).map((of) => ({ name: 'said', of, width: 'minmax(0, 1.4fr)', label: [drawWord(of), !labels.blind && h('span.fine', `${groupDigits(passed[of] || 0)} passed`)] }))];
}

function sayAnswer(detail, row) {
  if (!detail) return '(left out)';
  const trial = chooseTrial(detail.trials, row);
  if (!trial?.answer) return trial?.failure?.message || '';
  const calls = trial.answer.flatMap((message) => message.calls || []).map(({ name, input }) => `${name} ${input || ''}`);
  return [...calls, trial.nothing ? !calls.length && trial.nothing : textOf(trial)].filter(Boolean).map((text) => text.slice(0, LONGEST_SAID).replace(/\s+/g, ' ')).join('\n');
}

function drawSaid(row, at) {
  if (row === undefined) return h('span.fine', '–');
  const text = h('bdi.excerpt');
  loadDetail(row).then((detail) => text.append(...spellText(sayAnswer(detail, row))));
  return h('a.answer', { href: writeHash(opening(row)), tabindex: '-1', onclick: (event) => { event.stopPropagation(); pickRow(event, row, at); } },
    drawMark(verdictOf(row)), h('span.preview', !labels.blind && verdictOf(row) !== 'passed' && cells.reason[row] && drawWord(cells.reason[row], { class: 'why' }), text));
}

function drawGridToggle() {
  return hasGrid() && drawChip(false, () => change({ ...opening(), view: state.view ? '' : 'grid', sort: '' }), 'Targets side by side');
}

// The same case at its other targets, one click away.
function drawBeside(row) {
  const rows = [...findBeside(row).values()];
  return hasGrid() && rows.length > 1 && h('div.chips', { role: 'group', 'aria-label': 'Targets' }, rows.map((each) => drawChip(each === row, () => change(opening(each), true), !labels.blind && drawMark(verdictOf(each)), drawWord(targetOf(each)))));
}
