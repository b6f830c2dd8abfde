"""What a script replied, to a score. What has no clear meaning is an error, never a 0.

    {"score": 0.5, "passed": false, "reason": "…", "details": {…}}

A `score` from 0 to 1 is needed, or `passed`; the rest may be left out. Replies of scripts that were
written for AgentV are read as well: `reasoning`, `hits` and `misses`, `pass`, and lists of
`assertions` or `checks`, whose share that passed is the score where there is none. Whatever else
stands in a reply is kept among the details.

A reply that says two things is no verdict: an `error` beside a score, `passed` and `pass` that
differ, a pass with a score of 0, a failure with one of 1, or a score of 1 though a check failed.
"""

from __future__ import annotations

from evalcase.types.grade import Score
from evalcase.types.value import JSON, describe_kind

_READ = ("id", "score", "passed", "pass", "reason", "reasoning", "details", "assertions", "checks")


class BadScriptReplyError(ValueError):
    """A reply that is no score. The message goes on after `the reply `."""


def read_script_reply(reply: dict[str, JSON]) -> Score:
    """The score of a reply. Raise BadReplyError."""
    if reply.get("error") not in (None, False, ""):
        raise BadScriptReplyError(f"says {reply['error']!r:.200} as its `error`")
    passed = _read_passed(reply)
    checks = _read_checks(reply)
    value = _read_score(reply, passed, checks)
    _refuse_contradiction(value, passed, checks)
    details = reply.get("details")
    if details is not None and not isinstance(details, dict):
        raise BadScriptReplyError(f"has {describe_kind(details)} as `details`, which is a mapping")
    others = {key: item for key, item in reply.items() if key not in _READ and item is not None}
    listed = {key: item for key, item in reply.items() if key in ("assertions", "checks")}
    return Score(
        value, _read_reason(reply, checks), {**(details or {}), **listed, **others}, passed
    )


def _read_passed(reply: dict[str, JSON]) -> bool | None:
    said = [reply[name] for name in ("passed", "pass") if reply.get(name) is not None]
    for each in said:
        if not isinstance(each, bool):
            raise BadScriptReplyError(f"has {each!r:.40} as `passed`, which is true or false")
    if len(said) == 2 and said[0] is not said[1]:
        raise BadScriptReplyError("has `passed` and `pass`, and they differ")
    return bool(said[0]) if said else None


def _refuse_contradiction(
    value: float, passed: bool | None, checks: list[tuple[str, bool]]
) -> None:
    if passed is not None and value == 1.0 - passed:
        told = "passed" if passed else "did not pass"
        raise BadScriptReplyError(f"says that it {told}, with a score of {value:g}")
    failed = [text for text, is_met in checks if not is_met]
    if failed and value == 1.0:
        raise BadScriptReplyError(f"has a score of 1, and a check that failed: {failed[0]:.80}")


def _read_score(
    reply: dict[str, JSON], passed: bool | None, checks: list[tuple[str, bool]]
) -> float:
    score = reply.get("score")
    if score is None and passed is not None:
        return float(passed)
    if score is None and checks:
        return sum(is_met for _, is_met in checks) / len(checks)
    if score is None:
        raise BadScriptReplyError("has no `score`")
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise BadScriptReplyError(f"has the score {score!r:.40}, which is not a number from 0 to 1")
    return float(score)


def _read_checks(reply: dict[str, JSON]) -> list[tuple[str, bool]]:
    listed: list[JSON] = []
    for name in ("assertions", "checks"):
        some = reply.get(name) or []
        if not isinstance(some, list):
            raise BadScriptReplyError(f"has {describe_kind(some)} as its checks, which are a list")
        listed += some
    found = []
    for each in listed:
        is_met = each.get("passed", each.get("pass")) if isinstance(each, dict) else None
        if not isinstance(each, dict) or not isinstance(is_met, bool):
            raise BadScriptReplyError("has a check that says not whether it `passed`")
        found.append((str(each.get("text", "")), is_met))
    return found


def _read_reason(reply: dict[str, JSON], checks: list[tuple[str, bool]]) -> str:
    reason = reply.get("reason", reply.get("reasoning"))
    if reason is not None and not isinstance(reason, str):
        raise BadScriptReplyError(f"has {describe_kind(reason)} as its reason, which is text")
    if reason:
        return reason
    misses = reply.get("misses")
    missed = [str(each) for each in misses] if isinstance(misses, list) else []
    missed += [text for text, is_met in checks if not is_met and text]
    return "; ".join(missed)
