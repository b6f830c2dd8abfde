"""The votes of judges: asked, read strictly, asked again where a reply can't be read, and counted.

Nothing is repaired and nothing is searched for: a verdict that has to be guessed is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import fsum
from typing import Any, Generic, NamedTuple, TypeVar

from evalcase.errors import GraderError, TargetError
from evalcase.graders.base import Usable
from evalcase.graders.judge_prompt import Prompt, ask_again
from evalcase.graders.rubrics import CANNOT_TELL, NOT_MET, Criterion, CriterionVerdict
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.message import Message
from evalcase.types.value import JSON, replace
from evalcase.util.answers import parse_answer, read_ending
from evalcase.util.json import BadJsonError
from evalcase.util.text import shorten_text

# Replies


_THINKING = re.compile(r"\s*<think>.*?</think>", re.DOTALL | re.IGNORECASE)
CLAIM_VERDICTS = ("supported", "not_supported", CANNOT_TELL)


class BadJudgeReplyError(ValueError):
    """A reply that can't be used. The message goes on after `could not be used: `."""


class CriterionReply(NamedTuple):
    """What a judge says of one criterion."""

    verdict: CriterionVerdict
    reason: str


class Claim(NamedTuple):
    """One claim that a judge found, and whether the material bears it out."""

    claim: str
    reason: str
    verdict: CriterionVerdict


def schema_for(criteria: Sequence[Criterion]) -> dict[str, JSON]:
    """Keyed by criterion: none can be missing, and none can be there twice."""
    return _describe_object({
        each.key: _describe_object({"reason": _TEXT, "verdict": _one_of(each.verdicts)})
        for each in criteria
    })  # fmt: skip


def claims_schema() -> dict[str, JSON]:
    item = {"claim": _TEXT, "reason": _TEXT, "verdict": _one_of(CLAIM_VERDICTS)}
    return _describe_object({"claims": {"type": "array", "items": _describe_object(item)}})


_TEXT: JSON = {"type": "string"}


def _one_of(verdicts: Sequence[str]) -> JSON:
    return {"type": "string", "enum": list(verdicts)}


def read_judge_reply(text: str, criteria: Sequence[Criterion]) -> dict[str, CriterionReply]:
    """What is said of each criterion, by its key. Raise BadReplyError."""
    reply = _read_object(text)
    _check_keys(reply, [each.key for each in criteria], "the object")
    return {each.key: _read_said(reply[each.key], each) for each in criteria}


def read_claims(text: str) -> list[Claim]:
    """The claims of a reply. Raise BadReplyError."""
    reply = _read_object(text)
    _check_keys(reply, ["claims"], "the object")
    claims = reply["claims"]
    if not isinstance(claims, list):
        raise BadJudgeReplyError("`claims` is not a list")
    return [_read_claim(item, number) for number, item in enumerate(claims, start=1)]


def _read_object(text: str) -> dict[str, Any]:
    text = _THINKING.sub("", text, count=1) if _THINKING.match(text) else text
    try:
        value = parse_answer(text)
    except BadJsonError:
        raise BadJudgeReplyError("it was not one JSON object and nothing else") from None
    if not isinstance(value, dict):
        raise BadJudgeReplyError("it was JSON, but not an object")
    return value


def _read_said(value: JSON, criterion: Criterion) -> CriterionReply:
    key = criterion.key
    if not isinstance(value, dict):
        raise BadJudgeReplyError(f"`{key}` is not an object with `reason` and `verdict`")
    _check_keys(value, ["reason", "verdict"], f"`{key}`")
    reason, verdict = value["reason"], value["verdict"]
    if not isinstance(reason, str):
        raise BadJudgeReplyError(f"the reason of `{key}` is not a text")
    if not isinstance(verdict, str) or verdict not in criterion.verdicts:
        raise BadJudgeReplyError(
            f"the verdict of `{key}` is none of {', '.join(criterion.verdicts)}"
        )
    return CriterionReply(verdict, reason)


