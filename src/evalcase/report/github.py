"""Commands by which GitHub annotates a pull request: problems of a check, cases of a run.

GitHub shows ten errors, ten warnings and ten notices of a step and drops the others silently: so
the tenth of a kind says how many more there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct, field

from evalcase.report.cases import CaseTrials, See, fold_trials
from evalcase.report.conclusion import (
    max_errors_of,
    say_grading,
    say_missing,
    say_mixed,
    say_settled,
)
from evalcase.report.details import UNFINISHED, passed_of, reason_of
from evalcase.report.evaluated import read_evaluated
from evalcase.report.source import LineFinder, Reported
from evalcase.types.problem import Problem, Span
from evalcase.types.result import Result
from evalcase.types.value import replace
from evalcase.util.environment import this_environment
from evalcase.util.text import make_visible, shorten_text

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def as_github(problems: Iterable[Problem]) -> Iterator[str]:
    """One workflow command per problem, each a line."""
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
    return f"::{level} {said}::{_escape_data(_by_line(text))}"


def _write_place(span: Span | None) -> dict[str, str]:
    if span is None:
        return {}
    # A span that ends before the first character of a line has nothing of that line.
    spills = span.end_line > span.line and span.end_column == 1
    end_line = span.end_line - 1 if spills else span.end_line
    place = {"line": str(span.line), "endLine": str(end_line)}
    # GitHub drops the columns of a place that goes over several lines, and says so in the log.
    if end_line == span.line:
        place["col"] = str(span.column)
    if span.end_line == span.line:
        place["endColumn"] = str(span.end_column)
    return place


def _by_line(text: str) -> str:
    return "\n".join(map(make_visible, text.split("\n")))


def _escape_data(text: str) -> str:
    # The percent sign goes first, or it would escape the escapes.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(_by_line(text)).replace(":", "%3A").replace(",", "%2C")


_MOST = 10
_LONGEST = 400
_LEVELS = {"errored": "error", "failed": "error", "ungraded": "warning", UNFINISHED: "warning"}

FindLine = Callable[[str, str], "int | None"]
"""The line of a case of a suite; None where nobody knows."""


class _Level(Struct):
    """Those of one level, as far as they are shown."""

    shown: list[CaseTrials] = field(default_factory=list)
    total: int = 0

    def add(self, each: CaseTrials) -> None:
        self.total += 1
        if len(self.shown) < _MOST:
            self.shown.append(each)


class RunNotes(NamedTuple):
    """What holds for the whole run, in words; empty where there is nothing to say."""

    incomplete: str = ""
    mixed: str = ""
    grading: str = ""
    settled: str = ""
    is_well: bool = False
    """Whether it is well by its gates, so that what did not pass is a warning."""


def annotation_lines(
    cases: Iterable[CaseTrials], find_line: FindLine, see: See, about: RunNotes
) -> Iterator[str]:
    """A command in each line: of what errored or failed, of what has no verdict, and of what
    passed only in some of its trials; first what holds for the whole run."""
    kinds = {"error": _Level(), "warning": _Level(), "notice": _Level()}
    for each in cases:
        level = _LEVELS.get(each.verdict, "") or _level_of_trials(each)
        if level:
            kinds["warning" if about.is_well and level == "error" else level].add(each)
    if about.incomplete:
        kinds["error"].total += 1
        yield github_command(
            "error", {"title": "evalcase: the run is not complete"}, about.incomplete
        )
    notices = {
        "the run is mixed": about.mixed, "one of several gradings": about.grading,
        "decided early": about.settled,
    }  # fmt: skip
    told = {title: text for title, text in notices.items() if text}
    kinds["notice"].total += len(told)
    for title, text in told.items():
        yield github_command("notice", {"title": f"evalcase: {title}"}, text)
    whole = {"error": int(bool(about.incomplete)), "notice": len(told)}
    for level, kind in kinds.items():
        said = whole.get(level, 0)
        yield from _of_level(level, kind, find_line, see, said)


def _of_level(level: str, kind: _Level, find_line: FindLine, see: See, said: int) -> Iterator[str]:
    room = _MOST - said
    fits = kind.total <= _MOST
    for each in kind.shown[: room if fits else room - 1]:
        yield _write_command(level, each, find_line, see)
    if not fits:
        more = kind.total - (_MOST - 1)
        yield github_command(level, {"title": f"evalcase: {more:,} more"}, "see `evalcase report`")


def _level_of_trials(each: CaseTrials) -> str:
    """Of a case that passed: by those of its trials that did not."""
    if each.verdict != "passed" or each.outcome.passed == each.outcome.trials:
        return ""
    return "notice" if _find_errored(each) is None else "warning"


def _find_errored(each: CaseTrials) -> Result | None:
    return next((trial for trial in each.trials if trial.verdict == "errored"), None)


def _write_command(level: str, each: CaseTrials, find_line: FindLine, see: See) -> str:
    line = find_line(each.suite, each.case)
    place = {"file": see(each.suite), **({"line": str(line)} if line is not None else {})}
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


def write_github(reported: Reported) -> Iterator[str]:
    kept, evaluated = reported.kept, reported.evaluated()
    finder = LineFinder(reported, this_environment().state)
    about = RunNotes(
        say_missing(evaluated), say_mixed(kept.mixed), say_grading(evaluated),
        say_settled(evaluated), _meets_gates(reported),
    )  # fmt: skip
    cases = fold_trials(reported.results(), kept.outcome)
    lines = annotation_lines(cases, finder.find_line, finder.see, about)
    return (line + "\n" for line in lines)


def _meets_gates(reported: Reported) -> bool:
    """Whether the run passed by the gates that it was given: a pass rate, so many errors."""
    evaluated = read_evaluated(reported.kept)
    fail_under = evaluated.run.about.options.get("fail_under")
    rate = fail_under if isinstance(fail_under, int | float) else None
    return replace(evaluated, fail_under=rate, max_errors=max_errors_of(evaluated)).ok
