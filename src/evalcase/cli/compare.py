"""`evalcase compare`: two runs, or two targets, case by case, and gates on what changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import NamedTuple, get_args

import click

from evalcase.cli.errors import explain_errors
from evalcase.cli.options import (
    Count,
    Number,
    WrongUsageError,
    checked,
    cluster_option,
    run_option,
    runs_dir_option,
)
from evalcase.cli.paths import find_suite_places, look_for_runs
from evalcase.cli.reports.size import max_size_option
from evalcase.cli.terminal import defuse_lines, screen_for
from evalcase.config.config import Config
from evalcase.errors import ConfigError
from evalcase.report.aggregate import Clustering
from evalcase.report.compare import compare_sides, pair_targets, pair_within, require_target
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
from evalcase.report.paired_cases import ChangeKind, Side
from evalcase.report.terminal import Screen
from evalcase.report.trials_file import TrialsFile
from evalcase.runner.evaluated import read_evaluated
from evalcase.store.folder import describe_part, folder_of_run
from evalcase.store.runs import FoundRun, choose_base, find_run
from evalcase.store.stored import StoredRun
from evalcase.types.value import replace


class Sides(NamedTuple):
    base: Side
    head: Side
    targets: dict[str, str]
    """For each target of head that is compared, that of base."""
    chosen: bool = False
    """Whether somebody has named them, so that the others are not missed."""


class AskedSides(NamedTuple):
    """What a person named."""

    names: tuple[str, ...]
    baseline: str | None
    targets: tuple[str, str] | None


def open_sides(asked: AskedSides, config: Config, runs_dir: str | None, stack: ExitStack) -> Sides:
    """Raise ConfigError if there are no two sides to compare."""
    folder = config.find_runs(runs_dir)

    def open_side(name: str) -> Side:
        return _open_side(name, folder, config.root, stack)

    if asked.baseline is not None:
        if len(asked.names) > 1:
            raise ConfigError("--baseline is the base: give at most one run besides it")
        base = _open_file(asked.baseline, config.root, stack)
        return _pair_sides(
            base, open_side(asked.names[0] if asked.names else "latest"), asked.targets
        )
    if len(asked.names) == 1 or (not asked.names and asked.targets is not None):
        return _pair_alone(open_side(asked.names[0] if asked.names else "latest"), asked.targets)
    if asked.names:
        return _pair_sides(open_side(asked.names[0]), open_side(asked.names[1]), asked.targets)
    head, base = open_side("latest"), _choose_base(folder, open_side)
    return _pair_sides(base, head, asked.targets)


def _choose_base(folder: str, open_side: Callable[[str], Side]) -> Side:
    """What the latest run is compared with where nobody says it; and why that, if it is not simply
    the one before."""
    chosen = choose_base(folder)
    if chosen is None or not chosen.passed_over:
        return open_side("previous" if chosen is None else chosen.path)
    count = chosen.passed_over
    runs = "1 run of other cases is" if count == 1 else f"{count:,} runs of other cases are"
    why = f"the newest run before head of the same cases; {runs} in between"
    return replace(open_side(chosen.path), choice=why)


def _pair_sides(base: Side, head: Side, targets: tuple[str, str] | None) -> Sides:
    """Raise ConfigError if something would be compared with itself: whatever is asked then, nothing
    would ever be worse."""
    sides = _pair_different(base, head, targets)
    if _is_same(base, head) and any(one == other for one, other in sides.targets.items()):
        raise ConfigError(f"base and head are both {head.label}: there is nothing to compare")
    return sides


def _pair_different(base: Side, head: Side, targets: tuple[str, str] | None) -> Sides:
    if targets is not None:
        return Sides(
            base, head, {require_target(targets[1], head): require_target(targets[0], base)}, True
        )
    paired = pair_targets(base.kept.targets, head.kept.targets)
    if not paired and base.kept.targets and head.kept.targets:
        raise ConfigError(
            f"no target has the same name in both: base has {_list_targets(base)}, head has "
            f"{_list_targets(head)}; --targets BASE HEAD names one of each"
        )
    return Sides(base, head, paired)


def _pair_alone(side: Side, targets: tuple[str, str] | None) -> Sides:
    """Targets of one run, side by side."""
    if targets is not None:
        one, other = (require_target(name, side) for name in targets)
        if one == other:
            raise ConfigError(f"--targets names `{one}` twice")
        return Sides(side, side, {other: one})
    if len(side.kept.targets) < 2:
        raise ConfigError(
            f"{side.label} has results for only one target: give a second run to compare it with"
        )
    return Sides(side, side, pair_within(_in_order(side)))


def _in_order(side: Side) -> list[str]:
    """The targets of a side as its run had them; of a file, which doesn't say, by name."""
    kept = side.kept
    known = kept.run.about.targets if isinstance(kept, StoredRun) else ()
    places = {name: at for at, name in enumerate(known)}
    return sorted(kept.targets, key=lambda name: (places.get(name, len(places)), name))