def _read_claim(value: JSON, number: int) -> Claim:
    what = f"claim {number}"
    if not isinstance(value, dict):
        raise BadJudgeReplyError(f"{what} is not an object")
    _check_keys(value, ["claim", "reason", "verdict"], what)
    claim, reason, verdict = value["claim"], value["reason"], value["verdict"]
    if not isinstance(claim, str) or not isinstance(reason, str):
        raise BadJudgeReplyError(f"{what} has a claim or a reason that is not a text")
    if verdict not in CLAIM_VERDICTS or not isinstance(verdict, str):
        raise BadJudgeReplyError(f"the verdict of {what} is none of {', '.join(CLAIM_VERDICTS)}")
    return Claim(claim, reason, verdict)


def _check_keys(value: dict[str, Any], wanted: Sequence[str], what: str) -> None:
    missing = [key for key in wanted if key not in value]
    if missing:
        raise BadJudgeReplyError(f"{what} has no `{missing[0]}`")
    if len(value) > len(wanted):
        raise BadJudgeReplyError(f"{what} has keys that were not asked for")


def _describe_object(properties: dict[str, JSON]) -> dict[str, JSON]:
    return {
        "type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False,
    }  # fmt: skip


# One vote


REASKS = 2
_SHOWN_REPLY = 100
_LONGEST_REPLY = 4_000

Ask = Callable[[str, tuple[Message, ...], JSON, Usable], Awaitable[Answer]]
T = TypeVar("T")


class Vote(NamedTuple, Generic[T]):
    """What one judge said, or why it said nothing that counts."""

    said: T | None
    failure: GraderError | None
    about: Mapping[str, Any]
    """For the record: who was asked, how often, and what came."""


async def ask_vote(
    ask: Ask, target: str, prompt: Prompt, schema: JSON, read: Callable[[str], T]
) -> Vote[T]:
    """Ask once, and twice more if a reply can't be read. Nothing is raised."""
    about: dict[str, Any] = {"judge": target, "prompt": prompt.digest, "attempts": 0}
    messages, complaint = prompt.messages, ""
    usable = partial(_is_usable, read)
    for number in range(1, REASKS + 2):
        about["attempts"] = number
        try:
            answer = await ask(target, messages, schema, usable)
        except TargetError as error:
            return _make_broken_vote(
                about, GraderError("grader", f"the judge could not answer: {error}", error.details)
            )
        about |= _describe_answer(answer)
        unusable = _object_to(answer)
        if unusable is not None:
            return _make_broken_vote(about, unusable)
        try:
            return Vote(_read_reply(read, answer), None, about)
        except BadJudgeReplyError as error:
            complaint = str(error)
            messages = ask_again(prompt, complaint)
            about["reply"] = answer.text[:_LONGEST_REPLY]
    message = f"the judge's reply can't be read, after {REASKS + 1} tries: {complaint}"
    if said := " ".join(about["reply"].split()):
        message = f"{message}; it said “{shorten_text(said, _SHOWN_REPLY)}”"
    return _make_broken_vote(
        about, GraderError("judge-unparseable", message, {"reply": about["reply"]})
    )


def _is_usable(read: Callable[[str], T], answer: Answer) -> bool:
    """Whether it is a verdict: what is not must not come back from the cache."""
    if _object_to(answer) is not None:
        return False
    try:
        _read_reply(read, answer)
    except BadJudgeReplyError:
        return False
    return True


def _read_reply(read: Callable[[str], T], answer: Answer) -> T:
    if answer.tool_calls:
        raise BadJudgeReplyError("it called a tool, and there is none to be called")
    return read(answer.text)


def _make_broken_vote(about: dict[str, Any], failure: GraderError) -> Vote[Any]:
    return Vote(None, failure, {**about, "failure": failure.kind, "message": str(failure)})


