// Pictures of the rows that are shown, as SVG of our own: each says in words what it shows.

const MOST_GROUPS = 6;

function figure(title, note, picture) {
  return h('figure', h('figcaption', h('strong', title), note && h('span.fine', note)), picture);
}

// Bars over ranges of a number, stacked by whether cases passed.
function drawHistogram(title, values, say, options) {
  const known = values.filter(([value]) => !isNone(value));
  if (known.length < 2) return null;
  const numbers = known.map(([value]) => value).sort((a, b) => a - b);
  const [low, high] = options.range || [numbers[0], Math.max(findPercentile(numbers, 99), numbers[0] + 1e-9)];
  const bins = Array.from({ length: 20 }, () => [0, 0]);
  for (const [value, passed] of known) {
    const at = Math.max(0, Math.min(19, Math.floor(((value - low) / (high - low || 1)) * 20)));
    bins[at][passed ? 0 : 1] += 1;
  }
  const most = Math.max(...bins.map(([a, b]) => a + b));
  const [width, height] = [200, 44];
  const bars = bins.map(([good, bad], at) => {
    const x = (at * width) / 20 + 0.75;
    const scale = (count) => (count ? Math.max(1, (count / most) * height) : 0);
    return [svg('rect.good', { x, y: height - scale(good), width: width / 20 - 1.5, height: scale(good) }),
      svg('rect.bad', { x, y: height - scale(good) - scale(bad), width: width / 20 - 1.5, height: scale(bad) })];
  });
  const words = options.words(numbers);
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title}: ${words}`, class: 'histogram' },
    svg('line.axis', { x1: 0, x2: width, y1: height, y2: height }), bars);
  // Beside the picture, and not in it: it grows with the room that there is, and its text would.
  const ends = h('p.ends', h('span', say(low)), h('span', say(high) + (options.range || numbers[numbers.length - 1] <= high ? '' : ' +')));
  return figure(title, words, [picture, ends]);
}

// A rate with its interval, as the report has it of the same cases. Of others it is that of Wilson;
// null where that does not hold: for one case, for cases that come once for each target or in
// clusters, and for a run that was ended by what it saw.
function rateGroup({ passed, count, shared }, known) {
  if (known && known.n === count && known.passed === passed) return [known.rate, known.low, known.high];
  const { interval, cluster } = data.about.run.figures;
  const [share, low, high] = estimateRate(passed, count);
  return count < 2 || shared || cluster || interval !== 'wilson' ? [share, null, null] : [share, low, high];
}

// The first of some items, and the others where somebody asks for them.
function drawFirst(items) {
  const more = items.slice(MOST_GROUPS);
  return [h('ul.rates', items.slice(0, MOST_GROUPS)), more.length > 0 && h('details.fold', h('summary', `${groupDigits(more.length)} more`), h('ul.rates', more))];
}

// A rate for each of some groups, with its interval: which differ, and which only seem to.
function drawRates(title, groups, known, pick) {
  if (groups.length < 2) return null;
  let intervals = 0;
  const rows = groups.map((group) => {
    const { name, count } = group;
    const [share, low, high] = rateGroup(group, known[name]);
    const told = `${sayPercent(share)} of ${groupDigits(count)}`;
    intervals += low === null ? 0 : 1;
    const picture = svg('svg', { viewBox: '0 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      svg('line.axis', { x1: 0, x2: 100, y1: 6, y2: 6 }), low !== null && svg('rect.interval', { x: low * 100, y: 3.5, width: Math.max(0.8, (high - low) * 100), height: 5, rx: 1 }),
      svg('rect.point', { x: Math.max(0, Math.min(98.8, share * 100 - 0.6)), y: 0.5, width: 1.2, height: 11 }));
    return h('li', button('', { class: 'rate', title: told + (low === null ? ', without an interval' : `; 95% interval ${sayPercent(low)} to ${sayPercent(high)}`), onclick: () => pick(name) }, drawName(name, { class: 'name' }), h('span.told', told), picture));
  });
  const cut = groups.length > MOST_GROUPS ? `the ${MOST_GROUPS} lowest of ${groups.length}` : '';
  return figure(title, cut || (intervals ? 'with 95% intervals' : ''), drawFirst(rows));
}

function countGroups(rows, namesOf) {
  const groups = new Map();
  for (const row of rows) {
    for (const name of wasTried(row) ? namesOf(row) : []) {
      const group = groups.get(name) || { name, passed: 0, count: 0, shared: false, targets: {} };
      const [suite, target] = [cells.suite[row], cells.target[row]];
      group.targets[suite] ??= target;
      group.shared ||= group.targets[suite] !== target;
      group.passed += verdictOf(row) === 'passed' ? 1 : 0;
      group.count += 1;
      groups.set(name, group);
    }
  }
  return [...groups.values()].sort((a, b) => a.passed / a.count - b.passed / b.count || b.count - a.count);
}

function drawCounts(title, counts, pick) {
  const most = Math.max(...counts.map(([, count]) => count));
  if (!counts.length) return null;
  const cut = counts.length > MOST_GROUPS ? `, the ${MOST_GROUPS} most frequent of ${counts.length}` : '';
  return figure(title, `cases each${cut}`, drawFirst(counts.map(([name, count]) => h('li', button('', { class: 'rate', onclick: () => pick(name) }, drawName(name, { class: 'name' }), h('span.told', groupDigits(count)),
    svg('svg', { viewBox: '0 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, svg('rect.bad', { x: 0, y: 3, width: (100 * count) / most, height: 6 })))))));
}

const sayMiddle = (say) => (sorted) => `median ${say(findMedian(sorted))}, 95% within ${say(findPercentile(sorted, 95))}`;

// Nobody waits for less than a millisecond: where none takes more, there is nothing to see.
function drawLatency(values) {
  if (!values.some(([seconds]) => seconds >= 0.001)) return null;
  return drawHistogram('Latency', values, saySeconds, { words: sayMiddle(saySeconds) });
}

function drawCharts() {
  // Of cases that are shown because they changed, a rate says nothing: charts are of the others, too.
  const rows = isCompared() ? selectRows('change') : shown.rows;
  const { by_tag: tags, by_target: targets, by_suite: suites, by_vars: variables } = data.about.run.figures;
  const passed = (row) => verdictOf(row) === 'passed';
  const pairs = (name) => rows.map((row) => [cells[name][row], passed(row)]);
  const failing = new Map();
  for (const row of rows) for (const grader of cells.failing[row]) failing.set(grader, (failing.get(grader) || 0) + 1);
  return [
    isCompared() && drawScatter(rows),
    drawRates('Pass rate by tag', countGroups(rows, (row) => cells.tags[row]), tags, (tag) => change({ tag })),
    ...groupVariables().map(([name]) => drawRates(`Pass rate by ${name}`, countGroups(rows, (row) => cells.vars[row].filter(([each]) => each === name).map(([, value]) => value)), variables[name] || {}, (value) => change({ vars: nameValue([name, value]) }))),
    drawRates('Pass rate by target', countGroups(rows, (row) => [targetOf(row)]), targets, (target) => change({ target })),
    drawRates('Pass rate by suite', countGroups(rows, (row) => [suiteOf(row)]), suites, (suite) => change({ suite })),
    drawCounts('Failed by grader', [...failing].sort((a, b) => b[1] - a[1]), (grader) => change({ grader })),
    drawHistogram(isCompared() ? 'Scores of head' : 'Scores', pairs('score'), sayScore, { range: [0, 1], words: (sorted) => `mean ${sayScore(sorted.reduce((a, b) => a + b, 0) / sorted.length)} of ${sayCases(sorted.length)}` }),
    drawLatency(rows.flatMap((row) => cells.took[row].map((seconds) => [seconds, passed(row)]))),
    drawHistogram('Cost', pairs('cost'), sayMoney, { words: (sorted) => `${sayMoney(sorted.reduce((a, b) => a + b, 0))} in all, median ${sayMoney(findMedian(sorted))} a case` }),
  ].filter(Boolean);
}
