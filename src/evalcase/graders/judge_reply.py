"""The votes of judges: asked, read strictly, asked again where a reply can't be read, and counted.

A judge decides on criteria, or finds claims and decides on each. Nothing is repaired and nothing is
searched for: a verdict that has to be guessed is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from math import fsum
from typing import Any, NamedTuple

from evalcase.errors import GraderError, TargetError
from evalcase.graders.base import Usable
from evalcase.graders.judge_prompt import Prompt, ask_again
from evalcase.graders.rubrics import CANNOT_TELL, NOT_MET, Criterion, CriterionVerdict
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.value import JSON
from evalcase.util.answers import parse_answer, read_ending
from evalcase.util.json import BadJsonError
from evalcase.util.text import shorten_text

_THINKING = re.compile(r"\s*<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_SUPPORTED = "supported"
_CLAIM = ("claim", "reason")
CLAIM_VERDICTS = (_SUPPORTED, "not_supported", CANNOT_TELL)
_ATTEMPTS = 3
_SHOWN_REPLY, _LONGEST_REPLY = 100, 4_000
_SHORT = 60
"""Characters of a criterion that stand for it in a sentence."""
_MOST_SHOWN = 3

Ask = Callable[[str, Prompt, JSON, Usable], Awaitable[Answer]]


class BadJudgeReplyError(ValueError):
    """A reply that can't be used. The message goes on after `could not be used: `, and repeats
    nothing of the reply."""


Said = dict[str, Any]
"""What a judge said of a criterion or a claim: `reason`, `verdict` and, of a claim, `claim`."""


# One vote


class Vote(NamedTuple):
    """What one judge said, or why it said nothing that counts."""

    said: Any
    failure: GraderError | None
    about: dict[str, Any]
    """For the record: who was asked, how often, and what came."""


async def ask_vote(ask: Ask, target: str, prompt: Prompt, form: JudgeForm) -> Vote:
    """Ask once, and twice more if a reply can't be read. Nothing is raised."""
    digest = sha256("\n".join(str(each.content) for each in prompt).encode("utf-8", "replace"))
    about: dict[str, Any] = {"judge": target, "prompt": digest.hexdigest(), "attempts": 0}
    messages, complaint = prompt, ""

    def is_usable(answer: Answer) -> bool:
        """Whether it is a verdict: what is not must not come back from the cache."""
        try:
            _read_answer(answer, form)
        except (GraderError, BadJudgeReplyError):
            return False
        return True

    for number in range(1, _ATTEMPTS + 1):
        about["attempts"] = number
        try:
            answer = await ask(target, messages, form.schema(), is_usable)
            named = {"model": answer.model, "mode": answer.asked_as, "cached": answer.cached}
            about |= {name: value for name, value in named.items() if value}
            return Vote(_read_answer(answer, form), None, about)
        except BadJudgeReplyError as error:
            complaint, about["reply"] = str(error), answer.text[:_LONGEST_REPLY]
            messages = ask_again(prompt, complaint)
        except (TargetError, GraderError) as error:
            failure = error if isinstance(error, GraderError) else GraderError(
                "grader", f"the judge could not answer: {error}", error.details
            )  # fmt: skip
            break
    else:
        said = shorten_text(" ".join(about["reply"].split()), _SHOWN_REPLY)
        what = f"the judge's reply can't be read, after {_ATTEMPTS} tries: {complaint}"
        what += f"; it said “{said}”" if said else ""
        failure = GraderError("judge-unparseable", what, {"reply": about["reply"]})
    return Vote(None, failure, {**about, "failure": failure.kind, "message": str(failure)})


def _read_answer(answer: Answer, form: JudgeForm) -> Any:  # noqa: ANN401 - each form has its own
    """Raise BadJudgeReplyError; GraderError if it can't be a verdict, whatever its text says."""
    end, details = read_ending(answer), {"reply": answer.text[:_LONGEST_REPLY]}
    if end.refusal is not None:
        raise GraderError("judge-refused", "the judge refused to judge", details)
    if end.kind == "cut off" or answer.truncated:
        raise GraderError("judge-truncated", "the judge's reply was cut off", details)
    if answer.tool_calls:
        raise BadJudgeReplyError("it called a tool, and there is none to be called")
    return form.read(answer.text)


def _read_object(text: str, keys: Sequence[str]) -> dict[str, JSON]:
    """The object that a reply is, with these keys and no others."""
    text = _THINKING.sub("", text, count=1) if _THINKING.match(text) else text
    try:
        value = parse_answer(text)
    except BadJsonError:
        raise BadJudgeReplyError("it was not one JSON object and nothing else") from None
    if not isinstance(value, dict):
        raise BadJudgeReplyError("it was JSON, but not an object")
    missing = next((key for key in keys if key not in value), None)
    if missing is not None:
        raise BadJudgeReplyError(f"the object has no `{missing}`")
    if len(value) > len(keys):
        raise BadJudgeReplyError("the object has keys that were not asked for")
    return value


