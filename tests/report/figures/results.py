"""Results in few words, and the figures of some."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import force_setattr

from evalcase.report.aggregate import Figuring, Ledger
from evalcase.report.figures import Figures
from evalcase.types.answer import Answer, Failure, Usage
from evalcase.types.case import canonical_case
from evalcase.types.grade import Grade
from evalcase.types.result import Result, Verdict
from evalcase.types.target import TrialKey

LETTERS: dict[str, Verdict] = {
    "p": "passed", "f": "failed", "e": "errored", "u": "ungraded", "s": "skipped"
}  # fmt: skip


def trial(
    case: str, letter: str, repeat: int = 1, *, target: str = "t", suite: str = "s.yaml",
    score: float | None = None, grades: tuple[Grade, ...] | None = None, **changes: Any,
) -> Result:  # fmt: skip
    """One trial; its verdict by the first letter."""
    verdict = LETTERS[letter]
    if grades is None:
        grades = (grade("g", letter, score),) if letter in "pfe" else ()
    answer = None if letter in "es" else Answer.of_text("a")
    key = TrialKey(suite, case, target, repeat)
    values: dict[str, Any] = {"answer": answer, "grades": grades, "duration_s": 0.5, **changes}
    return Result(key, "0" * 16, verdict, **values)


def grade(name: str, letter: str, score: float | None = None) -> Grade:
    if letter == "e":
        return Grade(name, None, False, "broke", failure=Failure("grader", "broke"))
    passed = letter == "p"
    made = Grade(name, float(passed), passed, "")
    if score is not None:
        force_setattr(made, "score", score)  # of a stranger, it may be any number
    return made


def trials(case: str, letters: str, **changes: Any) -> list[Result]:
    """All trials of a case, a letter for each."""
    count = len(letters)
    return [
        trial(case, letter, number, repeats=count, **changes)
        for number, letter in enumerate(letters, 1)
    ]


def once(letters: str, **changes: Any) -> list[Result]:
    """Cases that are tried once, a letter for each."""
    return [trial(f"c{number}", letter, **changes) for number, letter in enumerate(letters)]


def priced(seconds: float, cost_usd: float | None, tokens: int | None) -> dict[str, Any]:
    usage = None if tokens is None else Usage(tokens, 1)
    answer = Answer(Answer.of_text("a").messages, usage, cost_usd)
    return {"answer": answer, "duration_s": seconds}


def figures(
    results: Iterable[Result], cases: dict[str, dict[str, Any]] | None = None,
    cluster: str | None = None, ks: tuple[int, ...] = (),
) -> Figures:  # fmt: skip
    ledger = Ledger(Figuring(cluster=cluster, ks=ks))
    for result in results:
        data = (cases or {}).get(result.key.case)
        case = (
            canonical_case({"id": result.key.case, "input": [], **data})
            if data is not None
            else None
        )
        ledger.add(result, case)
    return ledger.sum_up()
