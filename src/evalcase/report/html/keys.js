// The keyboard: what a person who reads a hundred cases would rather not reach for the mouse for.

const KEYS = [
  ['/', 'search', () => bar.search.focus()],
  ['j', 'next case', () => stepCursor(1)],
  ['k', 'previous case', () => stepCursor(-1)],
  ['n', 'next case that did not pass', () => stepToTrouble(1)],
  ['N', 'the one before', () => stepToTrouble(-1)],
  ['Enter', 'open the case', () => openCursor()],
  ['Escape', 'close the case, or leave the search', () => (state.case ? leaveCase() : null)],
  ['+', 'label the answer: pass', () => pressLabel('pass')],
  ['-', 'label the answer: fail', () => pressLabel('fail')],
  ['?', 'this help', () => help.showModal()],
];
let help = null;

function stepToTrouble(step) {
  if (labels.blind) { stepCursor(step); return; }
  const at = findTrouble(step);
  if (at >= 0) moveCursor(at);
  else announce('All of these passed.');
}

function openCursor() {
  if (shown.lines.length) change(opening(shown.lines[list.cursor]));
}

function leaveCase() {
  closePanel();
  focusCursor();
}

function pressLabel(name) {
  const choice = panel.element.querySelector(`[data-label=${name}]`);
  if (choice) choice.click();
}

function drawHelp() {
  help = h('dialog.help', { 'aria-label': 'Keyboard' }, h('h2', 'Keyboard'),
    h('dl', KEYS.map(([key, what]) => [h('dt', h('kbd', key === 'Escape' ? 'Esc' : key)), h('dd', what)])),
    button('Close', { onclick: () => help.close() }));
  return help;
}

function handleKey(event) {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (target.matches('input, select, textarea')) {
    if (event.key === 'Escape') { target.blur(); focusCursor(); }
    return;
  }
  const arrows = { ArrowDown: 'j', ArrowUp: 'k' };
  const isInList = list.rows.contains(target);
  const name = (isInList && arrows[event.key]) || event.key;
  // A button or a link does itself what Enter means.
  if (name === 'Enter' && !isInList && target !== document.body) return;
  const found = KEYS.find(([key]) => key === name);
  if (!found) return;
  event.preventDefault();
  found[2]();
}