def _read_part(value: JSON, texts: Sequence[str], verdicts: Sequence[str], what: str) -> Said:
    said, names = value if isinstance(value, dict) else {}, [*texts, "verdict"]
    if said.keys() != set(names) or not all(isinstance(each, str) for each in said.values()):
        raise BadJudgeReplyError(f"{what} is not an object of the texts {', '.join(names)}")
    if said["verdict"] not in verdicts:
        raise BadJudgeReplyError(f"the verdict of {what} is none of {', '.join(verdicts)}")
    return said


def _describe_object(properties: dict[str, JSON]) -> dict[str, JSON]:
    return {
        "type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False,
    }  # fmt: skip


def _describe_part(texts: Sequence[str], verdicts: Sequence[str]) -> JSON:
    """The reason stands before the verdict that follows from it."""
    properties: dict[str, JSON] = {name: {"type": "string"} for name in texts}
    return _describe_object({**properties, "verdict": {"type": "string", "enum": [*verdicts]}})


# Forms say what judges are asked to decide, and what their votes come to: `write` gives the block
# `criteria` and what follows the blocks, `describe` what the record keeps of one vote of several,
# `decide` the score of those that could be read. It raises GraderError if they have none; `unsure`
# is `error` or `fail`, for a judge that can't tell.


# Criteria: for each, what more than half of those asked say


