// Two runs in one page: what is said of both, and what became of each case.

const CHANGE_SHAPES = {
  fixed: 'M8 2l6 8H2z', broken: 'M8 14L2 6h12z', changed: 'M2 6h12M2 10h12', added: 'M8 2v12M2 8h12', removed: 'M2 8h12', same: 'M3 8h10',
};

function drawChange(name) {
  return svg('svg', { class: `change-mark ${name}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' }, svg('path', { d: CHANGE_SHAPES[name] || CHANGE_SHAPES.same }));
}

// How a number differs from that of the other run, where it does.
function drawDelta(row, name, say) {
  const base = cells[`base_${name}`];
  const now = cells[name][row];
  if (!base || base[row] === null || now === null || say(base[row]) === say(now)) return null;
  const delta = now - base[row];
  return h('span', { class: `delta ${delta > 0 ? 'up' : 'down'}` }, `${delta > 0 ? '+' : '-'}${say(Math.abs(delta))}`);
}

// Each case by its score in both runs: below the line it got worse.
function drawScatter(rows) {
  const { score, base_score: before } = cells;
  const points = new Map();
  const both = rows.filter((row) => score[row] !== null && before[row] !== null);
  for (const row of both) {
    const name = `${before[row].toFixed(2)} ${score[row].toFixed(2)}`;
    points.set(name, (points.get(name) || 0) + 1);
  }
  if (points.size < 2) return null;
  const most = Math.max(...points.values());
  const dots = [...points].map(([name, count]) => {
    const [x, y] = name.split(' ').map(Number);
    return svg('circle', { class: y < x ? 'bad' : (y > x ? 'good' : 'even'), cx: 8 + x * 124, cy: 132 - y * 124, r: 1.5 + 4.5 * Math.sqrt(count / most) });
  });
  const worse = both.filter((row) => score[row] < before[row]).length;
  const better = both.filter((row) => score[row] > before[row]).length;
  const words = `${groupDigits(better)} higher, ${groupDigits(worse)} lower`;
  return figure('Score, base against head', words, svg('svg', { viewBox: '0 -12 140 164', role: 'img', 'aria-label': `Score, base against head: ${words}`, class: 'scatter' },
    svg('rect.frame', { x: 4, y: 4, width: 132, height: 132 }), svg('line.axis', { x1: 8, y1: 132, x2: 132, y2: 8 }), dots,
    svg('text.right', { x: 134, y: 148 }, 'base'), svg('text', { x: 4, y: -1 }, 'head')));
}

function drawComparison() {
  const { comparison } = data.about;
  return h('section.comparison', { 'aria-label': 'Comparison' },
    comparison.sentences.map((text) => h('p.sentence', drawWord(text))),
    comparison.sides.map((text) => h('p.fine', drawWord(text))),
    comparison.warnings.map((text) => h('p.notice', drawWord(text))),
    h('div.tracks', comparison.tracks.map((track) => h('div', {},
      track.title && h('h3', drawWord(track.title)), h('p', track.counts),
      track.tables.length > 0 && drawScrolled('Figures', track.tables.map(([head, ...rows]) => h('table.figures',
        h('thead', h('tr', head.map((name) => (name ? h('th', { scope: 'col' }, name) : h('td'))))),
        h('tbody', rows.map(([name, ...values]) => h('tr', name ? h('th', { scope: 'row' }, drawWord(name)) : h('td'), values.map((value) => h('td', value)))))))),
      track.notes.map((text) => h('p.fine', text))))));
}
