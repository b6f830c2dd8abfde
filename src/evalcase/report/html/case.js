// One case at a target: what was asked, what was expected and said, how it was graded, what it took.

const panel = { element: null, row: -1, drawn: '' };

function drawPanel() {
  panel.element = h('section.panel', { tabindex: '-1', hidden: true, 'aria-label': 'Case' });
  return panel.element;
}

// The answer as it is compared with what is expected; undefined where there is none.
function textOf(trial) {
  if (!trial.answer || trial.text !== undefined) return trial.text;
  if (trial.data !== undefined) return trial.data;
  return trial.answer.findLast((message) => message.role === 'assistant' && message.parts).parts[0].text;
}

async function updatePanel() {
  const row = openRow();
  const wanted = row < 0 ? '' : [state.case, state.trial, state.side].join('\t');
  if (wanted === panel.drawn) return;
  const isOther = row !== panel.row;
  [panel.drawn, panel.row] = [wanted, row];
  panel.element.hidden = row < 0;
  document.body.classList.toggle('has-panel', row >= 0);
  if (row < 0) { panel.element.replaceChildren(); return; }
  const detail = await loadDetail(row);
  if (panel.drawn !== wanted) return; // another was opened while this one was unpacked
  panel.element.replaceChildren(drawTitle(row), detail ? drawCase(detail, row) : drawLeftOut(row));
  if (isOther) panel.element.scrollTop = 0;
  // The overview gives way to what was asked for.
  const below = panel.element.getBoundingClientRect().top - document.querySelector('.sticky').offsetHeight;
  if (!isNarrow() && below > 0) window.scrollBy(0, below);
  if (isOther && isNarrow()) panel.element.focus();
}

const closePanel = () => change(opening());

function drawTitle(row) {
  const step = (by, label, sign) => button(label, { class: 'plain', 'aria-label': label, title: label, onclick: () => moveCursor(list.cursor + by) }, sign);
  return h('header.title',
    h('div.line', drawMark(verdictOf(row)), h('h2', drawWord(cells.case[row])),
      h('nav', { 'aria-label': 'Cases' }, step(-1, 'Previous case', '↑'), step(1, 'Next case', '↓'), button('Close', { class: 'plain', 'aria-label': 'Close the case', title: 'Close (Esc)', onclick: closePanel }, '✕'))),
    h('p.fine', drawWord(suiteOf(row)), ' at ', drawWord(targetOf(row)),
      cells.tags[row].map((tag) => button('', { class: 'tag', onclick: () => change({ tag }) }, drawWord(tag))),
      cells.vars[row].filter(([name]) => isGrouped(name)).map((pair) => button('', { class: 'tag', onclick: () => change({ vars: nameValue(pair) }) }, drawWord(nameValue(pair))))),
    drawBeside(row));
}

function drawLeftOut(row) {
  return h('p.notice', `The detail of this case is not in this file: it passed, and the file was to stay below ${groupDigits(data.about.left_out.cap)} bytes. `,
    h('code', data.about.left_out.command), ' shows it.', cells.asked[row] && drawText(cells.asked[row]));
}

// The trial that is asked for, else the first that tells why the case has its verdict.
function chooseTrial(trials, row) {
  return trials.find((each) => String(each.repeat) === state.trial) || trials.find((each) => labels.blind || each.verdict === verdictOf(row)) || trials[0];
}

function drawCase(detail, row) {
  const trials = detail.trials.length ? detail.trials : detail.base || [];
  const trial = chooseTrial(trials, row);
  return h('div.body',
    detail.input === undefined && h('p.notice', 'The record does not have the case itself.'),
    detail.input && detail.input.length > 0 && [h('h3', 'Input'), drawMessages(detail.input, 'Input')],
    detail.user && [h('h3', 'User'), h('dl.facts', detail.user.map(([name, text]) => [h('dt', name), h('dd', drawText(text))]))],
    trials.length > 1 && drawTrials(detail, trials, trial),
    trial && drawTrial(detail, trial),
    detail.expected && (detail.reference === undefined || detail.expected.length > 1) && [h('h3', 'Expected output'), drawMessages(detail.expected, 'Expected output')],
    detail.facts && detail.facts.length > 0 && drawFold('The case: ' + detail.facts.map(([name]) => name).join(', '), h('dl.facts', detail.facts.map(([name, text]) => [h('dt', name), h('dd', drawText(text, name === 'about' || name === 'criteria' ? '' : 'json'))]))));
}

// Repeats folded: each different answer once, with the trials that gave it.
function drawTrials(detail, trials, active) {
  const groups = new Map();
  for (const trial of trials) {
    const name = trial.hash || `no answer ${trial.verdict}`;
    groups.set(name, [...(groups.get(name) || []), trial]);
  }
  const passed = trials.filter((trial) => trial.verdict === 'passed').length;
  const needed = detail.needed === undefined || detail.needed >= 1 ? 'all' : `${+round(detail.needed * 100, 1)}%`;
  const missing = detail.repeats > trials.length ? `, ${groupDigits(detail.repeats - trials.length)} more without a result` : '';
  return h('section.repeats', { 'aria-label': 'Trials' },
    h('p.fine', `${passed} of ${trials.length} trials passed, ${needed} needed${missing}; ${sayAnswers(new Set(trials.map((trial) => trial.hash).filter(Boolean)).size)}`),
    [...groups.values()].map((group) => h('div.answer-group', h('span.fine', group[0].hash ? `${group.length} ×` : 'no answer'),
      group.map((trial) => drawChip(trial === active, () => change({ trial: String(trial.repeat) }, true), drawMark(trial.verdict), `trial ${trial.repeat}`)))));
}

