// Elements are made here and nowhere else. What comes from a record is only ever text: no markup is
// parsed, and the policy of the page would refuse it.

const SVG = 'http://www.w3.org/2000/svg';

// `name` is that of the element with its classes, `p.fine`; its attributes come first among the
// kids, where it has any.
function h(name, ...kids) {
  const [tag, ...classes] = name.split('.');
  return fill(document.createElement(tag), classes, kids);
}

function svg(name, ...kids) {
  const [tag, ...classes] = name.split('.');
  return fill(document.createElementNS(SVG, tag), classes, kids);
}

function fill(element, classes, kids) {
  const props = kids[0]?.constructor === Object ? kids.shift() : {};
  if (classes.length) element.setAttribute('class', classes.join(' '));
  for (const [name, value] of Object.entries(props)) {
    if (isNone(value) || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...flatten(kids));
  return element;
}

const flatten = (kids) => kids.flat(Infinity).filter((kid) => !isNone(kid) && kid !== false && kid !== '');

function button(label, props, ...kids) {
  return h('button', { type: 'button', ...props }, kids.length ? kids : label);
}

// A choice that is on or off.
const drawChip = (isOn, onclick, ...kids) => button('', { class: 'chip', 'aria-pressed': String(isOn), onclick }, kids);

// One shape for each verdict, so that nothing rests on colour alone.
const SHAPES = {
  passed: ['M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1z', 'M4.8 8.3l2.2 2.2 4.3-4.6'],
  failed: ['M3 1.5h10A1.5 1.5 0 0 1 14.5 3v10a1.5 1.5 0 0 1-1.5 1.5H3A1.5 1.5 0 0 1 1.5 13V3A1.5 1.5 0 0 1 3 1.5z', 'M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4'],
  errored: ['M8 1.2l7.2 13H.8z', 'M8 6v4M8 11.9v.4'],
  ungraded: ['M8 .8L15.2 8 8 15.2.8 8z', 'M6.3 6.6a1.8 1.8 0 1 1 2.4 1.7c-.5.2-.7.5-.7 1.1M8 11.3v.3'],
  skipped: ['M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1z', 'M4.8 8h6.4'],
  unfinished: ['M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1z', 'M8 4.4V8l2.4 1.6'],
  absent: ['M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1z', ''],
};

const VERDICTS = Object.keys(SHAPES);

function drawMark(verdict, label) {
  const [outline, sign] = SHAPES[verdict] || SHAPES.unfinished;
  const told = label === undefined ? verdict : label;
  return svg('svg', { class: `mark ${verdict}`, viewBox: '0 0 16 16', ...(told ? { role: 'img', 'aria-label': told } : { 'aria-hidden': 'true' }) },
    svg('path.outline', { d: outline }), svg('path.sign', { d: sign }));
}

// In `evalcase view` the name leads to the list of all runs.
const drawBrand = (home) => (home ? h('a.brand', { href: home }, 'evalcase') : h('span.brand', 'evalcase'));

// What is wider than its place can be scrolled, also by keyboard.
const drawScrolled = (label, table) => h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': label }, table);

// Where changes are told to who does not see them.
const drawLive = () => h('p.hidden', { id: 'live', 'aria-live': 'polite' });

function announce(text) {
  const place = document.getElementById('live');
  if (place && place.textContent !== text) place.textContent = text;
}

const isNarrow = () => window.matchMedia('(max-width: 1099px)').matches;