class DecidedCriterion(NamedTuple):
    criterion: Criterion
    verdict: CriterionVerdict
    reason: str
    """Of the first vote for that verdict."""
    votes: Mapping[CriterionVerdict, int]
    unsure: bool = False
    """Whether the judge could not tell, and that counts as not met."""

    @property
    def score(self) -> float:
        return self.criterion.score(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        each, several = self.criterion, sum(self.votes.values()) > 1
        return {
            "id": each.id, "text": each.text, "verdict": self.verdict, "score": self.score,
            "reason": self.reason, "weight": each.weight,
            **({"required": True} if each.required else {}),
            **({"votes": dict(self.votes)} if several else {}),
        }  # fmt: skip

    def __str__(self) -> str:
        """By the id that its author gave it; without one, by the beginning of what it says."""
        each, verdict = self.criterion, self.verdict.replace("_", " ")
        text = f'"{shorten_text(" ".join(each.text.split()), _SHORT)}"'
        name = text if each.id == each.key else f"`{each.id}`"
        return f"{name} {'level ' if each.levels else ''}{verdict}: {self.reason}"


class CriteriaForm(NamedTuple):
    criteria: Sequence[Criterion]
    are_chunks: bool = False
    """Whether they are about chunks of a context: useful chunks should come first."""

    def write(self, vote: int) -> tuple[str, str]:
        # Another order for each vote: what comes first must not decide.
        turn = (vote - 1) % len(self.criteria)
        rotated = (*self.criteria[turn:], *self.criteria[:turn])
        names = [(each.key, '" | "'.join(each.verdicts)) for each in rotated]
        form = ", ".join(f'"{key}": {{"reason": "…", "verdict": "{said}"}}' for key, said in names)
        has_levels = any(each.levels for each in rotated)
        levels = " Where a criterion has levels, the verdict is the name of one."
        return "\n".join(map(str, rotated)), (
            "Judge the block named answer by each criterion of the block named criteria."
            f"{levels if has_levels else ''} Reply with one JSON object of this form, every key "
            f"once:\n{{{form}}}"
        )

    def schema(self) -> JSON:
        """Keyed by criterion: none can be missing, and none can be there twice."""
        parts = {each.key: _describe_part(["reason"], each.verdicts) for each in self.criteria}
        return _describe_object(parts)

    def read(self, text: str) -> dict[str, Said]:
        reply = _read_object(text, [each.key for each in self.criteria])
        return {
            each.key: _read_part(reply[each.key], ["reason"], each.verdicts, f"`{each.key}`")
            for each in self.criteria
        }

    def describe(self, said: Mapping[str, Said]) -> dict[str, JSON]:
        return {"criteria": [{"id": each.id, **said[each.key]} for each in self.criteria]}

    def decide(self, votes: Sequence[Mapping[str, Said]], asked: int, unsure: str) -> Score:
        decided = [
            _decide_criterion(each, [vote[each.key] for vote in votes], asked, unsure)
            for each in self.criteria
        ]
        total = sum(each.weight for each in self.criteria)
        granted = sum(each.criterion.weight * each.score for each in decided)
        value, reason = round(granted / total, 9) if total else 0.0, _explain(decided)
        if self.are_chunks:
            value, reason = _mean_precision(decided)
        missed = any(each.criterion.required and each.score < 1.0 for each in decided)
        details = {"criteria": [each.to_dict() for each in decided]}
        unsure_of = any(each.unsure for each in decided)
        return Score(value, reason, details, False if missed else None, stands=unsure_of)


def _decide_criterion(
    criterion: Criterion, said: Sequence[Said], asked: int, unsure: str
) -> DecidedCriterion:
    counted = votes = Counter(each["verdict"] for each in said)
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
    reason = next(each["reason"] for each in said if each["verdict"] == said_so)
    if said_so != CANNOT_TELL:
        return DecidedCriterion(criterion, verdict, reason, counted)
    reason = f"the judge can't tell: {reason}"
    if unsure == "error":
        raise GraderError("judge-unsure", f"`{criterion.id}`: {reason}")
    return DecidedCriterion(criterion, worst, reason, counted, unsure=True)


def _explain(decided: Sequence[DecidedCriterion]) -> str:
    """Which criteria are not met, and why; the arithmetic where there are several."""
    missed = [each for each in decided if each.score < 1.0]
    if not missed:
        return "every criterion is met" if len(decided) > 1 else decided[0].reason
    told = f"{len(decided) - len(missed)} of {len(decided)} met"
    if any(each.criterion.levels or each.criterion.weight != 1.0 for each in decided):
        granted = " + ".join(f"{each.criterion.weight:g}·{each.score:g}" for each in decided)
        told = f"({granted}) ÷ {sum(each.criterion.weight for each in decided):g}"
    return "; ".join([*map(str, missed), *([told] if len(decided) > 1 else [])])


def _mean_precision(decided: Sequence[DecidedCriterion]) -> tuple[float, str]:
    """At each useful chunk, the share of useful ones up to there; the mean of these."""
    places = [place for place, each in enumerate(decided, start=1) if each.score == 1.0]
    if not places:
        return 0.0, "no chunk of the context helps"
    mean = fsum(count / place for count, place in enumerate(places, start=1)) / len(places)
    told = " + ".join(f"{count}/{place}" for count, place in enumerate(places, start=1))
    helping = f"these help: {', '.join(map(str, places))}; ({told}) ÷ {len(places)}"
    return round(mean, 9), f"of {len(decided)} chunks, {helping}"


# Claims: the share of them that is supported


class ClaimsForm(NamedTuple):
    about: Mapping[str, str]
    """`of`: the block that makes claims; `by`: the block that bears them out; `text`: when."""

    def write(self, vote: int) -> tuple[str, str]:
        del vote
        of, by, text = (self.about[name] for name in ("of", "by", "text"))
        return f"A claim of the block named {of} is supported if: {text}", (
            f"List every claim that the block named {of} makes, each by itself and in a "
            f"sentence that can be understood alone. For each, look in the block named {by}, and "
            "decide by the block named criteria. Reply with one JSON object of this form:\n"
            '{"claims": [{"claim": "…", "reason": "…", '
            '"verdict": "supported" | "not_supported" | "cannot_tell"}, …]}'
        )

    def schema(self) -> JSON:
        items = _describe_part(_CLAIM, CLAIM_VERDICTS)
        return _describe_object({"claims": {"type": "array", "items": items}})

    def read(self, text: str) -> list[Said]:
        claims = _read_object(text, ["claims"])["claims"]
        if not isinstance(claims, list):
            raise BadJudgeReplyError("`claims` is not a list")
        return [
            _read_part(each, _CLAIM, CLAIM_VERDICTS, f"claim {number}")
            for number, each in enumerate(claims, start=1)
        ]

    def describe(self, said: Sequence[Said]) -> dict[str, JSON]:
        return {"claims": [*said]}

    def decide(self, votes: Sequence[Sequence[Said]], asked: int, unsure: str) -> Score:
        """Each vote finds claims of its own, so there is no majority: the vote in the middle
        counts. Without one of them, another might be the middle."""
        if len(votes) < asked:
            why = f"{asked - len(votes)} of {asked} votes have no verdict, so there is no middle"
            raise GraderError("judge-split", why)
        shares = [_share_supported(each, unsure) for each in votes]
        middle = sorted(range(asked), key=shares.__getitem__)[asked // 2]
        share, claims = shares[middle], votes[middle]
        missing = [each for each in claims if each["verdict"] != _SUPPORTED]
        told = [f"{len(claims) - len(missing)} of {len(claims)} claims are supported"]
        told += [f"not “{each['claim']}”: {each['reason']}" for each in missing[:_MOST_SHOWN]]
        if len(missing) > _MOST_SHOWN:
            told.append(f"and {len(missing) - _MOST_SHOWN} more")
        is_unsure = any(each["verdict"] == CANNOT_TELL for each in claims)
        return Score(share, "; ".join(told), self.describe(claims), stands=is_unsure)


def _share_supported(claims: Sequence[Said], unsure: str) -> float:
    if not claims:
        raise GraderError("judge-unsure", "the judge found no claims, so there is no share")
    unclear = next((each for each in claims if each["verdict"] == CANNOT_TELL), None)
    if unclear is not None and unsure == "error":
        raise GraderError("judge-unsure", f"the judge can't tell: {unclear['reason']}")
    return [each["verdict"] for each in claims].count(_SUPPORTED) / len(claims)


JudgeForm = CriteriaForm | ClaimsForm
