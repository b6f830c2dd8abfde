"""`evalcase calibrate`: a judge compared with the labels of people, and `--label` to write them.
Labels are given blind, and each is on disk before the next answer is shown."""

from __future__ import annotations

import os
import sys

import click

from evalcase.cli.options import Number, json_option, runs_dir_option
from evalcase.cli.terminal import print_lines, screen_for
from evalcase.config.config import load_config
from evalcase.errors import ConfigError
from evalcase.report.calibrate import (
    calibrate_grader,
    calibration_lines,
    calibration_object,
    draw_answers,
    first_of_each,
    question_lines,
    shares_of,
)
from evalcase.report.json import json_line
from evalcase.report.labels import Judge, Label, append_label, read_judge, read_labels
from evalcase.report.terminal import cut
from evalcase.store.runs import find_run
from evalcase.store.stored import StoredRun
from evalcase.types.target import TrialKey
from evalcase.util.environment import this_environment
from evalcase.util.text import make_visible, write_count

_WORDS = ("pass", "fail", "skip", "back", "quit")
_PROMPT = "pass, fail, skip, back or quit? [p/f/s/b/q] "
_NO_KEY = "is not an answer: type p, f, s, b or q, or the whole word, and Enter"


def _label_answers(
    stored: StoredRun, judge: Judge, criterion: str | None, path: str, by: str
) -> None:
    """Ask for a label of each answer that this person has not labelled yet."""
    drawn = draw_answers(first_of_each(judge.said).values(), criterion, stored.run.id)
    if not drawn:
        what = "" if criterion is None else f" on `{criterion}`"
        raise ConfigError(f"`{judge.name}` returned no verdict{what} in run {stored.run.id}")
    known = read_labels(path) if os.path.lexists(path) else []
    done = {each.answer for each in known if (each.by, each.criterion) == (by, criterion)}
    left = [judged for judged in drawn if judged.answer not in done]
    if not left:
        print_lines([f"nothing left to label for {by}"])
        return
    shares, at, written = shares_of(drawn, criterion), 0, 0
    try:
        while at < len(left):
            name, repeat = left[at].answer, left[at].repeat
            screen = screen_for(sys.stdout)
            title = f"── answer {at + 1:,} of {len(left):,} "
            print_lines(["", title.ljust(screen.width, "─")])
            result = stored.find_result(TrialKey(*name[:3], repeat))
            if result is not None:
                case = stored.find_case(name.suite, name.case)
                print_lines(question_lines(case, result, judge.name, criterion, screen))
            word = _ask_word()
            if word == "quit":
                break
            if word in ("pass", "fail"):
                share = shares[bool(left[at].verdict_on(criterion))]
                label = Label(
                    *name, word == "pass", by, repeat=repeat, criterion=criterion, drawn_from=share
                )
                append_label(path, label)
                written += 1
            at = max(0, at - 1) if word == "back" else at + 1
    finally:
        print_lines(["", f"{write_count(written, 'label')} written to {make_visible(path)}"])


def _ask_word() -> str:
    while True:
        sys.stdout.write(_PROMPT)
        sys.stdout.flush()
        typed = sys.stdin.readline()
        if not typed:
            print_lines([""])
            return "quit"
        said = typed.strip().lower()
        for word in _WORDS:
            if said in (word, word[0]):
                return word
        if said:
            print_lines([f"`{cut(make_visible(said), 20)}` {_NO_KEY}"])


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
    "--min-kappa", type=Number(-1, 1), metavar="KAPPA",
    help="Exit with 1 unless the lower end of kappa's interval is at least this.",
)  # fmt: skip
@json_option
@runs_dir_option
def calibrate_command(
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
    with StoredRun(*found) as kept:
        judge = read_judge(kept.run.id, kept.results(), grader)
        if label:
            if not (sys.stdin.isatty() and sys.stdout.isatty()):
                raise ConfigError(
                    "--label asks a person: standard input and output must be a terminal"
                )
            variables = this_environment().variables
            users = (variables.get(name) for name in ("LOGNAME", "USER", "USERNAME"))
            by = by or next(filter(None, users), None)
            if by is None:
                raise ConfigError("your user name is not known: give --by NAME")
            _label_answers(kept, judge, criterion, path, by)
            return 0
        kept.refuse_interrupted()
        try:
            labels = [each for each in read_labels(path) if by in (None, each.by)]
        except FileNotFoundError as error:
            hint = "`evalcase calibrate --label` creates it"
            raise ConfigError(f"there are no labels: {path} does not exist; {hint}") from error
        calibration = calibrate_grader(kept.run.id, judge.name, judge.said, labels, criterion)
    if as_json:
        print_lines([json_line(calibration_object(calibration, min_kappa))])
    else:
        print_lines(calibration_lines(calibration, screen_for(sys.stdout)))
    if min_kappa is None or all(section.reaches(min_kappa) for section in calibration.sections):
        return 0
    if not as_json:
        print_lines(["", f"the interval of kappa starts below --min-kappa {min_kappa:g}"])
    return 1
