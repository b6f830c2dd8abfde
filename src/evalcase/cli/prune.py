"""`evalcase prune`: old runs removed, after it has said which."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import click

from evalcase.cli.options import Count, WrongUsageError, checked, runs_dir_option
from evalcase.cli.stored import find_project
from evalcase.cli.terminal import print_lines, write_prose
from evalcase.errors import RecordError
from evalcase.store.runs import Keeping, OldRun, find_old, remove_rests, remove_run
from evalcase.util.text import write_count

_UNITS = {"h": 3_600, "d": 86_400, "w": 7 * 86_400}
_LONGEST = 100 * 365 * 86_400


def _read_duration(value: str | None) -> timedelta | None:
    if value is None:
        return None
    number, unit = value[:-1], value[-1:]
    if not (number.isascii() and number.isdigit() and len(number) <= 9 and unit in _UNITS):
        raise click.BadParameter("write it as 30d, 12h or 8w: days, hours, weeks")
    return timedelta(seconds=min(int(number) * _UNITS[unit], _LONGEST))


@click.command("prune")
@click.option("--keep", type=Count(0), metavar="N", help="Keep the newest N runs.")
@click.option(
    "--older-than", callback=checked(_read_duration), metavar="AGE",
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
    found = find_old(folder, Keeping(keep, older_than, not incomplete), datetime.now(UTC))
    going = [each for each in found if not each.kept_for]
    staying = [each for each in found if each.kept_for]
    if not as_json:
        print_lines(_plan_lines(going, staying, yes))
    removed: list[OldRun] = []
    if yes:
        remove_rests(folder)
        removed = _remove_runs(going)
    if as_json:
        data = {
            "would_remove": [_object_of_run(each) for each in going],
            "stays": [{**_object_of_run(each), "because": each.kept_for} for each in staying],
            "removed": [each.run.id for each in removed],
        }
        print_lines([json.dumps(data)])
    elif removed:
        print_lines([f"removed {_count_runs(removed)}"])
    return 3 if yes and len(removed) < len(going) else 0


def _remove_runs(going: Sequence[OldRun]) -> list[OldRun]:
    """Remove one after the other; what can't be removed is said, and keeps no other from going."""
    removed = []
    for each in going:
        try:
            remove_run(each.run)
        except RecordError as error:
            write_prose(f"evalcase: {error}")
        else:
            removed.append(each)
    return removed


def _plan_lines(going: Sequence[OldRun], staying: Sequence[OldRun], yes: bool) -> Iterator[str]:
    for each in (*going, *staying):
        what = f"kept: {each.kept_for}" if each.kept_for else each.run.status
        yield f"{each.run.id}  {_say_size(each.bytes):>8}  {what}"
    if not going:
        yield "nothing to remove"
    elif not yes:
        yield f"{_count_runs(going)} would be removed; add --yes to remove them"


def _object_of_run(old: OldRun) -> dict[str, object]:
    return {"run": old.run.id, "bytes": old.bytes, "status": old.run.status}


def _count_runs(several: Sequence[OldRun]) -> str:
    size = _say_size(sum(each.bytes for each in several))
    return f"{write_count(len(several), 'run')}, {size}"


def _say_size(count: int) -> str:
    for size, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
