"""`evalcase calibrate`: a judge held against people, from a record and a file of labels."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping

import click

from evalcase.cli import run_flags
from evalcase.cli.explained import explain_errors
from evalcase.cli.options import Number
from evalcase.cli.terminal import columns_of, style_for
from evalcase.config.config import load_config
from evalcase.errors import ConfigError
from evalcase.store.labels import Judge, read_judge, read_labels
from evalcase.store.runs import find_run
from evalcase.store.stored import StoredRun
from evalcase.types.grade import Label
from evalcase.util.text import make_visible

_LABELS = "labels.jsonl"


@click.command("calibrate")
@click.argument("run", default="latest")
@click.option(
    "--labels", "path", default=_LABELS, show_default=True, metavar="FILE",
    help="Human labels of the answers: JSONL, one label per line.",
)  # fmt: skip
@click.option("--label", is_flag=True, help="Label answers one at a time, and write FILE.")
@click.option(
    "--by", metavar="NAME",
    help="Only labels by this person. With --label: who labels. [default: the current user]",
)  # fmt: skip
@click.option("--grader", metavar="NAME", help="Which grader, if the run has several judges.")
@click.option("--criterion", metavar="ID", help="Only labels for this criterion of the judge.")
@click.option(
    "--min-kappa",
    type=Number(-1, 1, meant="a number from -1 to 1, for example 0.6"), metavar="KAPPA",
    help="Exit with 1 unless the lower end of kappa's interval is at least this.",
)  # fmt: skip
@run_flags.as_json
@run_flags.runs_dir
@explain_errors
def command(
    run: str, path: str, label: bool, by: str | None, grader: str | None, criterion: str | None,
    min_kappa: float | None, as_json: bool, runs_dir: str | None,
) -> int:  # fmt: skip
    """Measure how far a judge can be trusted.

    People label some answers of a run as pass or fail. This command compares the judge's verdicts
    with those labels: how often they agree, how much of that is chance (kappa), and what share of
    all answers would really pass. RUN is given as for `evalcase report`; RUN@1 is its first
    grading.

    \b
    evalcase calibrate --label           label answers of the newest run, blind
    evalcase calibrate                   compare its judge with the labels
    evalcase calibrate --min-kappa 0.6   fail a build whose judge is too weak

    About a hundred labels, half of them fails, work best. A label belongs to one answer: if the
    target answers again, the label no longer counts. Only the record and the labels are read.
    """
    config = load_config(os.getcwd(), os.getcwd())
    found = find_run(run, config.find_runs(runs_dir))
    again = _write_command(run, path, grader, criterion, runs_dir)
    with StoredRun(*found) as kept:
        judge = read_judge(kept, grader)
        if label:
            from evalcase.cli.labelling import Labelling
            from evalcase.util.environment import this_environment

            environment = this_environment().variables
            return Labelling(
                kept, judge, criterion, path, by or _find_user(environment), again
            ).ask()
        kept.refuse_interrupted()
        labels = [each for each in _read_known_labels(path, again) if by in (None, each.by)]
        return _calibrate_judge(kept.run.id, judge, labels, criterion, min_kappa, as_json=as_json)


def _find_user(environment: Mapping[str, str]) -> str:
    for name in ("LOGNAME", "USER", "USERNAME"):
        if environment.get(name):
            return environment[name]
    raise ConfigError("your user name is not known: give --by NAME")


def _write_command(
    run: str, path: str, grader: str | None, criterion: str | None, runs_dir: str | None
) -> str:
    """The command that was given, as far as it says which answers and labels are meant."""
    words = ["evalcase", "calibrate"] + [run] * (run != "latest")
    options = {
        "--labels": None if path == _LABELS else path, "--grader": grader,
        "--criterion": criterion, "--runs-dir": runs_dir,
    }  # fmt: skip
    for name, value in options.items():
        words += [name, value] if value is not None else []
    return make_visible(shlex.join(words))


def _read_known_labels(path: str, again: str) -> list[Label]:
    try:
        return read_labels(path)
    except FileNotFoundError as error:
        hint = f"`{again} --label` creates it"
        raise ConfigError(f"there are no labels: {path} does not exist; {hint}") from error


def _calibrate_judge(
    run: str, judge: Judge, labels: list[Label], criterion: str | None, min_kappa: float | None,
    *, as_json: bool,
) -> int:  # fmt: skip
    from evalcase.report.calibrate import calibrate_grader, calibration_object
    from evalcase.report.calibration_text import calibration_lines
    from evalcase.report.json import json_line

    found = calibrate_grader(run, judge.name, judge.said, labels, criterion)
    if as_json:
        sys.stdout.write(json_line(calibration_object(found, min_kappa)) + "\n")
    else:
        for line in calibration_lines(found, columns_of(sys.stdout), style_for(sys.stdout)):
            sys.stdout.write(line + "\n")
    if min_kappa is None or all(section.reaches(min_kappa) for section in found.sections):
        return 0
    if not as_json:
        sys.stdout.write(f"\nthe interval of kappa starts below --min-kappa {min_kappa:g}\n")
    return 1
