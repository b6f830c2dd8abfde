"""What a survey of suites would find, told by a hash: those of a run that was completed need not be
gone through for it while they are what they were then."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from evalcase import __version__
from evalcase.evaluation.request import RunRequest
from evalcase.project.options import RunOptions
from evalcase.record.ending import read_end
from evalcase.run.selection import Chooser
from evalcase.suites.collection import Suites
from evalcase.suites.refusal import SuiteNeeds
from evalcase.suites.survey import Survey


def recall_survey(request: RunRequest, suites: Suites, choice: Chooser) -> Survey | None:
    """What was found before the last part of a run that was completed, if it would be found again.
    None where only a look at each case can say."""
    if request.run is None or request.given is not None:
        return None
    end, options, default = read_end(request.run.journal), request.options, request.config.target
    found, rests_on = end.surveyed, end.rests_on
    if not found or rests_on is None or min(found.values()) < 1 or choice.narrows:
        return None
    # Anyone may have written the record.
    if list(found) != list(dict.fromkeys(options.targets or (default,))):
        return None
    files = suites.recall(lambda hashes: hash_basis(hashes, options, default) == rests_on)
    named = set() if default is None or options.targets else {default}
    needs = {path: SuiteNeeds(named, *(set() for _ in SuiteNeeds._fields[1:])) for path in files}
    cases = min(found.values())
    return Survey(found, found, needs, choice, set(), set(), chosen=cases) if files else None


def hash_basis(files: Mapping[str, str], options: RunOptions, default: str | None) -> str:
    """A hash of all that decides which trials there are, and what they ask and expect if they are
    plain: of files, by their hashes, of options, and of the target where those name none.

    The version is in it, for another one may make other cases of the same files.
    """
    asked = options.targets, default, options.repeat, options.selection
    told = repr((__version__, sorted(files.items()), asked))
    return sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:32]
