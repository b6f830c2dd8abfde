"""Reports that a run is to leave behind: asked for before it begins, written when it is over."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from evalcase.cli.conclusion import RecordPlace
from evalcase.cli.terminal import seen_from, write_prose
from evalcase.errors import ConfigError, EvalcaseError
from evalcase.store.folder import Run
from evalcase.types.value import Value
from evalcase.util.text import make_visible

if TYPE_CHECKING:
    from evalcase.store.stored import StoredRun

report_option = click.option(
    "-o", "--report", "reports", multiple=True, metavar="FILE",
    help="Write a report at the end; the extension of FILE sets its format. Repeatable.",
)  # fmt: skip


class Request(Value, frozen=True):
    """A report that is wanted of a run."""

    form: str
    path: str
    """Absolute: a run may go elsewhere."""


def request_reports(paths: Sequence[str]) -> tuple[Request, ...]:
    """Raise ConfigError for what can't be written, before anything is run, and paid."""
    if not paths:
        return ()
    from evalcase.cli.reports.forms import form_of, require_form

    requests = []
    for path in paths:
        form = form_of(path)
        require_form(form)
        _require_folder(path)
        requests.append(Request(form, os.path.abspath(path)))
    return tuple(requests)


def _require_folder(path: str) -> None:
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path) or not os.path.isdir(folder):
        why = "it is a folder" if os.path.isdir(path) else f"there is no folder {folder}"
        raise ConfigError(f"{path} can't be written: {why}")


def write_reports(
    requests: Sequence[Request], kept: StoredRun, place: RecordPlace, *, quiet: bool = False
) -> int:
    """Write what was asked for; 0, or the exit code for what could not be written, now or before.
    What was run is kept all the same, and can be reported again."""
    from evalcase.store.folder import note_pending, read_pending

    owed = set(read_pending(kept.run))
    note_pending(kept.run, owed | {request.form for request in requests})
    left = owed - {request.form for request in requests}
    code = 0
    for request in requests:
        from evalcase.cli.reports.forms import tell_written, write_file
        from evalcase.cli.reports.reported import Reported

        try:
            write_file(request.form, Reported(kept, place), request.path)
            if not quiet:
                tell_written(seen_from(place.cwd, request.path))
        except EvalcaseError as error:
            write_prose(f"evalcase: {error}", sys.stderr)
            left.add(request.form)
            code = 3
    note_pending(kept.run, left)
    return code or tell_owed(kept.run)


def tell_owed(run: Run) -> int:
    """Say which reports an earlier command could not write: 0, or the exit code if there are."""
    from evalcase.store.folder import read_pending

    owed = read_pending(run)
    if not owed:
        return 0
    # A note may come from anyone, as the run may.
    forms = make_visible(", ".join(sorted(owed)))
    said = f"a report of {run.id} was asked for and could not be written: {forms}"
    write_prose(
        f"{said}; `evalcase resume --report FILE` writes it. The exit code is 3", sys.stderr
    )
    return 3