function drawTrial(detail, trial) {
  return h('section.trial', { 'aria-label': `Trial ${trial.repeat}` },
    h('p.measures', listMeasures(trial).map((told) => h('span', told))),
    (trial.retried || []).map((failure, at) => drawFailure(failure, `Attempt ${at + 1}`)),
    trial.failure && drawFailure(trial.failure, { skipped: 'Skipped', errored: 'Error' }[trial.verdict] || 'Failure'),
    trial.turns ? [listSides(detail, trial).length > 0 && drawSides(detail, trial), h('h3', 'Conversation'), drawTalk(detail, trial)] : drawSides(detail, trial),
    (trial.notices || []).map((said) => h('p.notice', said)),
    trial.stderr && h('div', h('h3', 'Standard error'), drawText(trial.stderr, 'json')),
    h('div.graded', drawGradings(trial, [detail.reference, textOf(trial)])),
    trial.changes && drawPatch(trial.changes), // it may be long, and the reasons are looked for first
    drawLabelling(detail, trial),
    trial.turns && drawBaseTalk(detail, trial),
    trial.answer && !trial.turns && listSides(detail, trial).length > 0 && !isPlain(trial) && [h('h3', 'Conversation'), drawMessages(trial.answer, 'Answer')],
    trial.steps && drawSteps(trial));
}

// What an agent changed in its workspace: a sentence, then a diff.
function drawPatch(changes) {
  const [told, ...lines] = changes.split('\n');
  const kinds = { '+': 'span.added', '-': 'span.removed' };
  let isHead = false; // from `diff --git` to the first `@@`
  return h('div.patch', h('h3', `Changed: ${told}`),
    lines.length > 0 && h('div.text.data', { dir: 'ltr', tabindex: '0' },
      lines.map((line) => {
        isHead = line.startsWith('diff ') || (isHead && !line.startsWith('@@'));
        return [h(isHead ? 'span.diff-head' : kinds[line[0]] || 'span', spellText(line)), '\n'];
      })));
}

// The same conversation as it went in the other run.
function drawBaseTalk(detail, trial) {
  const base = findBase(detail, trial);
  return base && base.turns && drawFold('The conversation in the base run', drawTalk(detail, base, true));
}

function listMeasures(trial) {
  const told = [];
  if (!isNone(trial.score)) told.push(h('span.score', `score ${sayScore(trial.score)}`));
  if (trial.verdict !== 'skipped') told.push(saySeconds(trial.seconds));
  if (trial.attempts > 1) told.push(`${trial.attempts} attempts`);
  if (!isNone(trial.cost)) told.push(sayMoney(trial.cost));
  if (trial.tokens) {
    const [given, said, cached] = trial.tokens;
    if (given !== null) told.push(`${groupDigits(given)} tokens in${cached ? `, ${groupDigits(cached)} cached` : ''}`);
    if (said !== null) told.push(`${groupDigits(said)} out`);
  }
  if (trial.model) told.push(drawWord(trial.model));
  if (trial.cached) told.push('given earlier');
  if (trial.earlier) told.push(`first took ${saySeconds(trial.earlier[0])}, ${sayMoney(trial.earlier[1])}`);
  if (trial.at) told.push(sayTime(trial.at));
  return told;
}

// Whether an answer is a text and nothing else.
const isPlain = (trial) => trial.answer.length === 1 && trial.data === undefined && !trial.answer[0].calls && !trial.answer[0].more;

// What was expected, or what the other run said, beside what was said.
const findBase = (detail, trial) => (detail.base && detail.base.length && detail.trials.length ? detail.base.find((each) => each.repeat === trial.repeat) || detail.base[0] : null);

function listSides(detail, trial) {
  const base = findBase(detail, trial);
  const sides = [];
  if (base && base.answer) sides.push(['base', 'Base', textOf(base)]);
  if (detail.reference !== undefined) sides.push(['expected', 'Expected', detail.reference]);
  return sides;
}

function drawSides(detail, trial) {
  const sides = listSides(detail, trial);
  const text = textOf(trial);
  if (text === undefined) return sides.length ? h('div', h('h3', sides[sides.length - 1][1]), drawText(sides[sides.length - 1][2])) : null;
  if (!sides.length) return [h('h3', 'Answer'), isPlain(trial) ? drawText(text) : drawMessages(trial.answer, 'Answer')];
  const chosen = sides.find(([name]) => name === state.side) || sides[0];
  const actual = isCompared() ? (detail.trials.length ? 'Head' : 'Base') : 'Actual';
  return h('div', {},
    sides.length > 1 && h('div.chips', { role: 'group', 'aria-label': 'Compare with' }, sides.map(([name, label]) => drawChip(name === chosen[0], () => change({ side: name }, true), label))),
    drawDiff(chosen[2], text, [chosen[1], actual], trial.nothing));
}

function drawGradings(trial, seen) {
  const whole = trial.turns ? trial.grades.filter((grade) => grade.turn === undefined) : trial.grades;
  if (!trial.gradings || trial.gradings.length < 2) return whole.length > 0 && [h('h3', trial.turns ? 'Grades of the whole' : 'Grades'), drawGrades(whole, seen, trial.nothing)];
  const last = trial.gradings[trial.gradings.length - 1];
  return [h('h3', `Grades, ${sayCount(trial.gradings.length, 'grading')}`),
    [...trial.gradings].reverse().map((grading) => h('details.grading', { open: grading === last },
      h('summary', drawMark(grading.verdict), `grading ${grading.number}, score ${sayScore(grading.score)}`), drawGrades(grading.grades, seen, trial.nothing)))];
}
