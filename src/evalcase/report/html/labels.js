// What a person says of answers. It stays in this browser until it is exported, as the file that
// `evalcase calibrate` reads; nothing is ever sent.

const labels = { known: new Map(), by: '', blind: false, count: null, button: null };
const labelsKey = () => `evalcase labels ${data.about.run.name}`;

// A browser may refuse to store anything: then labels last as long as the page.
function readStore(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

function writeStore(key, text) {
  try { localStorage.setItem(key, text); } catch { announce('This browser keeps nothing: export your labels before you leave.'); }
}

function loadLabels() {
  labels.by = readStore('evalcase by') || '';
  setBlind(!isCompared() && readStore('evalcase blind') === 'yes');
  try {
    for (const label of JSON.parse(readStore(labelsKey()) || '[]')) labels.known.set(nameLabel(label), label);
  } catch { labels.known.clear(); }
}

const nameLabel = (label) => [label.suite, label.case, label.target, label.answer_hash].join('\n');

function setLabel(detail, trial, passed, note) {
  const label = { suite: detail.suite, case: detail.case, target: detail.target, answer_hash: trial.hash, passed, by: labels.by, repeat: trial.repeat };
  if (note) label.note = note;
  const known = labels.known.get(nameLabel(label));
  // The same word once more takes it back.
  if (known && known.passed === passed && (known.note || '') === (note || '')) labels.known.delete(nameLabel(label));
  else labels.known.set(nameLabel(label), label);
  keepLabels();
}

function keepLabels() {
  writeStore(labelsKey(), JSON.stringify([...labels.known.values()]));
  updateLabels();
}

function updateLabels() {
  labels.button.hidden = !labels.known.size;
  labels.count.textContent = labels.known.size;
}

function setName(name) {
  labels.by = name.trim();
  writeStore('evalcase by', labels.by);
  labels.known.forEach((label) => { label.by = labels.by; });
  keepLabels();
}

// Who sees what the graders said agrees with them more than who doesn't: all of it can be hidden
// until an answer is labelled, and cases then stand in an order that tells nothing.
function setBlind(isOn) {
  labels.blind = isOn;
  document.body.classList.toggle('blind', isOn);
}

function chooseBlind(isOn) {
  setBlind(isOn);
  writeStore('evalcase blind', isOn ? 'yes' : '');
  panel.drawn = '';
  if (isOn) change({ verdict: [], grader: '', sort: '' }, true);
  drawPageTitle();
  update();
}

function exportLabels() {
  // Two people without a name would be one.
  if (!labels.by) { setName(window.prompt('Your name, to stand beside your labels:') || ''); panel.drawn = ''; updatePanel(); }
  if (!labels.by) { announce('Labels need your name; nothing was exported.'); return; }
  const lines = [...labels.known.values()].map((label) => `${JSON.stringify(label)}\n`);
  const address = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
  h('a', { href: address, download: 'labels.jsonl' }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  announce(`${sayCount(labels.known.size, 'label')} exported to labels.jsonl`);
}

function drawExport() {
  labels.count = h('span.count');
  labels.button = button('', { class: 'plain', onclick: exportLabels, title: 'A file for `evalcase calibrate --labels`' }, 'Export labels ', labels.count);
  updateLabels();
  return labels.button;
}

function drawLabelling(detail, trial) {
  panel.element.classList.toggle('labelled', !trial.hash);
  if (!trial.hash) return null;
  const known = () => labels.known.get(nameLabel({ ...detail, answer_hash: trial.hash }));
  const choices = new Map();
  const update = () => {
    choices.forEach((element, passed) => element.setAttribute('aria-pressed', known()?.passed === passed));
    panel.element.classList.toggle('labelled', Boolean(known()));
  };
  const note = h('input', { type: 'text', placeholder: 'Note', 'aria-label': 'Note on this answer', value: known()?.note,
    onchange: () => { if (known()) { setLabel(detail, trial, known().passed, note.value.trim()); update(); } } });
  const by = h('input', { type: 'text', placeholder: 'Your name', 'aria-label': 'Your name', value: labels.by,
    onchange: () => setName(by.value) });
  for (const passed of [true, false]) {
    choices.set(passed, button('', { class: `chip ${passed ? 'passed' : 'failed'}`, 'aria-pressed': 'false', 'data-label': passed ? 'pass' : 'fail',
      onclick: () => { setLabel(detail, trial, passed, note.value.trim()); update(); } }, drawMark(passed ? 'passed' : 'failed', ''), passed ? 'pass' : 'fail'));
  }
  update();
  return h('div.labelling', { role: 'group', 'aria-label': 'Your label for this answer' }, h('span', 'Your label'), [...choices.values()], note, by,
    !isCompared() && drawChip(labels.blind, () => chooseBlind(!labels.blind), 'Label blind'),
    h('span.fine', labels.blind ? 'Verdicts and reasons are hidden until you have labelled the answer.' : 'You can see the verdict, which may influence your label.'));
}
