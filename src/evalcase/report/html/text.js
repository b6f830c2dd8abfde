// Text from a record, as text. It may be in any script and hold anything: each piece is isolated, so
// that it can't reorder what stands around it, and what steers or can't be seen is spelt out.

const STEERING = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]|\r(?!\n)|[\u{e0000}-\u{e007f}]/gu;

function spellText(text) {
  const pieces = [];
  let at = 0;
  for (const found of text.matchAll(STEERING)) {
    if (found.index > at) pieces.push(text.slice(at, found.index));
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    pieces.push(h('span.spelt', { title: 'a character that would not be seen' }, `U+${code}`));
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
}

// A name or a short text in a line of other things.
function drawWord(text, props) {
  return h('bdi', props, spellText(text));
}

// A name that is shortened in its middle, where there is no room: what tells names apart is often at their end.
function drawName(text, props) {
  const points = [...text];
  return points.length < 20 ? drawWord(text, props)
    : h('bdi', { title: text, ...props, class: `cut-name ${props?.class || ''}` }, h('span', spellText(points.slice(0, -12).join(''))), h('span', spellText(points.slice(-12).join(''))));
}

// What stands for a text in which nothing can be seen; null for any other. `nothing` is what is known of it.
function drawBlank(text, nothing) {
  return text.trim() ? null : h('p.nothing', spellText(nothing || (text ? '(only white space)' : '(empty)')));
}

function isData(text) {
  try {
    return /^\s*[[{]/.test(text) && Boolean(JSON.parse(text));
  } catch {
    return false;
  }
}

// A text of its own, with its line ends as they are.
function drawText(text, kind) {
  return drawBlank(text) || drawPlace(kind === 'json' || isData(text), spellText(text));
}

// Data may be long, and is scrolled within its place.
const drawPlace = (isOfData, pieces) => h(isOfData ? 'div.text.data' : 'div.text', { dir: 'auto', tabindex: isOfData ? '0' : null }, pieces);