def _is_same(base: Side, head: Side) -> bool:
    one, other = base.kept, head.kept
    if isinstance(one, TrialsFile) and isinstance(other, TrialsFile):
        return os.path.realpath(one.path) == os.path.realpath(other.path)
    if isinstance(one, TrialsFile) and isinstance(other, StoredRun):
        return _is_file_of(one, other)
    if isinstance(one, StoredRun) and isinstance(other, TrialsFile):
        return _is_file_of(other, one)
    if not isinstance(one, StoredRun) or not isinstance(other, StoredRun):
        return False
    if os.path.realpath(one.run.path) != os.path.realpath(other.run.path):
        return False
    return (one.grading or one.gradings) == (other.grading or other.gradings)


def _is_file_of(file: TrialsFile, kept: StoredRun) -> bool:
    """Whether a file has the trials of a run. It doesn't say of which grading: with several, it may
    be another."""
    return file.runs == (kept.run.id,) and kept.gradings == 1


def _list_targets(side: Side) -> str:
    return ", ".join(f"`{name}`" for name in side.kept.targets)


def _open_side(name: str, folder: str, root: str, stack: ExitStack) -> Side:
    if name.endswith(".jsonl") or os.path.isfile(name):
        return _open_file(name, root, stack)
    return _run_side(find_run(name, folder), root, stack)


def _run_side(found: FoundRun, root: str, stack: ExitStack) -> Side:
    kept = stack.enter_context(StoredRun(*found))
    # What a record says of itself is no name: it may come from anyone.
    id = os.path.basename(os.path.realpath(kept.run.path))
    label = id if found.grading is None else f"{id}@{found.grading}"
    find_place = find_suite_places(root, folder_of_run(kept.run))
    return Side(
        kept, label, find_place, _why_missing(kept), kept.mixed,
        origin=kept.run.about.failed_of or "", part=describe_part(kept.run),
    )  # fmt: skip


def _why_missing(kept: StoredRun) -> str:
    evaluated = read_evaluated(kept)
    if evaluated.complete:
        return ""
    without = evaluated.not_run + evaluated.totals.unfinished
    said = "; ".join(filter(None, (evaluated.notice, evaluated.graded_so_far)))
    why = f"{evaluated.status}: {said}" if said else evaluated.status
    if not without:
        return why
    has = "case has" if without == 1 else "cases have"
    return f"{without:,} {has} no verdict ({why})"


