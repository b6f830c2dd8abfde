"""What the figures of a judge come to, in one sentence that needs no statistics."""

from __future__ import annotations

from evalcase.report.calibration.trust import Trust

_WORDS = ((0.8, "very well"), (0.6, "well"), (0.4, "fairly well"))
"""From which kappa on."""
_WORTHLESS = 0.2


def say_verdict(trust: Trust) -> str:
    if not trust.table.total:
        return "Nothing can be said of this judge: no label is of an answer that it judged."
    interval = trust.kappa_interval
    if interval is None:
        return f"These labels can't say how far this judge can be trusted: {trust.kappa_refused}."
    if interval.low <= 0:
        if interval.high < _WORTHLESS or interval.value <= 0:
            return "This judge agrees with people no better than a coin would."
        return (
            "These labels don't show that this judge is better than a coin: kappa is "
            f"{interval.value:.2f}, and may be {interval.low:.2f}. More labels would tell."
        )
    word, surely = _choose_word(interval.value), _choose_word(interval.low)
    how = surely if word == surely else f"{surely} at least"
    told = f"This judge agrees with people {how}: kappa is {interval.value:.2f}, "
    told += f"and its 95 % interval begins at {interval.low:.2f}."
    if trust.agreement is not None and trust.agreement.value <= trust.constant:
        told += " Always saying the same would agree with them as often."
    return told


def _choose_word(kappa: float) -> str:
    return next((word for least, word in _WORDS if kappa >= least), "a little")
