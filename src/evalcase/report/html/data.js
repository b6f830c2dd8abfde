// What is in the page, unpacked when it is needed: the run, its columns, and the details of cases in
// chunks. Base64 and gzip, so that ten thousand cases are some megabytes and one long string each.

const CHUNKS_HELD = 12;

function readBytes(id) {
  const place = document.getElementById(id);
  if (!place) return null;
  const text = place.content.textContent;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

// The value of a part of the page; a promise of it where it is compressed. What is small is not, so that
// it is drawn before the page counts as loaded.
function unpack(id) {
  const bytes = readBytes(id);
  if (!bytes) return null;
  return bytes[0] === 0x1f ? inflate(bytes) : JSON.parse(new TextDecoder().decode(bytes));
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

// `about` is what is said of the run, `columns` has a list for each name, a value for each row.
const data = { about: null, columns: {}, count: 0, chunks: new Map(), live: new Map() };
const cells = data.columns;

const isPromise = (value) => value instanceof Promise;
const whenKnown = (value, use) => (isPromise(value) ? value.then(use) : use(value));

// Read the run and its rows; at once, or by a promise where they are compressed.
function loadData() {
  const blocks = [...document.querySelectorAll('template[id^="rows"]')].map(({ id }) => unpack(id));
  const parts = [unpack('run'), ...blocks];
  return whenKnown(parts.some(isPromise) ? Promise.all(parts) : parts, ([about, ...known]) => {
    data.about = about;
    for (const name in known[0]) cells[name] = known.flatMap((block) => block[name]);
    countData();
  });
}

// How many rows there are, and what they name, each once.
function countData() {
  const list = (name) => [...new Set(cells[name].flat())];
  Object.assign(data, { count: cells.case.length, suites: list('suite'), targets: list('target'), tags: list('tags'), graders: list('failing') });
}

// A chunk, from among those that were opened last.
function loadChunk(number) {
  if (data.live.has(number)) return data.live.get(number);
  const known = data.chunks.get(number);
  const chunk = known || unpack(`c${number}`);
  data.chunks.delete(number);
  data.chunks.set(number, chunk);
  if (data.chunks.size > CHUNKS_HELD) data.chunks.delete(data.chunks.keys().next().value);
  return chunk;
}

// What is shown of a row when it is opened; null where it was left out of the file.
async function loadDetail(row) {
  const chunk = await loadChunk(cells.chunk[row]);
  return chunk ? chunk[cells.place[row]] : null;
}

const suiteOf = (row) => cells.suite[row];
const targetOf = (row) => cells.target[row];
const verdictOf = (row) => cells.verdict[row];
const wasTried = (row) => !['skipped', 'absent', 'unfinished'].includes(verdictOf(row));
const isCompared = () => Boolean(data.about.base);

// What is a word of ours, and not of a person or a model.
const NO_TEXT = new Set(['hash', 'at', 'verdict', 'role']);

function holdsWord(value, word) {
  if (typeof value === 'string') return value.toLowerCase().includes(word);
  if (value === null || typeof value !== 'object') return false;
  for (const name in value) if (!NO_TEXT.has(name) && holdsWord(value[name], word)) return true;
  return false;
}

// The index alone: names and excerpts. It answers at once.
function rowHolds(row, word) {
  return [cells.case[row], cells.asked[row], cells.reason[row], suiteOf(row), targetOf(row)]
    .some((text) => text.toLowerCase().includes(word));
}

// All text of all cases, chunk by chunk; `found` is told of rows as they are found, and `isOver` is
// asked between chunks whether anybody still waits.
async function searchText(words, found, isOver) {
  const rows = new Map();
  cells.chunk.forEach((number, row) => {
    if (!rows.has(number)) rows.set(number, []);
    rows.get(number).push(row);
  });
  for (const [number, inside] of rows) {
    const chunk = await (data.live.get(number) || data.chunks.get(number) || unpack(`c${number}`));
    if (isOver()) return;
    const hits = inside.filter((row) => words.every((word) => rowHolds(row, word) || (chunk && holdsWord(chunk[cells.place[row]], word))));
    found(hits);
  }
}
