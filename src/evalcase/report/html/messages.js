// A conversation: each message with its role, its text whole and raw, its calls, and what else it has.

function drawMessages(messages, label) {
  return h('section.messages', { 'aria-label': label }, messages.map((message, at) => drawMessage(message, at === messages.length - 1)));
}

// All of it is there, and only a long one with others after it is closed at first.
function drawMessage(message, isLast) {
  const isLong = JSON.stringify(message).length > 1500;
  const known = ['system', 'developer', 'user', 'assistant', 'tool'].includes(message.role);
  return h('details', { class: `message ${known ? message.role : 'other'}`, open: isLast || !isLong },
    h('summary', drawWord(message.role)),
    (message.parts || []).map(drawPart), (message.calls || []).map(drawCall),
    message.bare && h('p.nothing', '(no text)'),
    message.more && drawMore(message));
}

// Where there is no text, what else there is need not be looked for.
function drawMore(message) {
  const fold = drawFold('more of this message', drawText(message.more, 'json'));
  fold.open = Boolean(message.bare);
  return fold;
}

function drawPart(part) {
  if (part.picture) return h('img.picture', { src: part.picture, alt: 'a picture in this message' });
  if (!part.kind || part.kind === 'json') return drawText(part.text, part.kind);
  return h('div', h('span.kind', drawWord(part.kind)), drawText(part.text, 'json'));
}

function drawCall(call) {
  return h('div.call', h('span.kind', 'call'), drawWord(call.name, { class: 'tool-name' }),
    call.id && [' ', drawWord(call.id, { class: 'id' })],
    call.input !== undefined && drawText(call.input, 'json'),
    call.output !== undefined && [h('span.kind', 'returned'), drawText(call.output, 'json')]);
}

function drawFold(label, ...kids) {
  return h('details.fold', h('summary', label), kids);
}

function drawFailure(failure, label) {
  const [, trace] = failure.details.find(([name]) => name === 'traceback') || [];
  const raised = trace && trace.match(/^ *File .*\n.*/gm); // where, of each function on the way
  return h('div.failure', h('p', h('strong', label), ' ', h('span.kind', failure.kind)), drawText(failure.message), raised && drawText(raised.at(-1), 'json'),
    failure.details.length > 0 && drawFold('details', h('dl', failure.details.map(([name, text]) => [h('dt', drawWord(name)), h('dd', drawText(text, 'json'))]))));
}
