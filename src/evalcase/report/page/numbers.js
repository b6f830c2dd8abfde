// Numbers as people read them, and the few figures that follow what is filtered.

const Z = 1.959963984540054;
const isNone = (value) => value === null || value === undefined;

// The interval of Wilson for k of n; null of nothing.
function estimateRate(k, n) {
  if (!n) return null;
  const share = k / n;
  const shrink = 1 + Z * Z / n;
  const middle = (share + Z * Z / (2 * n)) / shrink;
  const half = (Z / shrink) * Math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));
  return [share, k === 0 ? 0 : Math.max(0, middle - half), k === n ? 1 : Math.min(1, middle + half)];
}

const groupDigits = (number) => number.toLocaleString('en');
// All but never are 100 % and 0 % what is rounded to it.
function sayPercent(share) {
  const rounded = (share * 100).toFixed(1);
  if (rounded === '100.0') return share === 1 ? '100%' : '99.9%';
  if (rounded === '0.0') return share === 0 ? '0%' : '0.1%';
  return `${rounded}%`;
}
// A share and its bounds, where it has any.
const sayRate = ([share, low, high], what = '') => sayPercent(share) + what + (low === null ? '' : ` (${sayPercent(low)} to ${sayPercent(high)})`);
const sayCount = (count, noun) => `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
const sayScore = (score) => (isNone(score) ? '–' : score.toFixed(2));

function saySeconds(seconds) {
  if (isNone(seconds)) return '–';
  if (seconds < 0.001) return '<1 ms';
  if (seconds < 1) return `${(seconds * 1000).toFixed(0)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}

function sayMoney(usd) {
  if (isNone(usd)) return '–';
  if (usd === 0) return '$0';
  return `$${usd >= 1 ? usd.toFixed(2) : Number(usd.toPrecision(2)).toString()}`;
}

function sayTime(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString().slice(0, 16).replace('T', ' ') + ' UTC';
}

// The value below which a share of a sorted list lies.
function quantile(sorted, share) {
  if (!sorted.length) return null;
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

const knownIn = (rows, column) => rows.map((row) => column[row]).filter((value) => !isNone(value));
