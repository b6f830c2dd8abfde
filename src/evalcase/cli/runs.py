"""`evalcase list` and `evalcase prune`: the stored runs, newest first, and old ones removed."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import click
from rich.cells import cell_len
from rich.filesize import decimal

from evalcase.cli.options import WrongUsageError, checked, runs_dir_option
from evalcase.cli.terminal import find_project, print_lines, prose_screen, write_prose
from evalcase.errors import ConfigError, RecordError
from evalcase.report.aggregate import rate_of
from evalcase.report.evaluated import read_evaluated, remark_on
from evalcase.report.figures import write_interval, write_money, write_percent
from evalcase.report.formats import see_suites
from evalcase.report.json import json_line, summary_object
from evalcase.report.terminal import cut, cut_middle, seen_from
from evalcase.store.folder import Sealer, describe_commit, find_sealer
from evalcase.store.runs import (
    ListedRun,
    OldRun,
    count_runs,
    find_old,
    find_run,
    list_runs,
    remove_rests,
    remove_run,
)
from evalcase.store.stored import StoredRun
from evalcase.types.problem import did_you_mean
from evalcase.types.value import fits_pattern
from evalcase.util.environment import this_environment, wall_time
from evalcase.util.text import make_visible, write_count

_MOST_RUNS = 20
_MOST_CELLS, _MOST_CELLS_OF_NAME = 40, 32
_COLUMNS = (
    "run", "age", "name", "cases", "passed", "failed", "errored", "ungraded", "skipped", "cost",
    "interval", "commit", "suite", "target",
)  # fmt: skip
"""The last are left out where there is no room."""
_WORDS = ("name", "commit", "suite", "target")
_ALWAYS = ("run", "age", "cases", "passed", "failed", "errored", "suite", "target")
"""Columns that are shown even if they say nothing new."""


@click.command("list")
@click.argument("runs", nargs=-1)
@click.option(
    "--limit", type=click.IntRange(1), metavar="N",
    help="Only the newest N runs. [default: 20; with --json, all]",
)  # fmt: skip
@click.option("--suite", metavar="GLOB", help="Only runs of a suite whose path matches.")
@click.option("--target", metavar="GLOB", help="Only runs with a target whose name matches.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects.")
@runs_dir_option
def list_command(
    runs: tuple[str, ...], limit: int | None, suite: str | None, target: str | None,
    as_json: bool, runs_dir: str | None,
) -> int:  # fmt: skip
    """List the runs of this project and their results, newest first.

    RUNS are given as for `report`, optionally with a grading: RUN@1. By default, all are listed.

    \b
    evalcase list                   id, age, cases, pass rate, cost, suite, target
    evalcase list latest@1 latest   only these: two gradings of the newest run
    evalcase report ID              show one of them
    evalcase resume ID              continue one that is marked incomplete
    """
    config, folder = find_project(runs_dir)
    most = None
    if not (runs or suite or target):  # what is not shown need not be read
        most = limit if as_json else limit or _MOST_RUNS
    wanted = list_runs(folder, most) if not runs else []
    for name in runs:
        run, grading = find_run(name, folder)
        read_evaluated(StoredRun(run, grading))  # it complains if there is no such grading
        wanted.append(ListedRun(run.id, run.path, run, grading=grading))
    for key, glob in (("suites", suite), ("targets", target)):
        if glob is None:
            continue
        # One that can't be read names nothing.
        named = [(each, getattr(each.run.about, key) if each.run else ()) for each in wanted]
        wanted = [each for each, names in named if any(fits_pattern(name, glob) for name in names)]
        if named and not wanted and not as_json:
            hint = did_you_mean(glob, [name for _, names in named for name in names])
            said = f"no run has a {key.removesuffix('s')} `{glob}`"
            raise ConfigError(f"{said}; {hint}" if hint else said)
    if as_json:
        lines = [json_line(_object_of_run(each)) for each in wanted[:limit]]
        print_lines(["[" + ",\n".join(lines) + "]"])
    elif wanted:
        count = len(wanted) if most is None else count_runs(folder)
        _print_table(wanted[: limit or _MOST_RUNS], count, config.root)
    else:
        place = make_visible(seen_from(os.getcwd(), folder))
        print_lines([f"no runs yet in {place}; `evalcase run` creates one"])
    return 0


def _print_table(runs: list[ListedRun], count: int, root: str) -> None:
    """Some runs, of so many: a line for each, and what has to be said of it."""
    # A program that reads this gets one line for each run, however long.
    screen = prose_screen(sys.stdout)
    environment = this_environment()
    now, sealer = wall_time(), find_sealer(environment.state, root)
    rows, remarks = [list(_COLUMNS)], [""]
    for listed in runs:
        cells, remark = _make_row(listed, root, now, sealer)
        rows.append(cells)
        remarks.append(make_visible(remark))
    columns = zip(*rows, strict=True)
    news = [each for each in columns if each[0] in _ALWAYS or not {*each[1:]} <= {"", "–", "0"}]
    below = [""] * len(rows)
    if sum(max(map(cell_len, each)) + 2 for each in news) > screen.width + 2:
        # Where there is no room beside the numbers, words stand below them.
        words = list(zip(*(each for each in news if each[0] in _WORDS), strict=True))
        news = [each for each in news if each[0] not in _WORDS]
        for number, row in enumerate(words[1:], 1):
            known = [word for word in row if word]
            room, most = screen.width + 1 - 3 * len(known), screen.width
            while most > 1 and sum(min(cell_len(word), most) for word in known) > room:
                most -= 1
            below[number] = " · ".join(cut_middle(word, most) for word in known)
    table = screen.table(list(zip(*news, strict=True)), narrowest=max(map(len, news[0])))
    for line, told, remark in zip(table, below, remarks, strict=True):
        painted = screen.paint(remark, "warning")
        if remark and not told and len(line) + 2 + len(remark) <= screen.width:
            print_lines([f"{line}  {painted}"])
            continue
        rest = [screen.paint(told, "dim"), painted]
        print_lines([line, *(f"  {each}" for each in rest if each)])
    if count > len(runs):
        print_lines([f"and {count - len(runs):,} more: evalcase list --limit {count}"])


def _object_of_run(listed: ListedRun) -> dict[str, object]:
    """What `run --json` prints of a run, and what it was of; of a damaged one, why it is."""
    damaged = {"run": listed.id, "path": os.path.abspath(listed.path), "status": "damaged"}
    if listed.run is None:
        return {**damaged, "problem": listed.problem}
    try:
        summary = summary_object(read_evaluated(StoredRun(listed.run, listed.grading)))
    except RecordError as error:
        return {**damaged, "problem": str(error)}
    run = listed.run
    return {
        **summary, "created_at": run.created_at,
        "suites": list(run.about.suites), "targets": list(run.about.targets),
        "name": run.about.name, "note": run.about.note, "commit": run.about.commit,
        "branch": run.about.branch, "dirty": run.about.dirty,
    }  # fmt: skip


def _make_row(
    listed: ListedRun, root: str, now: float, sealer: Sealer | None
) -> tuple[list[str], str]:
    """The cells of a run, as far as it is known, and a remark: that it is incomplete or damaged,
    and what to do; or how often it was graded."""
    run, unknown = listed.run, [""] * len(_COLUMNS[2:])
    if run is None:
        # One of another version isn't damaged, and which run it is stands before.
        problem = listed.problem.removeprefix(f"{listed.path} was ")
        remark = f"damaged: {problem}" if problem == listed.problem else problem
        return [listed.id, "", *unknown], remark
    age, kept = _write_age(run.created_at, now), StoredRun(run, listed.grading)
    try:
        remark = remark_on(kept, own=sealer is not None and sealer.knows(run)).text
        rate, totals = rate_of(read_evaluated(kept)).rate, kept.totals
    except RecordError as error:
        return [listed.id, age, *unknown], f"damaged: {error}"
    counts, targets = totals.cases, run.about.targets
    per_target, left = divmod(counts.total, max(1, len(targets)))
    several = len(targets) > 1 and not left
    suites = list(map(see_suites(run, root, os.getcwd()), run.about.suites))
    return [
        listed.id, age, cut(run.about.name or "", _MOST_CELLS_OF_NAME),
        f"{per_target:,}×{len(targets)}" if several else f"{counts.total}",
        write_percent(totals.pass_rate), f"{counts.failed}", f"{counts.errored}",
        f"{counts.ungraded}", f"{counts.skipped}", write_money(totals.spent_usd),
        write_interval(rate), describe_commit(run), _name_several(suites), _name_several(targets),
    ], remark  # fmt: skip


def _name_several(names: Sequence[str]) -> str:
    first, *more = [cut_middle(name, _MOST_CELLS) for name in names] or ["–"]
    return f"{first} +{len(more)}" if more else first


def _write_age(created_at: str, now: float) -> str:
    try:
        created = datetime.fromisoformat(created_at)
        seconds = (datetime.fromtimestamp(now, UTC) - created).total_seconds()
    except (ValueError, TypeError):
        return "–"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return "now"


_HOURS = {"h": 1, "d": 24, "w": 7 * 24}


def _read_age(value: str | None) -> timedelta | None:
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]{1,5})([hdw])", value)
    if found is None:
        raise click.BadParameter("write it as 30d, 12h or 8w: days, hours, weeks")
    return timedelta(hours=int(found[1]) * _HOURS[found[2]])


@click.command("prune")
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N runs.")
@click.option(
    "--older-than", callback=checked(_read_age), metavar="AGE",
    help="Only remove runs older than this: 30d, 12h, 8w.",
)  # fmt: skip
@click.option("--incomplete", is_flag=True, help="Also remove runs that are not complete.")
@click.option("--yes", is_flag=True, help="Remove the runs instead of only listing them.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@runs_dir_option
def prune_command(
    keep: int | None, older_than: timedelta | None, incomplete: bool, yes: bool, as_json: bool,
    runs_dir: str | None,
) -> int:  # fmt: skip
    """Remove old runs (lists them first).

    \b
    evalcase prune --keep 20                   list all runs but the newest 20
    evalcase prune --keep 20 --yes             remove them
    evalcase prune --keep 20 --older-than 30d  of those, only the older ones

    Runs that are being written or can't be read are never removed. Runs that are not complete,
    which `evalcase resume` can continue, are removed only with --incomplete.
    """
    if keep is None and older_than is None:
        raise WrongUsageError("say what to keep: --keep N, --older-than AGE, or both")
    _, folder = find_project(runs_dir)
    found = find_old(folder, datetime.now(UTC), keep, older_than, incomplete=incomplete)
    going = [each for each in found if not each.kept_for]
    staying = [each for each in found if each.kept_for]
    for each in () if as_json else (*going, *staying):
        what = f"kept: {each.kept_for}" if each.kept_for else each.run.status
        print_lines([f"{each.run.id}  {decimal(each.bytes):>8}  {what}"])
    if not as_json and not (yes and going):
        would = f"{_count_runs(going)} would be removed; add --yes to remove them"
        print_lines([would if going else "nothing to remove"])
    removed: list[OldRun] = []
    if yes:
        remove_rests(folder)
        for each in going:
            try:
                remove_run(each.run)
            except RecordError as error:  # it keeps no other from going
                write_prose(f"evalcase: {error}")
            else:
                removed.append(each)
    if as_json:
        data = {
            "would_remove": [_object_of_old(each) for each in going],
            "stays": [{**_object_of_old(each), "because": each.kept_for} for each in staying],
            "removed": [each.run.id for each in removed],
        }
        print_lines([json.dumps(data)])
    elif removed:
        print_lines([f"removed {_count_runs(removed)}"])
    return 3 if yes and len(removed) < len(going) else 0


def _object_of_old(old: OldRun) -> dict[str, object]:
    return {"run": old.run.id, "bytes": old.bytes, "status": old.run.status}


def _count_runs(several: Sequence[OldRun]) -> str:
    size = decimal(sum(each.bytes for each in several))
    return f"{write_count(len(several), 'run')}, {size}"
