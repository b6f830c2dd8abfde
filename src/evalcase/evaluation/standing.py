"""What of a plan has results already. That nothing has to be asked or graded of a run which was
completed is told without a look at each case: by a hash of all that they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256

from evalcase import __version__
from evalcase.errors import ConfigError, SuiteError
from evalcase.evaluation.plan import Plan, trials_of
from evalcase.evaluation.request import RunRequest
from evalcase.model.trial import Trial
from evalcase.model.value import replace
from evalcase.project.options import RunOptions
from evalcase.record.ending import End, read_end
from evalcase.record.finished import FinishedTrial
from evalcase.record.folder import Run
from evalcase.record.index import Index
from evalcase.run.selection import Chooser
from evalcase.suites.collection import Suites
from evalcase.suites.refusal import SuiteNeeds
from evalcase.suites.survey import Survey
from evalcase.system.digests import UNREADABLE


def note_basis(end: End, plan: Plan, plain: int) -> End:
    """The same end with what all trials of a plan rest on, and what was found of them before, if as
    many as there are ask and expect plain texts."""
    basis = print_basis(plan) if plain == plan.planned == plan.cases else None
    return end if basis is None else replace(end, rests_on=basis, surveyed=_note_survey(plan))


def print_basis(plan: Plan) -> str | None:
    """A hash of all that decides what trials a plan has, and what each asks and expects, if those
    are plain texts: neither files in content nor graders are in it. None where no file says it."""
    try:
        files = plan.suites.file_hashes()
    except ConfigError:  # one is being written to; who looks at the cases says so
        return None
    if not files or UNREADABLE in files.values():
        return None
    return hash_basis(files, plan.options, plan.config.target)


def hash_basis(files: Mapping[str, str], options: RunOptions, default: str | None) -> str:
    """A hash of all that decides which trials there are, and what they ask and expect if they are
    plain: of files, by their hashes, of options, and of the target where those name none.

    The version is in it, for another one may make other cases of the same files.
    """
    asked = options.targets, default, options.repeat, options.selection
    told = repr((__version__, sorted(files.items()), asked))
    return sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _note_survey(plan: Plan) -> dict[str, int] | None:
    """How many trials each target has, if all that could be known or said of suites of plain cases
    is that: each target is asked about each of them."""
    if plan.choice.narrows or plan.suites.warnings or plan.suites.notes:
        return None
    asked = _list_asked(plan.options, plan.config.target)
    is_all = list(plan.trials) == asked and len({*plan.trials.values()}) == 1
    return dict(plan.trials) if is_all else None


def _list_asked(options: RunOptions, default: str | None) -> list[str | None]:
    """The targets that a case is asked of which names none itself."""
    return list(dict.fromkeys(options.targets or (default,)))


def recall_survey(run: Run, request: RunRequest, suites: Suites, choice: Chooser) -> Survey | None:
    """What was found before the last part of a run that was completed, if it would be found again.
    None where only a look at each case can say."""
    if request.given is not None:
        return None
    end, options, default = read_end(run.journal), request.options, request.config.target
    found, rests_on = end.surveyed, end.rests_on
    if not found or rests_on is None or min(found.values()) < 1 or choice.narrows:
        return None
    if list(found) != _list_asked(options, default):
        return None  # anyone may have written the record
    files = suites.recall(lambda hashes: hash_basis(hashes, options, default) == rests_on)
    named = set() if default is None or options.targets else {default}
    needs = {path: SuiteNeeds(named, *(set() for _ in SuiteNeeds._fields[1:])) for path in files}
    cases = min(found.values())
    return Survey(found, found, needs, choice, set(), set(), chosen=cases) if files else None


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
