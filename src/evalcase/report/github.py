"""Commands by which GitHub annotates a pull request: problems of a check, cases of a run.

GitHub shows ten errors, ten warnings and ten notices of a step and drops the others silently: so
the tenth of a kind says how many more there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from evalcase.report.details import UNFINISHED, passed_of, reason_of
from evalcase.report.evaluated import (
    CaseTrials,
    fold_trials,
    max_errors_of,
    note_run,
    read_evaluated,
)
from evalcase.report.formats import LineFinder, Reported
from evalcase.types.problem import Problem
from evalcase.types.value import replace
from evalcase.util.environment import this_environment
from evalcase.util.text import make_visible, shorten_text

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def as_github(problems: Iterable[Problem]) -> Iterator[str]:
    for problem in problems:
        place, span = {"file": problem.path}, problem.span
        if span is not None:
            place["line"] = str(span.line)
            if span.end_line == span.line:  # else the first line stands for all
                ends = {"endLine": span.line, "col": span.column, "endColumn": span.end_column}
                place |= {name: str(number) for name, number in ends.items()}
        text = make_visible(problem.message) + (f"\n{problem.hint}" if problem.hint else "")
        title = {"title": f"evalcase: {problem.code}"}
        yield github_command(_COMMANDS[problem.severity], place | title, text)


def github_command(level: str, properties: Mapping[str, str], text: str) -> str:
    """A workflow command. Whatever the text holds, it is one line, and commands nothing else."""
    values = {name: _escape_data(value) for name, value in properties.items()}
    said = ",".join(
        f"{name}={value.replace(':', '%3A').replace(',', '%2C')}" for name, value in values.items()
    )
    return f"::{level} {said}::{_escape_data(text)}"


def _escape_data(text: str) -> str:
    visible = "\n".join(map(make_visible, text.split("\n")))
    # The percent sign goes first, or it would escape the escapes.
    return visible.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


_MOST = 10
_LONGEST = 400
_NOTES = (
    ("missing", "error", "the run is not complete"),
    ("mixed", "notice", "the run is mixed"),
    ("grading", "notice", "one of several gradings"),
    ("decided", "notice", "decided early"),
)
_LEVELS = {"errored": "error", "failed": "error", "ungraded": "warning", UNFINISHED: "warning"}


def write_github(reported: Reported) -> Iterator[str]:
    """A command in each line: first what holds for the whole run, then cases that errored or
    failed, that have no verdict, and that passed although a trial errored."""
    stored, evaluated = reported.stored, reported.evaluated()
    finder = LineFinder(reported, this_environment().state)
    levels: dict[str, list[CaseTrials]] = {"error": [], "warning": [], "notice": []}
    totals = dict.fromkeys(levels, 0)
    # Where the run passed by its gates, a pass rate or so many errors, failures are warnings.
    ended, fail_under = read_evaluated(stored), stored.run.about.options.get("fail_under")
    rate = fail_under if isinstance(fail_under, int | float) else None
    lowered = replace(ended, fail_under=rate, max_errors=max_errors_of(ended)).ok
    for each in fold_trials(reported.results(), stored):
        level = _LEVELS.get(each.verdict, "")
        level = "warning" if lowered and level == "error" else level
        if each.verdict == "passed" and "errored" in [trial.verdict for trial in each.trials]:
            level = "warning"
        if level:
            totals[level] += 1
            levels[level] += [each] if len(levels[level]) < _MOST else []
    notes, room = note_run(evaluated), dict.fromkeys(levels, _MOST)
    for topic, level, title in _NOTES:
        if text := notes[topic]:
            room[level] -= 1
            yield github_command(level, {"title": f"evalcase: {title}"}, text) + "\n"
    for level, cases in levels.items():
        fits = totals[level] <= room[level]
        shown = cases[: room[level] if fits else room[level] - 1]
        yield from (_write_command(level, each, finder) + "\n" for each in shown)
        if not fits:
            title = f"evalcase: {totals[level] - len(shown):,} more"
            yield github_command(level, {"title": title}, "see `evalcase report`") + "\n"


def _write_command(level: str, each: CaseTrials, finder: LineFinder) -> str:
    place, line = {"file": finder.see(each.suite)}, finder.find_line(each.suite, each.case)
    if line is not None:
        place["line"] = str(line)
    text = each.why or each.verdict
    if each.verdict == "passed":
        broken = next(trial for trial in each.trials if trial.verdict == "errored")
        text = f"{passed_of(each.outcome)}; a trial errored; {reason_of(broken)}"
    title = {"title": f"{each.verdict}: {each.case} ({each.target})"}
    return github_command(level, place | title, shorten_text(text, _LONGEST))
