"""`evalcase report`: a kept run, for people or for programs, from its record alone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import chain, islice

import click

from evalcase.cli import run_flags
from evalcase.cli.conclusion import RecordPlace, conclusion_lines, summary_object
from evalcase.cli.explained import explained
from evalcase.cli.runs_place import look_for_runs
from evalcase.cli.seen_suites import see_suites
from evalcase.cli.terminal import columns_of, style_for
from evalcase.errors import ConfigError
from evalcase.model.nearest import did_you_mean
from evalcase.model.quick_dataclass import asdict, dataclass, replace
from evalcase.model.result import Result
from evalcase.project.options import runs_folder
from evalcase.record.evaluated import Evaluated, read_evaluated
from evalcase.record.find import find_run
from evalcase.record.folder import origin_of
from evalcase.record.kept import KeptRun
from evalcase.record.tally import Tally
from evalcase.report.files.trials import Origin, trial_object
from evalcase.report.terminal.case_report import case_lines, trial_lines
from evalcase.report.terminal.failures import UNFINISHED
from evalcase.report.terminal.progress import VERDICTS
from evalcase.report.terminal.statistics import TROUBLED, Statistics
from evalcase.report.terminal.style import PLAIN, Style
from evalcase.text.visible import visible

_MOST_KNOWN = 10_000
"""Names that are remembered in case that the one which was asked for is not among them."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which results of a run are reported."""

    case: str | None = None
    target: str | None = None
    verdicts: tuple[str, ...] = ()
    """Of cases."""

    def includes(self, case: str) -> bool:
        """Whether a case is meant: by its id, or by a glob as `run --case` takes it."""
        return self.case in (None, case) or fnmatchcase(case, self.case or "")


@click.command("report")
@click.argument("run", default="latest")
@click.option(
    "--case",
    metavar="GLOB",
    help="Only cases whose id matches, each in full.",
)
@click.option(
    "--verdict", "verdicts", multiple=True, type=click.Choice([*VERDICTS, UNFINISHED]),
    help="Only cases with this verdict. Repeatable.",
)  # fmt: skip
@click.option("--target", metavar="NAME", help="Only trials of this target.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "jsonl"]), default="text",
    show_default=True, help="For people; one JSON object; or one for each trial, a line each.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Write to this file.")
@run_flags.runs_dir
@explained
def command(
    run: str, case: str | None, verdicts: tuple[str, ...], target: str | None, form: str,
    output: str | None, runs_dir: str | None,
) -> int:  # fmt: skip
    """Show what came of a run that was kept.

    RUN is a run's id, a part of it that no other has, its folder, `latest` or `previous`. Answers
    that were graded several times are shown as graded last; RUN@1 is their first grading.

    \b
    evalcase report                      the newest run, as `run` showed it
    evalcase report previous --case sum  one case in full, with its answer
    evalcase report --format jsonl       every trial as a line of JSON

    Nothing but the record is read: its suites may be gone, and it may come from somebody else.
    """
    config = look_for_runs(os.getcwd())
    found = find_run(run, runs_folder(runs_dir, config))
    wanted = Wanted(case, target, verdicts)
    with KeptRun(*found) as kept:
        place = RecordPlace(os.getcwd(), config)
        if output is not None:
            _write(_FORMATS[form](kept, wanted, place, PLAIN), output)
            return 0
        for line in _FORMATS[form](kept, wanted, place, style_for(sys.stdout)):
            sys.stdout.write(line + "\n")
    return 0


def _write(lines: Iterator[str], path: str) -> None:
    """Write lines to a file, which is left alone if there is an error before the first."""
    first = list(islice(lines, 1))
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(line + "\n" for line in chain(first, lines))
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror or error}") from error


def _text(kept: KeptRun, wanted: Wanted, place: RecordPlace, style: Style) -> Iterator[str]:
    width = columns_of(sys.stdout)
    if wanted.case is not None:
        yield from _one_case(kept, wanted, place, width, style)
        return
    shown = [None if each == UNFINISHED else each for each in wanted.verdicts]
    statistics = Statistics(shown or TROUBLED)  # type: ignore[arg-type]
    evaluated = _evaluated(kept, wanted, statistics)
    yield from conclusion_lines(
        evaluated, statistics, kept.gradings, kept.find_case, place, width, style
    )


