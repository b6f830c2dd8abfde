"""The reply of a judge, read strictly: a schema to ask by, and verdicts or what is wrong with it.

Nothing is repaired and nothing is searched for: a verdict that has to be guessed is none. What is
wrong is said without a word of the reply, because it is told to the judge when it is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from evalcase.graders.judging.criterion import CANNOT_TELL, Criterion, CriterionVerdict
from evalcase.types.value import JSON
from evalcase.util.answers import parse_answer
from evalcase.util.json import BadJsonError

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
    return _describe_object({each.key: _describe_verdict(each.verdicts) for each in criteria})


def claims_schema() -> dict[str, JSON]:
    item = _describe_object(
        {
            "claim": {"type": "string"},
            "reason": {"type": "string"},
            "verdict": _describe_enum(CLAIM_VERDICTS),
        }
    )
    return _describe_object({"claims": {"type": "array", "items": item}})


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


def _describe_verdict(verdicts: Sequence[str]) -> dict[str, JSON]:
    return _describe_object({"reason": {"type": "string"}, "verdict": _describe_enum(verdicts)})


def _describe_enum(values: Sequence[str]) -> dict[str, JSON]:
    return {"type": "string", "enum": list(values)}


def _describe_object(properties: dict[str, JSON]) -> dict[str, JSON]:
    return {
        "type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False,
    }  # fmt: skip
