"""What is printed when a run is over, or when a kept one is looked at."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import asdict

from evalcase.cli.terminal import seen_from
from evalcase.config.config import Config
from evalcase.runner.evaluated import Evaluated
from evalcase.store.folder import RUN_ID, Run, describe_part, is_run
from evalcase.store.reader import HALF_WRITTEN
from evalcase.types.codec import encode_object
from evalcase.types.question import TrialKey
from evalcase.types.value import replace
from evalcase.util.text import make_visible

if TYPE_CHECKING:
    # Whoever wants JSON needs nothing of what people read.
    from evalcase.report.figures import Figures, Mean
    from evalcase.report.highlights import Highlights
    from evalcase.report.summary import PartKind, RunEnding
    from evalcase.report.terminal import FindCase, Screen
    from evalcase.store.stored import StoredRun


class RecordPlace(NamedTuple):
    """Where a person is who reads what is printed; `resume` works elsewhere."""

    cwd: str
    config: Config


def conclusion_lines(
    evaluated: Evaluated, statistics: Highlights, find_case: FindCase,
    place: RecordPlace, screen: Screen, figures: Figures | None = None,
    by: Collection[PartKind] | None = None, *, is_own: bool = True, verbose: bool = False,
) -> Iterator[str]:  # fmt: skip
    """All of it: what went wrong, the figures, the verdict, and what to do next."""
    from evalcase.cli.run_again import find_unread, stays_errored, suggest_new_run
    from evalcase.report.summary import PART_KINDS, summary_lines

    failed = statistics.shown("failed")
    first = failed[0].result.key if failed else None
    name, fixed = name_run(evaluated.run, place), ""
    errored = [each.result for each in statistics.shown("errored")]
    if stays_errored(errored):
        fixed = suggest_new_run(evaluated, name, place.config.root, place.cwd)
    elif (unread := find_unread(errored)) is not None:
        fixed = f"evalcase report {name} --case {_quote_word(unread.case)}"
    next_one = suggest_next(evaluated, name, first, fixed, is_own=is_own)
    ending = _make_ending(evaluated, place, next_one)
    if figures is None:
        from evalcase.report.aggregate import sum_up

        targets = evaluated.run.about.targets
        figures = sum_up(statistics.ledger, not_run=evaluated.not_run, targets=targets)
        if evaluated.decision is not None or evaluated.is_biased:
            from evalcase.report.figures import settle_figures

            figures = settle_figures(figures, evaluated.decision, is_biased=evaluated.is_biased)
    by = PART_KINDS if by is None else by
    return summary_lines(statistics, figures, ending, find_case, screen, by, verbose=verbose)


def last_lines(
    evaluated: Evaluated, place: RecordPlace, screen: Screen, *, is_own: bool = True
) -> Iterator[str]:
    """Only the verdict, where the record is, and how to go on with what is not complete."""
    from evalcase.report.summary import ending_lines, verdict_lines

    next_one = ""
    if not evaluated.complete:
        next_one = suggest_next(evaluated, name_run(evaluated.run, place), is_own=is_own)
    ending = _make_ending(evaluated, place, next_one)
    rate = rate_of(evaluated)
    return chain(verdict_lines(ending, rate, screen), ending_lines(ending, screen))


def rate_of(evaluated: Evaluated) -> Mean:
    """The pass rate of a run, with the interval that follows from its totals, if one does."""
    from evalcase.report.figures import pass_rate_of

    rate, decision = pass_rate_of(evaluated.totals), evaluated.decision
    if decision is not None:
        return replace(rate, low=decision.low, high=decision.high)
    if evaluated.is_biased or evaluated.is_shared:
        return replace(rate, low=None, high=None)
    return rate


def gather_statistics(kept: StoredRun) -> Highlights:
    """Those of all results that were kept."""
    from evalcase.report.highlights import Highlights
    from evalcase.runner.evaluated import Figuring

    statistics = Highlights(ledger=Figuring().open_ledger(kept.run))
    for result in kept.results():
        statistics.add(result, kept.find_tagged(result.key.suite, result.key.case))
    return statistics


def _make_ending(evaluated: Evaluated, place: RecordPlace, next_one: str) -> RunEnding:
    from evalcase.cli.paths import see_suites
    from evalcase.cli.rate_gate import say_gate
    from evalcase.report.summary import RunEnding

    return RunEnding(
        evaluated.totals, evaluated.duration_s, seen_from(place.cwd, evaluated.run.path),
        why_incomplete(evaluated), next_one,
        f"evalcase report {_at_grading(evaluated, name_run(evaluated.run, place))} -o report.html",
        "" if evaluated.graded_by is None else make_visible(str(evaluated.graded_by)),
        describe_part(evaluated.run),
        evaluated.not_run, see_suites(evaluated.run, place.config.root, place.cwd),
        say_mixed(evaluated.mixed), _say_saved(evaluated), say_gate(evaluated),
    )  # fmt: skip


def say_mixed(targets: Sequence[str]) -> str:
    """That a run has answers of several versions of a target; nothing where it has not."""
    if not targets:
        return ""
    names = ", ".join(f"`{name}`" for name in targets)
    return f"answers from before and after {names} changed"


def name_run(run: Run, place: RecordPlace) -> str:
    """How a run is named on the command line: by its id where it is looked for there, else by its
    folder. What a record says of itself is no name: it may come from anyone."""
    kept = os.path.dirname(os.path.realpath(run.path))
    id = os.path.basename(os.path.realpath(run.path))
    if not RUN_ID.fullmatch(id):  # a folder that somebody has renamed is found by its path only
        return _quote_word(seen_from(place.cwd, run.path))
    if kept == os.path.realpath(place.config.find_runs()):
        return _quote_word(id)
    folder = os.path.dirname(seen_from(place.cwd, run.path)) or "."
    return f"{_quote_word(id)} --runs-dir {_quote_word(folder)}"


def _say_saved(evaluated: Evaluated) -> str:
    """What a run that was decided early has spared, by what its cases cost so far."""
    done, spent = evaluated.totals.cases.total, evaluated.totals.cost_usd
    if evaluated.decision is None or not evaluated.not_run:
        return ""
    from evalcase.report.figures import write_money

    cost = f", about {write_money(spent / done * evaluated.not_run)}" if spent and done else ""
    return f"{evaluated.not_run:,} cases that were not run{cost}"


def why_incomplete(evaluated: Evaluated) -> str:
    """Why a run has not all of its results, in words; empty where it has."""
    if evaluated.complete:
        return ""
    graded = evaluated.graded_so_far
    is_torn = evaluated.notice == HALF_WRITTEN
    if not is_torn and (evaluated.notice or evaluated.status not in ("interrupted", "incomplete")):
        return "; ".join(filter(None, (evaluated.notice or evaluated.status, graded)))
    word = "interrupted" if evaluated.status == "interrupted" else "killed, or still running"
    so_far = graded or f"{say_trials(evaluated)} finished and stored"
    return f"{word}, with {so_far}" + (f"; {HALF_WRITTEN}" if is_torn else "")


def say_progress(evaluated: Evaluated) -> str:
    """How far a run that is not complete got, or its newest grading."""
    return evaluated.graded_so_far or say_trials(evaluated)


def say_trials(evaluated: Evaluated) -> str:
    """How many trials of how many a run has. Where it has more than were planned, its suites were
    changed since, and nothing says of how many."""
    planned, done = evaluated.run.about.trials, evaluated.totals.trials.total
    if evaluated.finished is not None and evaluated.planned is not None:
        planned, done = evaluated.planned, evaluated.finished
    is_known = planned is not None and done <= planned
    return f"{done:,} of {planned:,} trials" if is_known else f"{done:,} trials"


def suggest_next(
    evaluated: Evaluated, name: str, failed: TrialKey | None = None, fixed: str = "", *,
    is_own: bool = True,
) -> str:  # fmt: skip
    """The command that most people want now; none if all is well. Nobody is led to go on with a
    run of somebody else's: that does what its record says. `fixed` is for what errored, where
    trying again would not help."""
    if not is_run(evaluated.run.path):  # somebody took it away while it was written
        return ""
    resuming = _suggest_resuming(evaluated, name, fixed)
    if resuming and is_own:
        return resuming
    graded = _at_grading(evaluated, name)
    if failed is not None:
        return f"evalcase report {graded} --case {_quote_word(failed.case)}"
    cases = evaluated.totals.cases
    is_bad = cases.failed or cases.ungraded or evaluated.failed_fast or evaluated.lost
    return f"evalcase report {graded}" if is_bad else ""


def _at_grading(evaluated: Evaluated, name: str) -> str:
    """What `name_run` made, for the grading that is looked at: another may have other verdicts."""
    if evaluated.grading is None:
        return name
    run, option, folder = name.partition(" --runs-dir ")
    return f"{run}@{evaluated.grading}{option}{folder}"


def _suggest_resuming(evaluated: Evaluated, name: str, fixed: str) -> str:
    """How to go on with a run that can be gone on with; an earlier grading can not."""
    by = evaluated.graded_by
    if by is not None and not (by.complete or by.is_newest):
        return ""
    if evaluated.totals.trials.errored and (evaluated.complete or evaluated.failed_fast):
        return fixed or f"evalcase resume {name} --retry-errored"
    if evaluated.cap_usd is not None:
        return f"evalcase resume {name} --max-cost {_raised_cap(evaluated)}"
    if not evaluated.complete and not evaluated.failed_fast and not evaluated.lost:
        return f"evalcase resume {name}"
    return ""


def _raised_cap(evaluated: Evaluated) -> str:
    """A cap that leaves room for about as much again as was spent, in two digits."""
    usd = 2 * max(evaluated.cap_usd or 0.0, evaluated.totals.spent_usd or 0.0) or 1.0
    return f"{float(f'{usd:.2g}'):.12f}".rstrip("0").rstrip(".")


def summary_object(
    evaluated: Evaluated, figures: dict[str, object] | None = None
) -> dict[str, object]:
    """What `--json` prints; without figures, with those that follow from the totals."""
    totals = evaluated.totals
    if figures is None:
        from evalcase.report.json import totals_object

        figures = totals_object(
            totals, evaluated.not_run, evaluated.decision,
            is_biased=evaluated.is_biased, is_shared=evaluated.is_shared,
        )  # fmt: skip
    return {
        "run": evaluated.run.id, "path": os.path.abspath(evaluated.run.path),
        "status": evaluated.status,
        **asdict(totals.cases), "pass_rate": totals.pass_rate, "unfinished": totals.unfinished,
        "not_run": evaluated.not_run,
        "figures": figures,
        "trials": asdict(totals.trials),
        "cost_usd": totals.cost_usd, "grading_usd": totals.grading_usd,
        "users_usd": totals.users_usd, "lost_usd": totals.lost_usd,
        "spent_usd": totals.spent_usd, "cached": totals.cached,
        "duration_s": evaluated.duration_s,
        "decision": encode_object(evaluated.decision) if evaluated.decision is not None else None,
        "failed_of": evaluated.run.about.failed_of, "selected": _tell_selected(evaluated.run),
        "mixed": list(evaluated.mixed),
        "grading": None if evaluated.graded_by is None else evaluated.graded_by._asdict(),
    }  # fmt: skip


def _tell_selected(run: Run) -> dict[str, int] | None:
    selected = run.about.selected
    return None if selected is None else {"cases": selected.chosen, "of": selected.total}


def _quote_word(text: str) -> str:
    """As a shell takes it for one word."""
    from shlex import quote

    return quote(text)
