// A run that goes on, in `evalcase view`: what has come since is asked for each second, while
// somebody looks. Until then all figures are those of the rows that are here; when the run is over
// the page is loaded anew, and has its final ones.

const WAIT_MS = 1000;

function startWatching(watch) {
  const told = h('p.notice', { role: 'status' });
  document.querySelector('.overview').prepend(told);
  let { offset } = watch;
  const look = async () => {
    if (!document.hidden) {
      try {
        const answer = await (await fetch(`${watch.address}?offset=${offset}`)).json();
        offset = answer.offset;
        answer.rows.forEach(takeRow);
        if (answer.rows.length) drawGrown();
        if (answer.state !== 'running') { location.reload(); return; }
        told.textContent = `The run goes on: ${groupDigits(data.count)} of ${sayCount(live.planned, 'case')} so far.`;
      } catch { told.textContent = 'evalcase view does not answer; this page stays as it is.'; }
    }
    setTimeout(look, WAIT_MS);
  };
  look();
}

const live = { planned: 0, kinds: '' };

// What is said above in large, by the same rows as the table and the charts.
function countLive() {
  const { about } = data;
  const { all } = about.run.figures;
  live.planned = Math.max(live.planned || data.count + all.not_run, data.count);
  const rows = [...cells.case.keys()];
  const tried = rows.filter(wasTried).length;
  const counts = countBy(rows, verdictOf);
  for (const name of VERDICTS) all[name] = counts[name] || 0;
  const [rate, low, high] = estimateRate(all.passed, tried) || [null, null, null];
  // Trials of a case at several targets are no cases of their own: that needs all of them.
  const isPlain = data.targets.length < 2 && tried > 1 && !about.run.figures.cluster;
  const without = tried - all.errored;
  Object.assign(all, { rate, n: tried, low: isPlain ? low : null, high, why: isPlain || tried < 2 ? '' : 'The interval comes when the run is over',
    not_run: live.planned - data.count, failures_up_to: null, without_errors: { n: without, rate: without ? all.passed / without : null } });
}

function drawGrown() {
  const { run } = data.about;
  [rowsByName, charts.drawn, panel.drawn, grouping.counted] = [null, '', '', -1];
  countData();
  countLive();
  drawPageTitle();
  document.querySelector('.subject').replaceWith(drawSubject());
  document.querySelector('.headline').replaceChildren(drawRate(run), drawVerdicts(run.figures.all));
  // There may be more to filter by; who is about to is not disturbed.
  const kinds = JSON.stringify([data.suites, data.targets, data.tags, data.graders, groupVariables(), [...new Set(cells.verdict)]]);
  const place = document.querySelector('.sticky');
  if (kinds !== live.kinds && !place.contains(document.activeElement)) {
    live.kinds = kinds;
    bar.chips.clear();
    place.replaceChildren(drawFilters());
  }
  update();
}

// Put a row in place of that of the same name, or at the end. Its detail is a chunk of its own.
function takeRow({ detail, ...told }) {
  const known = cells.case.findIndex((name, row) => name === told.case && suiteOf(row) === told.suite && targetOf(row) === told.target);
  const row = known < 0 ? cells.case.length : known;
  data.live.set(`live ${row}`, [detail]);
  for (const [name, value] of Object.entries({ ...told, chunk: `live ${row}`, place: 0 })) cells[name][row] = value;
}