def _open_file(path: str, root: str, stack: ExitStack) -> Side:
    try:
        kept = TrialsFile(path)
        stack.callback(kept.close)
        return Side(
            kept, path, find_suite_places(root, kept.folder), kept.missing, kept.mixed,
            whole_cases=False, origin=kept.origin or "",
            part=f"cases that did not pass in {kept.origin}" if kept.origin else "",
        )  # fmt: skip
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror or error}") from error


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
    "--effect", type=Number(0, 1, min_open=True), default=EFFECT, show_default=True,
    help="The change to detect; the output says how many cases that needs.",
)  # fmt: skip
@click.option(
    "--show", "shown", multiple=True, type=click.Choice(_KINDS), default=("broken",),
    show_default=True, help="Which cases to show with both answers. Repeatable.",
)  # fmt: skip
@click.option(
    "--limit", type=Count(0), default=5, show_default=True,
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
@explain_errors
def command(
    runs: tuple[str, ...], baseline: str | None, targets: tuple[str, str] | None,
    gates: tuple[ComparisonGate, ...], graders: tuple[str, ...], measure: Measure | None,
    cluster: str | None, effect: float, shown: tuple[ChangeKind, ...], limit: int,
    max_errors: int | None, form: str | None, as_json: bool, output: str | None, max_size: int,
    runs_dir: str | None,
) -> int:  # fmt: skip
    """Compare two runs case by case: what was fixed, what broke, and whether it may be chance.

    BASE and HEAD are runs, given as for `report`, or files written by `report --format jsonl`; by
    default, the latest run and the newest one before it with the same selection of cases. Cases
    are paired by suite and id, and targets by name, unless each run has only one. With a single
    run, its first target is compared with the others.

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
    config = look_for_runs(os.getcwd())
    clustering = _read_clustering(cluster)
    with ExitStack() as stack:
        sides = open_sides(AskedSides(runs, baseline, targets), config, runs_dir, stack)
        comparison = compare_sides(*sides[:3], clustering, chosen=sides.chosen)
        if clustering is not None and comparison.pairs and not clustering.found:
            raise ConfigError(f"no compared case has a value at {clustering.path}")
        gated = find_gated(comparison, measure, graders) if comparison.pairs else []
        judged = judge_gates(comparison, gated, gates, max_errors or 0)
        compared = Compared(comparison, gated, judged, effect, shown, limit)
        chosen = _choose_form("json" if as_json else form, output)
        if chosen == "html":
            _write_page(compared, output, max_size)
        else:
            _write_comparison(_FORMS[chosen], compared, output)
        return gates_exit_code(judged)


def _read_clustering(path: str | None) -> Clustering | None:
    try:
        return None if path is None else Clustering(path)
    except ValueError as error:
        raise ConfigError(f"--cluster: {error}") from None


Form = Callable[[Compared, Screen], Iterator[str]]


def _write_text(compared: Compared, screen: Screen) -> Iterator[str]:
    from evalcase.report.comparison_text import comparison_lines

    return comparison_lines(compared, screen)


def _write_markdown(compared: Compared, screen: Screen) -> Iterator[str]:
    from evalcase.report.markdown import markdown_lines

    del screen
    return markdown_lines(compared)


def _write_json(compared: Compared, screen: Screen) -> Iterator[str]:
    from evalcase.report.json import comparison_object, json_line

    del screen
    yield json_line(comparison_object(compared))


_FORMS: dict[str, Form] = {"text": _write_text, "markdown": _write_markdown, "json": _write_json}


def _choose_form(asked: str | None, path: str | None) -> str:
    from evalcase.cli.reports.forms import choose_form

    return choose_form(asked, path, _COMPARED_FORMS)


def _write_page(compared: Compared, path: str | None, max_size: int) -> None:
    from evalcase.cli.reports.compared_page import write_compared_html
    from evalcase.cli.reports.forms import refuse_terminal, tell_written, write_pieces

    pieces = write_compared_html(compared, max_size)
    if path is not None:
        write_pieces(pieces, path)
        tell_written(path)
        return
    refuse_terminal("html", sys.stdout)
    for piece in pieces:
        sys.stdout.buffer.write(piece)


def _write_comparison(form: Form, compared: Compared, path: str | None) -> None:
    if path is None:
        for line in defuse_lines(form(compared, screen_for(sys.stdout))):
            sys.stdout.write(line + "\n")
        return
    from evalcase.cli.reports.forms import tell_written, write_pieces

    write_pieces([line + "\n" for line in form(compared, Screen())], path)
    tell_written(path)
