"""Claims that a judge finds and looks up, to a score: the share of them that is borne out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalcase.errors import GraderError
from evalcase.graders.judging.criterion import CANNOT_TELL
from evalcase.graders.judging.reply import Claim

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


class Claims:
    """The claims of one vote."""

    def __init__(self, claims: Sequence[Claim], unsure: str) -> None:
        self._claims = claims
        self._unsure = unsure

    @property
    def share(self) -> float:
        """How many are borne out. Raise GraderError where that can't be said."""
        if not self._claims:
            raise GraderError("judge-unsure", "the judge found no claims, so there is no share")
        unclear = [each for each in self._claims if each.verdict == CANNOT_TELL]
        if unclear and self._unsure == "error":
            raise GraderError("judge-unsure", f"the judge can't tell: {unclear[0].reason}")
        return sum(each.verdict == _SUPPORTED for each in self._claims) / len(self._claims)

    @property
    def unsure(self) -> bool:
        """Whether the judge could not tell of one, and that counts as not supported."""
        return any(each.verdict == CANNOT_TELL for each in self._claims)

    @property
    def reason(self) -> str:
        missing = [each for each in self._claims if each.verdict != _SUPPORTED]
        counted = f"{len(self._claims) - len(missing)} of {len(self._claims)} claims are supported"
        if not missing:
            return counted
        shown = "; ".join(f"“{each.claim}”: {each.reason}" for each in missing[:_MOST_SHOWN])
        more = f"; and {len(missing) - _MOST_SHOWN} more" if len(missing) > _MOST_SHOWN else ""
        return f"{counted}; not {shown}{more}"

    def to_list(self) -> list[dict[str, Any]]:
        return [each._asdict() for each in self._claims]


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