def _one_case(
    kept: KeptRun, wanted: Wanted, place: RecordPlace, width: int, style: Style
) -> Iterator[str]:
    """One case in full; or several, where suites have the same id."""
    see_suite = see_suites(kept.run, place.config.root, place.cwd)
    results = sorted(_results(kept, wanted), key=lambda result: result.key)
    before = None
    for result in results:
        suite, case, _, _ = result.key
        if before is None or before[:2] != (suite, case):
            if before is not None:
                yield ""
            known = kept.find_case(suite, case)
            yield from case_lines(see_suite(suite), case, known, width, style)
        is_first = before is None or before[:3] != result.key[:3]
        yield from trial_lines(result, kept.outcome(result), width, style, is_first=is_first)
        before = result.key
    if before is None:
        yield f"case {visible(wanted.case or '')} is not {' or '.join(wanted.verdicts)}"


def _json(kept: KeptRun, wanted: Wanted, place: RecordPlace, style: Style) -> Iterator[str]:
    """One object, a case in each line, so that a million need not be held."""
    del place, style
    summary = json.dumps(summary_object(_evaluated(kept, wanted)), ensure_ascii=False)
    yield f'{summary[:-1]}, "cases": ['
    before = None
    for case in kept.cases(_results(kept, wanted)):
        if before is not None:
            yield before + ","
        before = json.dumps(asdict(case), ensure_ascii=False)
    if before is not None:
        yield before
    yield "]}"


def _jsonl(kept: KeptRun, wanted: Wanted, place: RecordPlace, style: Style) -> Iterator[str]:
    del place, style
    origin = Origin(kept.run.id, origin_of(kept.run), kept.mixed)
    for result in _results(kept, wanted):
        case = kept.find_case(result.key.suite, result.key.case)
        row = trial_object(origin, result, case, kept.outcome(result))
        yield json.dumps(row, ensure_ascii=False)


_FORMATS = {"text": _text, "json": _json, "jsonl": _jsonl}


def _evaluated(kept: KeptRun, wanted: Wanted, statistics: Statistics | None = None) -> Evaluated:
    """What came of the run, or of a case or a target; the statistics are filled on the way.

    A verdict that is asked for changes no count: all of those that passed are no pass rate.
    """
    evaluated = read_evaluated(kept)
    is_all = wanted.case is None and wanted.target is None
    if statistics is None and is_all:
        return evaluated
    tally = Tally()
    for result in _results(kept, replace(wanted, verdicts=())):
        tally.add(result)
        if statistics is not None:
            statistics.add(result)
    return evaluated if is_all else replace(evaluated, totals=tally.totals(), not_run=0)


def _results(kept: KeptRun, wanted: Wanted) -> Iterator[Result]:
    """The results that are wanted. Raise ConfigError if a name is not among those of the run."""
    cases: dict[str, bool] = {}
    targets: dict[str, bool] = {}
    count = 0
    for result in kept.results():
        key = result.key
        if len(cases) < _MOST_KNOWN:
            cases[key.case] = True
        targets[key.target] = True
        if not wanted.includes(key.case) or wanted.target not in (None, key.target):
            continue
        count += 1
        if not wanted.verdicts or (kept.outcome(result).verdict or UNFINISHED) in wanted.verdicts:
            yield result
    if not count and not (wanted.case is None and wanted.target is None):
        raise ConfigError(_missing(kept, wanted, list(cases), list(targets)))


def _missing(kept: KeptRun, wanted: Wanted, cases: list[str], targets: list[str]) -> str:
    for noun, name, known in (("case", wanted.case, cases), ("target", wanted.target, targets)):
        if name is not None and not any(fnmatchcase(each, name) for each in known):
            hint = did_you_mean(name, known)
            return f"run {kept.run.id} has no {noun} `{name}`{f'; {hint}' if hint else ''}"
    return f"case `{wanted.case}` was not run at `{wanted.target}` in run {kept.run.id}"
