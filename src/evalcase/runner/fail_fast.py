"""Results in, one at a time; out whether the run can't end well any more, for `--fail-fast`."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from msgspec import Struct

from evalcase.types.grade import reaches
from evalcase.types.result import Result, Verdict, decide_case_verdict


class _Tried(Struct):
    """The trials so far of a case that has several."""

    trials: int = 0
    passed: int = 0
    errored: bool = False


class FailFast:
    """Cases are what fails; of trials that error, so many are allowed."""

    def __init__(
        self, max_errors: int = 0, name_of: Callable[[Result], Hashable] | None = None
    ) -> None:
        self._errors_left = max_errors
        self._name_of = name_of or (lambda result: result.key[:3])
        self._open: dict[Hashable, _Tried] = {}

    def note(self, name: Hashable, verdict: Verdict, repeats: int, pass_rate: float) -> bool:
        """Take a trial of a case; return whether that case has failed with it.

        It need not have all of its trials: it has failed once too few of them are left to pass.
        """
        if repeats <= 1:
            return decide_case_verdict((verdict,), pass_rate) in ("failed", "ungraded")
        tried = self._open.setdefault(name, _Tried())
        tried.trials += 1
        tried.passed += verdict == "passed"
        tried.errored = tried.errored or verdict == "errored"
        if tried.trials >= repeats:
            del self._open[name]
        left = repeats - tried.trials
        # A case of which a trial errored is itself errored, if it doesn't pass.
        return not tried.errored and not reaches(tried.passed + left, pass_rate * repeats)

    def must_stop(self, result: Result) -> bool:
        """Whether to start no more trials after a result."""
        if result.verdict == "errored":
            self._errors_left -= 1
        if result.verdict == "skipped":
            return False
        failed = self.note(self._name_of(result), result.verdict, result.repeats, result.pass_rate)
        return failed or self._errors_left < 0
