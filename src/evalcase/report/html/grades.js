// Grades as a tree: what each grader says, why, and what it says it by.

// `seen` is the pair of texts that stands above already; `nothing` stands for an answer without text.
function drawGrades(grades, seen, nothing) {
  return h('ul.grades', grades.map((grade) => h(grade.indicator ? 'li.indicator' : 'li', drawGrade(grade, seen, nothing))));
}

function drawGrade(grade, seen, nothing) {
  const more = [
    grade.failure && drawFailure(grade.failure, 'The grader broke'),
    grade.calls && drawPairs(grade.calls, ['expected', 'got'], 'calls'),
    grade.fields && drawPairs(grade.fields, ['field', 'expected', 'got'], 'fields'),
    grade.expected !== undefined && grade.got !== undefined && !(seen && seen[0] === grade.expected && seen[1] === grade.got) && drawDiff(grade.expected, grade.got, ['Expected', grade.where ? `Got, at ${grade.where}` : 'Got'], nothing),
    grade.criteria && h('ul.criteria', grade.criteria.map(drawCriterion)),
    grade.claims && h('ul.criteria', grade.claims.map((each) => drawCriterion({ ...each, text: each.claim }))),
    grade.votes && drawVotes(grade.votes),
    grade.grades && drawGrades(grade.grades, seen, nothing),
    grade.asked && h('p.fine', sayAsked(grade.asked)),
    grade.details && drawFold('details', drawText(grade.details, 'json')),
  ].filter(Boolean);
  const head = [drawMark(grade.verdict), drawWord(grade.grader, { class: 'grader' }), h('span.score', sayScore(grade.score)),
    grade.weight !== undefined && h('span.kind', `weight ${grade.weight}`), grade.required && h('span.kind', 'required'), grade.indicator && h('span.kind', 'indicator')];
  const reason = grade.reason && !grade.failure && h('div.reason', { dir: 'auto' }, spellText(grade.reason));
  if (!more.length) return h('div.grade', h('div.grade-head', head), reason);
  return h('details.grade', { open: grade.verdict !== 'passed' || Boolean(grade.criteria || grade.claims || grade.grades) }, h('summary.grade-head', head, reason), more);
}

// What was expected and what was there, row by row, as the grader aligned them.
function drawPairs(rows, names, label) {
  return drawScrolled(`${label}, side by side`, h('table.pairs',
    h('thead', h('tr', h('th', h('span.hidden', 'fits')), names.map((name) => h('th', name)))),
    h('tbody', rows.map((row) => {
      const fits = row.made !== undefined ? row.made === true : row.matches === true;
      return h('tr', { class: fits ? 'fits' : 'differs' }, h('td', drawMark(fits ? 'passed' : 'failed', fits ? 'fits' : 'differs')),
        names.map((name) => h('td', typeof row[name] === 'string' ? drawWord(row[name]) : h('span.nothing', name === 'got' ? row.note || 'not made' : 'not expected'),
          name === 'got' && typeof row[name] === 'string' && row.note && h('div.fine', drawWord(row.note)))));
    }))));
}

const VERDICT_OF = { met: 'passed', yes: 'passed', pass: 'passed', supported: 'passed', not_met: 'failed', no: 'failed', fail: 'failed', contradicted: 'failed', not_supported: 'failed' };

function drawCriterion(each) {
  const verdict = String(each.verdict === undefined ? '' : each.verdict);
  return h('li', drawMark(VERDICT_OF[verdict] || 'ungraded', verdict.replaceAll('_', ' ')), h('div', {},
    h('div', each.id && drawWord(String(each.id), { class: 'id' }), drawWord(String(each.text || '')), each.votes && typeof each.votes === 'string' && h('span.kind', each.votes.replaceAll('_', ' '))),
    each.reason && h('div.reason', { dir: 'auto' }, spellText(String(each.reason)))));
}

function drawVotes(votes) {
  return votes.map((vote) => {
    const told = [vote.judge, vote.model && vote.model !== vote.judge ? `(${vote.model})` : '', vote.mode ? `by ${String(vote.mode).replaceAll('_', ' ')}` : '', vote.cached === true ? 'from the cache' : '', vote.message || ''];
    const said = [...(vote.criteria || []), ...(vote.claims || []).map((each) => ({ ...each, text: each.claim }))];
    const line = h('span', 'judge ', drawWord(told.filter(Boolean).join(' ')));
    return votes.length > 1 && said.length ? h('details.fold', h('summary', line), h('ul.criteria', said.map(drawCriterion))) : h('p.fine', line);
  });
}

function sayAsked(asked) {
  const told = [`asked ${asked.count === 1 ? 'once' : `${asked.count} times`}`];
  if (asked.cached) told.push(`${asked.cached} from the cache`);
  if (asked.seconds !== null) told.push(saySeconds(asked.seconds));
  if (asked.tokens) told.push(`${asked.tokens.map((count) => (count === null ? '?' : groupDigits(count))).join(' + ')} tokens`);
  if (asked.cost !== null) told.push(sayMoney(asked.cost));
  return told.join(', ');
}
