// What was done on the way to an answer, as a tree: how long each step took, and what failed.

function drawSteps(trial) {
  const root = h('ul.steps', { 'aria-label': 'Steps' });
  const open = [root];
  for (const step of trial.steps) {
    open.length = Math.min(step.depth, open.length - 1) + 1;
    const inner = h('ul');
    open[open.length - 1].append(h('li', drawStep(step), inner));
    open.push(inner);
  }
  root.querySelectorAll('ul:empty').forEach((empty) => empty.remove());
  const failed = trial.steps.filter((step) => step.error !== undefined).length;
  const left = trial.stepsCut ? h('p.fine', `and ${groupDigits(trial.stepsCut)} more, which are not kept`) : null;
  return drawFold(`Steps: ${trial.steps.length}${failed ? `, ${failed} failed` : ''}`, [root, left]);
}

function drawStep(step) {
  const [given, said] = step.tokens || [];
  return h('div.step', drawWord(step.name), step.kind !== 'other' && h('span.kind', step.kind),
    h('span.fine', saySeconds(step.seconds)),
    step.tokens && h('span.fine', `${isNone(given) ? '?' : groupDigits(given)} tokens in, ${isNone(said) ? '?' : groupDigits(said)} out`),
    step.given && h('code.given', spellText(step.given)),
    step.error !== undefined && h('span.step-error', step.error ? ['failed: ', spellText(step.error)] : 'failed'));
}
