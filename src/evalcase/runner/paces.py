"""The pace of each target, whoever asks it: made of the limits of a run, and told how it went."""

from __future__ import annotations

from collections.abc import Callable

from evalcase.errors import TargetError
from evalcase.runner.attempt import Attempted
from evalcase.runner.pacing import Limits, Pace, Rate, Rates, Start
from evalcase.types.answer import Answer
from evalcase.types.target import Target
from evalcase.util.errors import leaves_of


class Paces:
    """One for each target that is asked."""

    def __init__(self, limits: Limits, warn: Callable[[str], None]) -> None:
        """`warn` is told of a rate that can't be kept."""
        self._limits = limits
        self._warn = warn
        self._paces: dict[str, Pace] = {}

    def of(self, name: str, target: Target) -> Pace:
        pace = self._paces.get(name)
        if pace is None:
            traits = target.traits
            pace = self._paces[name] = Pace(self._limits.of_pace(name, traits.concurrency))
            rate = self._limits.of_rate(name, Rate(traits.rpm, traits.tpm))
            if rate is not None:
                pace.rates = Rates(rate)
        return pace

    def end(self, name: str, start: Start, tried: Attempted | None) -> None:
        """An attempt is over; None if nobody knows how it went."""
        pace = self._paces[name]
        error = None if tried is None or tried.error is None else leaves_of(tried.error)[0]
        known = error if isinstance(error, TargetError) else None
        answer = None if tried is None else tried.answer
        if tried is not None and tried.quota is not None:
            pace.learn(tried.quota)
        tokens = None if pace.rates is None or answer is None else self._tokens(name, pace, answer)
        pace.end(
            start,
            overloaded=known is not None and known.overloaded,
            retry_after_s=known.retry_after_s if known is not None else None,
            tokens=tokens,
        )

    def _tokens(self, name: str, pace: Pace, answer: Answer) -> int | None:
        usage = answer.usage
        parts = () if usage is None else (usage.input_tokens, usage.output_tokens)
        given = [part for part in parts if part is not None]
        if given:
            return sum(given)
        if pace.rates is not None and pace.rates.counts_tokens:
            self._warn(f"answers of `{name}` come without token counts: `tpm` can't be enforced")
        return None
