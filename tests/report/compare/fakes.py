"""Sides that are made up: what a case comes to, as few words as can be."""

from collections.abc import Iterator, Mapping
from typing import Any

from evalcase.report.sides import Side
from evalcase.types.answer import Answer
from evalcase.types.case import Case, canonical_case
from evalcase.types.grade import Grade
from evalcase.types.result import Folding, Outcome, Result, Verdict
from evalcase.types.target import TrialKey

WORDS: dict[str, Verdict] = {
    "P": "passed", "F": "failed", "E": "errored", "S": "skipped", "U": "ungraded"
}  # fmt: skip


class FakeKept:
    """Results by case: `PPF` is a case that was tried three times."""

    def __init__(
        self, cases: Mapping[str, str], target: str = "agent",
        answers: Mapping[str, str] | None = None,
        scores: Mapping[str, float] | None = None, **fields: Any,
    ) -> None:  # fmt: skip
        self._fields = fields
        self._scores = scores or {}
        self._answers = answers or {}
        self._results = [
            self._result(TrialKey("s.eval.yaml", case, target, number), letter, len(letters))
            for case, letters in cases.items()
            for number, letter in enumerate(letters, 1)
        ]
        self.targets: tuple[str, ...] = tuple({result.key.target for result in self._results})

    def _result(self, key: TrialKey, letter: str, repeats: int) -> Result:
        verdict = WORDS[letter]
        passed = verdict == "passed"
        score = self._scores.get(key.case, float(passed))
        grades = (Grade("expected", score, passed, "" if passed else "differs"),)
        answer = None
        if verdict not in ("errored", "skipped"):
            answer = Answer.of_text(self._answers.get(key.case, verdict))
        return Result(
            key, "q", verdict, answer, grades if answer else (), repeats=repeats, duration_s=1.0,
            grading_hash="g",
        )  # fmt: skip

    def results(self) -> Iterator[Result]:
        return iter(self._results)

    def outcome(self, result: Result) -> Outcome:
        folding: Folding[int] = Folding()
        same = [each for each in self._results if each.key[:3] == result.key[:3]]
        return [folding.add(0, each.verdict, len(same), 1.0) for each in same][-1]

    def find_case(self, suite: str, case: str) -> Case | None:
        del suite
        return canonical_case(
            {"id": case, "input": [{"role": "user", "content": f"{case}?"}], **self._fields}
        )

    def find_result(self, key: TrialKey) -> Result | None:
        return next((result for result in self._results if result.key == key), None)


def side(cases: Mapping[str, str] | str, label: str = "run", **fields: Any) -> Side:
    """Cases by name; or of one trial each, c0, c1 and so on."""
    if isinstance(cases, str):
        cases = {f"c{number}": letter for number, letter in enumerate(cases)}
    return Side(FakeKept(cases, **fields), label)  # type: ignore[arg-type]
