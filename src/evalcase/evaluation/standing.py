"""What of a plan has results already. That nothing has to be asked or graded of a run which was
completed is told without a look at each case: by a hash of all that they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from evalcase import __version__
from evalcase.errors import ConfigError, SuiteError
from evalcase.evaluation.plan import Plan, trials_of
from evalcase.store.index import FinishedTrial, Index
from evalcase.store.rows import End
from evalcase.types.result import Trial
from evalcase.types.value import replace
from evalcase.util.files import UNREADABLE


def note_basis(end: End, plan: Plan, plain: int) -> End:
    """The same end with a hash of what all trials of a plan rest on, if all of them ask and expect
    plain texts."""
    basis = print_basis(plan) if plain == plan.planned == plan.cases else None
    return end if basis is None else replace(end, rests_on=basis)


def print_basis(plan: Plan) -> str | None:
    """A hash of all that decides what trials a plan has, and what each asks and expects, if those
    are plain texts: neither files in content nor graders are in it. None where no file says it."""
    try:
        files = plan.suites.file_hashes()
    except ConfigError:  # one is being written to; who looks at the cases says so
        return None
    if not files or UNREADABLE in files.values():
        return None
    options = plan.options
    asked = options.targets, plan.config.target, options.repeat, options.selection
    # The version is in it, for another one may make other cases of the same files.
    told = repr((__version__, sorted(files.items()), asked))
    return sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def is_settled(plan: Plan, index: Index) -> bool:
    """Whether all trials of a plan have results that stand. If this doesn't know, a look at each of
    them does."""
    basis = index.find_basis()
    return basis is not None and len(index) >= plan.planned and basis == print_basis(plan)


def find_later(first: Trial, index: Index) -> Iterator[tuple[Trial, FinishedTrial]]:
    """The trials of a case from when it was repeated more often, given its first: they count still,
    and so have to rest on what it says now, as the others do. Where a run was broken off, some of
    them may have no result."""
    if first.repeat > 1:
        return
    for repeat in range(first.repeats + 1, index.last_repeat + 1):
        later = first._replace(repeat=repeat)
        found = index.find(later.key)
        if found is not None:
            yield later, found


def count_planned(end: End, plan: Plan, index: Index, new: int) -> End:
    """The same end; where a run that went on was interrupted, with how many of the trials that are
    planned now have a result, `new` ones among them, if the suites can still say."""
    if end.status != "interrupted" or (finished := _count_finished(plan, index)) is None:
        return end
    return replace(end, finished=new + finished, planned=plan.planned)


def _count_finished(plan: Plan, index: Index) -> int | None:
    """How many of the trials that are planned now have a result; None if the suites can't say."""
    trials = (trial for name in plan.trials for trial in trials_of(plan, name))
    try:
        return sum(index.find(each.key) is not None for each in trials)
    except (ConfigError, SuiteError):
        return None