def _describe_answer(answer: Answer) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    if answer.model is not None:
        seen["model"] = answer.model
    if answer.asked_as is not None:
        seen["mode"] = answer.asked_as
    if answer.cached:
        seen["cached"] = True
    return seen


def _object_to(answer: Answer) -> GraderError | None:
    """Why an answer can't be a verdict, whatever its text says."""
    end, details = read_ending(answer), {"reply": answer.text[:_LONGEST_REPLY]}
    if end.refusal is not None:
        return GraderError("judge-refused", "the judge refused to judge", details)
    if end.kind == "cut off" or answer.truncated:
        return GraderError("judge-truncated", "the judge's reply was cut off", details)
    return None


# Votes to one verdict for each criterion: what more than half of those asked say


_SHORT = 60
"""Characters of a criterion that stand for it in a sentence."""


@contextmanager
def keeping_details(details: Mapping[str, Any]) -> Iterator[None]:
    """An error of votes without a verdict also shows the votes."""
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


# Claims: the share of them that is supported


_SUPPORTED = "supported"
_MOST_SHOWN = 3


def describe_claims(about: Mapping[str, str]) -> str:
    """The block `criteria`."""
    return f"A claim of the block named {about['of']} is supported if: {about['text']}"


def closing_for_claims(about: Mapping[str, str]) -> str:
    return (
        f"List every claim that the block named {about['of']} makes, each by itself and in a "
        "sentence that can be understood alone. For each, look in the block named "
        f"{about['by']}, and decide by the block named criteria. Reply with one JSON object of "
        "this form:\n"
        '{"claims": [{"claim": "…", "reason": "…", '
        '"verdict": "supported" | "not_supported" | "cannot_tell"}, …]}'
    )


class Claims(NamedTuple):
    """The claims of one vote."""

    claims: Sequence[Claim]
    unsure_is: str
    """What it counts as if the judge can't tell: `error` or `fail`."""

    @property
    def share(self) -> float:
        """The share that is supported. Raise GraderError where there is none."""
        if not self.claims:
            raise GraderError("judge-unsure", "the judge found no claims, so there is no share")
        unclear = [each for each in self.claims if each.verdict == CANNOT_TELL]
        if unclear and self.unsure_is == "error":
            raise GraderError("judge-unsure", f"the judge can't tell: {unclear[0].reason}")
        return sum(each.verdict == _SUPPORTED for each in self.claims) / len(self.claims)

    def to_score(self, details: Mapping[str, Any]) -> Score:
        missing = [each for each in self.claims if each.verdict != _SUPPORTED]
        reason = f"{len(self.claims) - len(missing)} of {len(self.claims)} claims are supported"
        if missing:
            shown = "; ".join(f"“{each.claim}”: {each.reason}" for each in missing[:_MOST_SHOWN])
            more = f"; and {len(missing) - _MOST_SHOWN} more" if len(missing) > _MOST_SHOWN else ""
            reason = f"{reason}; not {shown}{more}"
        told = {**details, "claims": [each._asdict() for each in self.claims]}
        is_unsure = any(each.verdict == CANNOT_TELL for each in self.claims)
        return Score(self.share, reason, told, stands=is_unsure)


def middle_claims(claims: Sequence[Claims], asked: int) -> Claims:
    """What votes come to. Each finds claims of its own, so there is no majority: the vote in the
    middle counts.

    Raise GraderError where those that broke might have made another one the middle.
    """
    if 2 * len(claims) <= asked:
        raise GraderError("judge-split", "fewer than half of the votes could be read")
    ordered = sorted(claims, key=lambda each: each.share)
    broken = asked - len(claims)
    lowest, highest = ordered[asked // 2 - broken], ordered[asked // 2]
    if lowest.share != highest.share:
        told = ", ".join(f"{each.share:.3g}" for each in ordered)
        message = f"the votes have no middle: {told}, and {broken} without a verdict"
        raise GraderError("judge-split", message)
    return lowest
