// What a person has chosen is in the address, and nowhere else: reload, Back and a link to one case
// follow from that.

const state = { q: '', verdict: [], change: [], tag: '', vars: '', target: '', suite: '', grader: '', sort: '', view: '', case: '', trial: '', side: '' };
const LISTS = ['verdict', 'change'];
const listeners = [];

function readState() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(state)) {
    const value = given.get(name) || '';
    state[name] = LISTS.includes(name) ? value.split(',').filter(Boolean) : value;
  }
  // Who opens a comparison wants to see what changed; who has chosen something gets that.
  if (!given.size && data.about && isCompared()) state.change = ['changes'];
}

function writeHash(patch) {
  const wanted = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...state, ...patch })) {
    const text = Array.isArray(value) ? value.join(',') : value;
    if (text) wanted.set(name, text);
  }
  // A comparison with no filter at all has to differ from one that was just opened.
  if (isCompared() && !wanted.size) wanted.set('all', '1');
  return `#${wanted}`;
}

// `quietly` takes the place of the entry in the history: typing and stepping are no steps back.
function change(patch, quietly) {
  const hash = writeHash(patch);
  if (hash === location.hash) return;
  if (quietly) history.replaceState(null, '', hash);
  else history.pushState(null, '', hash);
  follow();
}

function follow() {
  readState();
  for (const listener of listeners) listener();
}

const nameRow = (row) => [suiteOf(row), cells.case[row], targetOf(row)].join('\n');

// What is chosen when a row is opened; of none, when it is closed.
const opening = (row) => ({ case: row === undefined ? '' : nameRow(row), trial: '', side: '' });

let rowsByName = null;
function openRow() {
  if (!state.case) return -1;
  if (!rowsByName) rowsByName = new Map(cells.case.map((_, row) => [nameRow(row), row]));
  const row = rowsByName.get(state.case);
  return row === undefined ? -1 : row;
}

window.addEventListener('popstate', follow);
window.addEventListener('hashchange', follow);
