// A conversation as one reads it: turn by turn, what was said and answered, and beside each turn what
// the graders say of it.

const sayTokens = (tokens) => (tokens ? [['in', tokens[0]], ['out', tokens[1]]].filter(([, count]) => !isNone(count)).map(([way, count]) => `${groupDigits(count)} tokens ${way}`) : []);

function drawTalk(detail, trial, isOther) {
  let at = 0;
  const turns = trial.turns.map((turn, index) => {
    const messages = trial.answer.slice(at, at += turn.said + turn.answered);
    return drawTurn(turn, index + 1, messages, isOther ? [] : trial.grades.filter((grade) => grade.turn === index + 1), (detail.script || [])[index]);
  });
  return h('section.talk', { 'aria-label': 'Conversation' }, turns, drawEnding(trial));
}

function drawTurn(turn, number, messages, grades, script) {
  const took = [saySeconds(turn.seconds), !isNone(turn.cost) && sayMoney(turn.cost), ...sayTokens(turn.tokens)].filter(Boolean).join(', ');
  const facts = (script && script.facts) || [];
  const wanted = script && (script.expected || facts.length > 0);
  return h('section.turn', { 'aria-label': `Turn ${number}` },
    h('h4', `Turn ${number}`, h('span.fine', ` ${took}`)),
    h('div.beside',
      h('div.said', messages.map((message) => drawMessage(message, true))),
      (wanted || grades.length > 0) && h('div.judged',
        h('div.graded', grades.length > 0 && drawGrades(grades.map((grade) => ({ ...grade, grader: grade.grader.replace(`turn ${number}: `, '') })), null, turn.nothing)),
        script && script.expected && drawFold('expected', drawMessages(script.expected, `Expected of turn ${number}`)),
        facts.map(([name, text]) => drawFold(name, drawText(text, 'json'))))));
}

function drawEnding(trial) {
  const { ending, user } = trial;
  return [ending && h('p.ending', `It ended because ${ending}.`),
    user && h('p.fine', 'The user was played by ', drawWord(user.by), `: ${sayAsked(user)}`)];
}
