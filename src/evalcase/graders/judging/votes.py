"""Votes to one verdict for each criterion: what more than half of those asked say, or none.

A vote that broke is no vote for anything, and still counts among those asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import fsum
from typing import Any, NamedTuple

from evalcase.errors import GraderError
from evalcase.graders.judging.criterion import CANNOT_TELL, NOT_MET, Criterion, CriterionVerdict
from evalcase.graders.judging.reply import CriterionReply
from evalcase.types.grade import Score
from evalcase.types.value import replace
from evalcase.util.text import shorten_text

_SHORT = 60
"""Characters of a criterion that stand for it in a sentence."""


@contextmanager
def keeping_details(details: Mapping[str, Any]) -> Iterator[None]:
    """Whoever finds no verdict in votes also says what they were."""
    try:
        yield
    except GraderError as error:
        raise GraderError(error.kind, str(error), {**error.details, **details}) from None


class DecidedCriterion(NamedTuple):
    """A criterion, and what the votes come to."""

    criterion: Criterion
    verdict: CriterionVerdict
    reason: str
    """Of the first vote for that verdict."""
    votes: Mapping[CriterionVerdict, int]
    unsure: bool = False
    """Whether the judge could not tell, and that counts as not met."""

    @property
    def score(self) -> float:
        return 0.0 if self.verdict == CANNOT_TELL else self.criterion.score(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        each = self.criterion
        told: dict[str, Any] = {
            "id": each.id, "text": each.text, "verdict": self.verdict, "score": self.score,
            "reason": self.reason, "weight": each.weight,
        }  # fmt: skip
        if each.required:
            told["required"] = True
        if sum(self.votes.values()) > 1:
            told["votes"] = dict(self.votes)
        return told


def decide_criteria(
    criteria: Sequence[Criterion],
    votes: Sequence[Mapping[str, CriterionReply]],
    asked: int,
    unsure: str,
) -> list[DecidedCriterion]:
    """The verdict on each criterion. Raise GraderError where there is none."""
    return [
        _decide_one(each, [vote[each.key] for vote in votes], asked, unsure) for each in criteria
    ]


def _decide_one(
    criterion: Criterion, said: Sequence[CriterionReply], asked: int, unsure: str
) -> DecidedCriterion:
    counted = votes = Counter(each.verdict for each in said)
    worst = criterion.levels[0][0] if criterion.levels else NOT_MET
    if unsure == "fail":
        votes = Counter(worst if each == CANNOT_TELL else each for each in counted.elements())
    verdict, most = votes.most_common(1)[0]
    if 2 * most <= asked:
        told = ", ".join(f"{count} × {name}" for name, count in counted.items())
        more = f", {asked - len(said)} without a verdict" if asked > len(said) else ""
        raise GraderError(
            "judge-split", f"`{criterion.id}`: the votes have no majority: {told}{more}"
        )
    # Without the unsure votes there may be no majority for it.
    said_so = verdict if 2 * counted[verdict] > asked else CANNOT_TELL
    reason = next(each.reason for each in said if each.verdict == said_so)
    if said_so != CANNOT_TELL:
        return DecidedCriterion(criterion, verdict, reason, counted)
    if unsure == "error":
        raise GraderError("judge-unsure", f"`{criterion.id}`: the judge can't tell: {reason}")
    return DecidedCriterion(
        criterion, worst, f"the judge can't tell: {reason}", counted, unsure=True
    )


def weigh_criteria(decided: Sequence[DecidedCriterion]) -> float:
    """The share of the weight that was granted."""
    total = sum(each.criterion.weight for each in decided)
    granted = sum(each.criterion.weight * each.score for each in decided)
    return granted / total if total else 0.0


def explain_votes(decided: Sequence[DecidedCriterion]) -> str:
    """Which criteria are not met, and why; the arithmetic where there are several."""
    missed = [each for each in decided if each.score < 1.0]
    if not missed:
        return "every criterion is met" if len(decided) > 1 else decided[0].reason
    reasons = "; ".join(_tell_criterion(each) for each in missed)
    return reasons if len(decided) == 1 else f"{reasons}; {_show_arithmetic(decided)}"


def _tell_criterion(each: DecidedCriterion) -> str:
    verdict = each.verdict.replace("_", " ")
    level = f"level {verdict}" if each.criterion.levels else verdict
    return f"{_name_criterion(each.criterion)} {level}: {each.reason}"


def _name_criterion(criterion: Criterion) -> str:
    """The id that its author gave it; without one, the beginning of what it says."""
    if criterion.id != criterion.key:
        return f"`{criterion.id}`"
    return f'"{shorten_text(" ".join(criterion.text.split()), _SHORT)}"'


def _show_arithmetic(decided: Sequence[DecidedCriterion]) -> str:
    """Where a score comes from. What it comes to is said beside every reason."""
    if any(each.criterion.levels or each.criterion.weight != 1.0 for each in decided):
        granted = " + ".join(f"{each.criterion.weight:g}·{each.score:g}" for each in decided)
        total = sum(each.criterion.weight for each in decided)
        return f"({granted}) ÷ {total:g}"
    met = sum(each.score == 1.0 for each in decided)
    return f"{met} of {len(decided)} met"


def mean_precision(score: Score) -> Score:
    """The score of chunks that were judged one by one: useful ones should come first.

    At each useful chunk, the share of useful ones up to there; the mean of these.
    """
    useful = [each["score"] == 1.0 for each in score.details["criteria"]]
    if not any(useful):
        return replace(score, value=0.0, reason="no chunk of the context helps")
    places = [number for number, helps in enumerate(useful, start=1) if helps]
    shares = [count / place for count, place in enumerate(places, start=1)]
    told = " + ".join(f"{count}/{place}" for count, place in enumerate(places, start=1))
    helping = ", ".join(map(str, places))
    reason = f"of {len(useful)} chunks, these help: {helping}; ({told}) ÷ {len(places)}"
    return replace(score, value=round(fsum(shares) / len(shares), 9), reason=reason)
