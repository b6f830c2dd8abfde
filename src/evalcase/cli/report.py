"""`evalcase report`: a kept run, for people or for programs, from its record alone."""

from __future__ import annotations

import os
import sys

import click

from evalcase.cli.options import (
    checked,
    cluster_option,
    max_size_option,
    runs_dir_option,
    verbose_option,
)
from evalcase.cli.terminal import find_project, print_pieces, screen_for, tell_written
from evalcase.report.aggregate import Figuring
from evalcase.report.details import UNFINISHED
from evalcase.report.figures import PART_KINDS, Interval, PartKind
from evalcase.report.formats import (
    FORMS,
    PARTS,
    Reported,
    Wanted,
    choose_form,
    refuse_terminal,
    write_file,
    write_form,
)
from evalcase.report.terminal import Reader
from evalcase.store.folder import is_own
from evalcase.store.runs import find_run
from evalcase.store.stored import StoredRun
from evalcase.types.result import VERDICTS
from evalcase.types.value import replace
from evalcase.util.environment import this_environment


def _check_parts(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, if each names a kind of parts."""
    for word in words:
        if word not in PARTS and not (word.startswith("vars.") and word != "vars."):
            known = ", ".join(PARTS)
            raise click.BadParameter(f"{word!r} is not one of {known} and vars.NAME.")
    return words


@click.command("report")
@click.argument("run", default="latest")
@click.option("--case", metavar="GLOB", help="Show cases whose id matches, each in full.")
@click.option(
    "--verdict", "verdicts", multiple=True, type=click.Choice([*VERDICTS, UNFINISHED]),
    help="Only cases with this verdict. Repeatable.",
)  # fmt: skip
@click.option("--target", metavar="NAME", help="Only trials of this target.")
@click.option(
    "--format", "form", type=click.Choice(FORMS),
    help="The output format; jsonl has one trial per line. [default: from the extension of "
    "-o FILE, else text]",
)  # fmt: skip
@click.option(
    "--by", multiple=True, metavar="PART", callback=checked(_check_parts),
    help="Break pass rates down by target, tag, suite, grader or variable (vars.NAME). Repeatable. "
    "[default: target, tag]",
)  # fmt: skip
@cluster_option
@click.option(
    "--interval", type=click.Choice(["wilson", "exact"]), default="wilson", show_default=True,
    help="How intervals are computed; exact ones are never too narrow.",
)  # fmt: skip
@click.option(
    "--pass-at", "ks", multiple=True, type=click.IntRange(1), metavar="K",
    help="Show the chance that at least one of K trials passes, and that all do. Repeatable.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Write to this file.")
@max_size_option
@verbose_option
@runs_dir_option
def report_command(
    run: str, case: str | None, verdicts: tuple[str, ...], target: str | None,
    form: str | None, by: tuple[PartKind, ...], cluster: str | None, interval: Interval,
    ks: tuple[int, ...], output: str | None, max_size: int, runs_dir: str | None, verbose: bool,
) -> int:  # fmt: skip
    """Show the results of a stored run.

    RUN is the id of a run, an unambiguous part of it, its folder, `latest` or `previous`. A run
    that was graded several times is shown with its latest grading; RUN@1 is the first one.

    \b
    evalcase report                      the newest run, as `run` showed it
    evalcase report previous --case sum  one case in full, with its answer
    evalcase report --format jsonl       every trial as a line of JSON
    evalcase report --by grader          how often each grader passed
    evalcase report --by vars.lang       pass rates by the values of a variable
    evalcase report -o run.html          a page to share

    Only the record is read: its suites may be gone, and it may come from somebody else.
    """
    config, folder = find_project(runs_dir)
    with StoredRun(*find_run(run, folder)) as kept:
        own = is_own(kept.run, this_environment().state, config.root)
        reader = Reader(os.getcwd(), config, is_own=own, verbose=verbose)
        reported = Reported(
            kept, reader, Wanted(case, target, verdicts), Figuring(interval, cluster, ks),
            by or PART_KINDS, max_size,
        )  # fmt: skip
        chosen = choose_form(form, output)
        if output is not None:
            write_file(chosen, reported, output)
            tell_written(output)
        else:
            refuse_terminal(chosen, sys.stdout)
            shown = reader._replace(screen=screen_for(sys.stdout))
            print_pieces(write_form(chosen, replace(reported, reader=shown)))
    return 0
