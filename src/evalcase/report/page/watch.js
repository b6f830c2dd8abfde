// A run that goes on, in `evalcase view`: what has come since is asked for each second, while
// somebody looks. When the run is over the page is loaded anew, and has its final figures.

const WAIT_MS = 1000;

function startWatching(watch) {
  const told = h('p', { class: 'notice', role: 'status' });
  document.querySelector('.overview').prepend(told);
  let { offset } = watch;
  const look = async () => {
    if (!document.hidden) {
      try {
        const answer = await (await fetch(`${watch.address}?offset=${offset}`)).json();
        offset = answer.offset;
        answer.rows.forEach(takeRow);
        if (answer.rows.length) { rowsByName = null; charts.drawn = ''; panel.drawn = ''; update(); }
        if (answer.state !== 'running') { location.reload(); return; }
        told.textContent = `The run goes on: ${sayCount(data.count, 'case')} so far.`;
      } catch { told.textContent = 'evalcase view does not answer; this page stays as it is.'; }
    }
    setTimeout(look, WAIT_MS);
  };
  look();
}

const numberOf = (names, name) => { if (!names.includes(name)) names.push(name); return names.indexOf(name); };

// Put a row in place of that of the same name, or at the end. Its detail is a chunk of its own.
function takeRow(told) {
  const { about, columns: all } = data;
  const values = { ...told, suite: numberOf(about.suites, told.suite), target: numberOf(about.targets, told.target), verdict: about.verdicts.indexOf(told.verdict),
    tags: told.tags.map((tag) => numberOf(about.tags, tag)), failing: told.failing.map((name) => numberOf(about.graders, name)), place: 0 };
  const known = all.case.findIndex((name, row) => name === told.case && all.suite[row] === values.suite && all.target[row] === values.target);
  const row = known < 0 ? data.count : known;
  values.chunk = `live ${row}`;
  data.live.set(values.chunk, [told.detail]);
  for (const name of about.columns) all[name][row] = values[name];
  data.count = Math.max(data.count, row + 1);
}
