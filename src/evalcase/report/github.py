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
from evalcase.types.problem import Problem, Span
from evalcase.types.result import Result
from evalcase.types.value import replace
from evalcase.util.environment import this_environment
from evalcase.util.text import make_visible, shorten_text

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def as_github(problems: Iterable[Problem]) -> Iterator[str]:
    for problem in problems:
        pairs = {
            "file": problem.path,
            **_write_place(problem.span),
            "title": f"evalcase: {problem.code}",
        }
        text = make_visible(problem.message) + (f"\n{problem.hint}" if problem.hint else "")
        yield github_command(_COMMANDS[problem.severity], pairs, text)


def github_command(level: str, properties: Mapping[str, str], text: str) -> str:
    """A workflow command. Whatever the text holds, it is one line, and commands nothing else."""
    said = ",".join(f"{name}={_escape_property(value)}" for name, value in properties.items())
    return f"::{level} {said}::{_escape_data(text)}"


def _write_place(span: Span | None) -> dict[str, str]:
    if span is None:
        return {}
    place = {"line": span.line}
    if span.end_line == span.line:  # else the first line stands for all
        place |= {"endLine": span.line, "col": span.column, "endColumn": span.end_column}
    return {name: str(number) for name, number in place.items()}


def _escape_data(text: str) -> str:
    visible = "\n".join(map(make_visible, text.split("\n")))
    # The percent sign goes first, or it would escape the escapes.
    return visible.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


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
        if each.verdict == "passed" and _find_errored(each) is not None:
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


def _find_errored(each: CaseTrials) -> Result | None:
    return next((trial for trial in each.trials if trial.verdict == "errored"), None)


def _write_command(level: str, each: CaseTrials, finder: LineFinder) -> str:
    line = finder.find_line(each.suite, each.case)
    place = {"file": finder.see(each.suite), **({"line": str(line)} if line is not None else {})}
    told = [passed_of(each.outcome)] if each.outcome.repeats > 1 else []
    errored = _find_errored(each) if each.verdict == "passed" else None
    if errored is not None:
        told.append("a trial errored")
    why = reason_of(errored or each.telling)
    text = "; ".join([*told, *([why] if why else [])])
    title = f"{each.verdict}: {each.case} ({each.target})"
    return github_command(
        level, {**place, "title": title}, shorten_text(text or each.verdict, _LONGEST)
    )
