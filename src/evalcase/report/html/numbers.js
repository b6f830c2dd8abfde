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
// To so many decimals, as the terminal rounds: of two that are as near, the even one.
function round(number, decimals) {
  const up = number.toFixed(decimals);
  const isBetween = Math.abs(number * 2 ** (decimals + 1)) % 2 === 1;
  return isBetween && up.at(-1) % 2 ? up.slice(0, -1) + (up.at(-1) - 1) : up;
}
// 100.0% is only for all, and 0.0% only for none.
function sayPercent(share) {
  return `${round(share === 0 || share === 1 ? share * 100 : Math.min(99.9, Math.max(0.1, share * 100)), 1)}%`;
}
// A share and its bounds, where it has any.
const sayRate = ([share, low, high], what = '') => sayPercent(share) + what + (low === null ? '' : ` (${sayPercent(low)} to ${sayPercent(high)})`);
const sayCount = (count, noun) => `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
const sayScore = (score) => (isNone(score) ? '–' : round(score, 2));

function saySeconds(seconds) {
  if (isNone(seconds)) return '–';
  if (seconds < 0.001) return '<1 ms';
  if (seconds < 1) return `${round(seconds * 1000, 0)} ms`;
  if (seconds < 120) return `${round(seconds, seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${round(minutes / 60, 1)} h`;
}

function sayMoney(usd) {
  if (isNone(usd)) return '–';
  if (usd === 0) return '$0';
  return `$${usd >= 1 ? round(usd, 2) : Number(usd.toPrecision(2)).toString()}`;
}

function sayTime(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString().slice(0, 16).replace('T', ' ') + ' UTC';
}

// Of a sorted list, the middle one, or the mean of the two: as every report has it.
function findMedian(sorted) {
  const { length } = sorted;
  return length ? (sorted[Math.floor((length - 1) / 2)] + sorted[Math.floor(length / 2)]) / 2 : null;
}
// The smallest that so many percent are not above: always one that was measured.
function findPercentile(sorted, percent) {
  return sorted.length ? sorted[Math.max(0, Math.ceil((percent * sorted.length) / 100) - 1)] : null;
}

const knownIn = (rows, column) => rows.map((row) => column[row]).filter((value) => !isNone(value));
