// Two texts in, what is the same and what is not out: the shortest edit, by words (Myers, 1986).
// Where that takes too long it goes by lines, and says so.

const MOST_EDITS = 2000;
const MOST_WORDS = 20000;

function splitWords(text) {
  return Array.from(new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text), (piece) => piece.segment);
}

const splitLines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) || [];

// Pairs of positions that are equal, in order; null if it takes more than `most` edits.
function matchTokens(left, right, most) {
  const [n, m] = [left.length, right.length];
  const limit = Math.min(most, n + m);
  const furthest = new Int32Array(2 * limit + 3);
  const middle = limit + 1;
  const trace = [];
  for (let d = 0; d <= limit; d += 1) {
    trace.push(furthest.slice(middle - d, middle + d + 1));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && furthest[middle + k - 1] < furthest[middle + k + 1]);
      let x = down ? furthest[middle + k + 1] : furthest[middle + k - 1] + 1;
      let y = x - k;
      while (x < n && y < m && left[x] === right[y]) { x += 1; y += 1; }
      furthest[middle + k] = x;
      if (x >= n && y >= m) return walkBack(trace, d, n, m);
    }
  }
  return null;
}

function walkBack(trace, edits, n, m) {
  const pairs = [];
  let [x, y] = [n, m];
  for (let d = edits; d > 0; d -= 1) {
    const before = trace[d]; // as it was when step d began; diagonal k is at k + d
    const k = x - y;
    const at = (diagonal) => { const place = diagonal + d; return place >= 0 && place < before.length ? before[place] : -1; };
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const from = down ? k + 1 : k - 1;
    const [px, py] = [at(from), at(from) - from];
    while (x > px && y > py && (down ? x > px : x > px + 1)) { x -= 1; y -= 1; pairs.push([x, y]); }
    [x, y] = [px, py];
  }
  while (x > 0 && y > 0) { x -= 1; y -= 1; pairs.push([x, y]); }
  return pairs.reverse();
}

// Runs of `[same, left text, right text]`.
function diffTokens(left, right, most) {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const [a, b] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  const pairs = matchTokens(a, b, most);
  if (!pairs) return null;
  const runs = [];
  const add = (same, one, other) => {
    if (!one && !other) return;
    const last = runs[runs.length - 1];
    if (last && last[0] === same) { last[1] += one; last[2] += other; } else runs.push([same, one, other]);
  };
  add(true, left.slice(0, start).join(''), left.slice(0, start).join(''));
  let [x, y] = [0, 0];
  for (const [px, py] of pairs) {
    add(false, a.slice(x, px).join(''), b.slice(y, py).join(''));
    add(true, a[px], b[py]);
    [x, y] = [px + 1, py + 1];
  }
  add(false, a.slice(x).join(''), b.slice(y).join(''));
  const tail = left.slice(left.length - end).join('');
  add(true, tail, tail);
  return joinScraps(runs);
}

// A blank or a comma that two differences have in common is not worth an interruption.
function joinScraps(runs) {
  const joined = [];
  runs.forEach(([same, one, other], at) => {
    const last = joined[joined.length - 1];
    const isScrap = same && at > 0 && at < runs.length - 1 && /^[\s\p{P}]{1,3}$/u.test(one) && !one.includes('\n');
    if (last && !last[0] && (isScrap || !same)) { last[1] += one; last[2] += other; } else joined.push([same && !isScrap, one, other]);
  });
  return joined;
}

// The runs, and a remark on how they were found.
function diffTexts(left, right) {
  if (left === right) return { runs: [[true, left, right]], remark: '' };
  const words = [splitWords(left.slice(0, 200000)), splitWords(right.slice(0, 200000))];
  const isShort = left.length <= 200000 && right.length <= 200000 && Math.max(words[0].length, words[1].length) <= MOST_WORDS;
  const byWord = isShort && diffTokens(words[0], words[1], MOST_EDITS);
  if (byWord) return { runs: byWord, remark: '' };
  const byLine = diffTokens(splitLines(left), splitLines(right), MOST_EDITS);
  if (byLine) return { runs: byLine, remark: 'Too different to compare word by word: lines are compared.' };
  return { runs: [[false, left, right]], remark: 'Too different to compare: both are shown whole.' };
}

// Two texts side by side with what differs marked. `nothing` stands for a second one that can't be seen.
function drawDiff(left, right, labels, nothing) {
  const { runs, remark } = diffTexts(left, right);
  const alike = runs.filter(([same]) => same).reduce((sum, [, one]) => sum + one.length, 0);
  // Marks everywhere would say no more than none.
  const isAlike = alike * 4 > Math.min(left.length, right.length);
  const side = (at, tag) => drawPlace(isData([left, right][at]), runs.map(([same, ...texts]) => {
    if (!texts[at]) return null;
    return same || !isAlike ? spellText(texts[at]) : h(tag, spellText(texts[at]));
  }));
  const column = (at, tag, text) => h('div', { class: `side ${tag}-side` }, h('h4', labels[at]), drawBlank(text, at && nothing) || side(at, tag));
  const told = left === right ? 'They are the same.' : (!isAlike && left && right ? 'They have little in common, so nothing is marked.' : '');
  return h('div.diff', column(0, 'del', left), column(1, 'ins', right), (remark || told) && h('p.remark', remark || told));
}
