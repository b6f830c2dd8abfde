"""`evalcase compare`: two runs, or two targets, case by case, and gates on what changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import get_args

import click

from evalcase.cli.options import (
    Number,
    WrongUsageError,
    checked,
    cluster_option,
    max_size_option,
    run_option,
    runs_dir_option,
)
from evalcase.cli.terminal import find_project, print_pieces, screen_for, tell_written
from evalcase.report.aggregate import Clustering
from evalcase.report.compare import compare_sides
from evalcase.report.comparison_forms import comparison_lines, comparison_object, markdown_lines
from evalcase.report.formats import choose_form, refuse_terminal, write_pieces
from evalcase.report.gates import (
    EFFECT,
    GATES,
    Compared,
    ComparisonGate,
    Measure,
    find_gated,
    gates_exit_code,
    judge_gates,
    read_gate,
)
from evalcase.report.json import json_line
from evalcase.report.page import write_compared_html
from evalcase.report.sides import ChangeKind, open_sides
from evalcase.report.terminal import Screen
from evalcase.util.text import defuse_line, in_ci

_COMPARED_FORMS = ("text", "html", "markdown", "json")
_KINDS: tuple[ChangeKind, ...] = ("broken", "fixed", "changed", "added", "removed")


def _read_gates(texts: tuple[str, ...]) -> tuple[ComparisonGate, ...]:
    try:
        return tuple(read_gate(text) for text in texts)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("compare")
@click.argument("runs", nargs=-1, metavar="[BASE] [HEAD]")
@click.option(
    "--baseline", metavar="FILE",
    help="The base: a file written by `report --format jsonl`.",
)  # fmt: skip
@click.option(
    "--targets", nargs=2, metavar="BASE HEAD",
    help="Compare target BASE of the base with target HEAD of the head, or both of one run.",
)  # fmt: skip
@click.option(
    "--fail-on", "gates", multiple=True, metavar="GATE", callback=checked(_read_gates),
    help=f"Exit with 1 if head is {GATES}. Repeatable.",
)  # fmt: skip
@click.option(
    "--grader", "graders", multiple=True, metavar="NAME",
    help="Compare by this grader only, instead of all together. Repeatable.",
)  # fmt: skip
@click.option(
    "--measure", type=click.Choice(get_args(Measure)),
    help="Compare by trials that passed (with repeats, the share per case), by cases that passed, "
    "or by score. [default: passed; gates also use cases]",
)  # fmt: skip
@cluster_option
@click.option(
    "--effect", metavar="SHARE", type=Number(0, 1, min_open=True), default=EFFECT,
    show_default=True, help="The change to detect; the output says how many cases that needs.",
)  # fmt: skip
@click.option(
    "--show", "shown", multiple=True, type=click.Choice(_KINDS), default=("broken",),
    show_default=True, help="Which cases to show with both answers. Repeatable.",
)  # fmt: skip
@click.option(
    "--limit", metavar="N", type=click.IntRange(0), default=5, show_default=True,
    help="How many cases of each kind to show.",
)  # fmt: skip
@run_option("max_errors", "With a gate: allow this many errored trials on each side. [default: 0]")
@click.option(
    "--format", "form", type=click.Choice(_COMPARED_FORMS),
    help="The output format. [default: from the extension of -o FILE, else text]",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file.")
@max_size_option
@runs_dir_option
def compare_command(
    runs: tuple[str, ...], baseline: str | None, targets: tuple[str, str] | None,
    gates: tuple[ComparisonGate, ...], graders: tuple[str, ...], measure: Measure | None,
    cluster: str | None, effect: float, shown: tuple[ChangeKind, ...], limit: int,
    max_errors: int | None, form: str | None, as_json: bool, output: str | None, max_size: int,
    runs_dir: str | None,
) -> int:  # fmt: skip
    """Compare two runs case by case: what was fixed, what broke, and whether it may be chance.

    BASE and HEAD are runs, given as for `report`, or files written by `report --format jsonl`; by
    default, the latest run and the newest one before it with the same selection of cases. Cases
    are paired by suite and id, and targets by name, unless each run has only one. If you name
    one run, its first target is compared with the others.

    \b
    evalcase compare                            the latest against the one before
    evalcase compare RUN@1 RUN                  two gradings of the same answers
    evalcase compare --targets small large      two targets of the latest run
    evalcase compare --baseline main.jsonl --fail-on broken
    evalcase compare -o compared.html           both runs in one page

    Without a gate, the exit code is 0. With one, it is 1 if the gate fails, and 3 if a run is not
    complete, trials errored or nothing could be paired.
    """
    if len(runs) > 2:
        raise WrongUsageError("give at most two runs: BASE and HEAD")
    config, _ = find_project(runs_dir)
    chosen = choose_form("json" if as_json else form, output, _COMPARED_FORMS)
    clustering = None if cluster is None else Clustering(cluster)
    with ExitStack() as stack:
        sides = open_sides(
            runs, config, stack, baseline=baseline, targets=targets, runs_dir=runs_dir
        )
        comparison = compare_sides(*sides[:3], clustering, chosen=sides.chosen)
        if clustering is not None and comparison.pairs:
            clustering.require_found()
        gated = find_gated(comparison, measure, graders) if comparison.pairs else []
        judged = judge_gates(comparison, gated, gates, max_errors or 0)
        compared = Compared(comparison, gated, judged, effect, shown, limit)
        if output is not None:
            write_pieces(_write_form(chosen, compared, Screen(), max_size), output)
            tell_written(output)
            return gates_exit_code(judged)
        refuse_terminal(chosen, sys.stdout)
        pieces = _write_form(chosen, compared, screen_for(sys.stdout), max_size)
        defuse = defuse_line if in_ci(os.environ) else str
        print_pieces(each if isinstance(each, bytes) else defuse(each) for each in pieces)
        return gates_exit_code(judged)


def _write_form(
    form: str, compared: Compared, screen: Screen, max_size: int
) -> Iterator[str | bytes]:
    if form == "html":
        yield from write_compared_html(compared, max_size)
    elif form == "json":
        yield json_line(comparison_object(compared)) + "\n"
    else:
        text = form == "text"
        lines = comparison_lines(compared, screen) if text else markdown_lines(compared)
        yield from (line + "\n" for line in lines)
