"""Graders of the figures of a trial: `latency`, `cost`, `tokens`, `finish` and `turns`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from evalcase.errors import GraderError
from evalcase.graders.base import Context, Grader, object_to_count
from evalcase.graders.calls import about_steps, steps_like, without_steps
from evalcase.graders.differences import quote_value
from evalcase.types.answer import Answer, Usage
from evalcase.types.grade import Score
from evalcase.types.options import Amount, Count, Seconds, Text, Texts, Whole, about
from evalcase.util.answers import read_ending
from evalcase.util.text import write_count

UNKNOWN_TIME = "how long the answer took is not known: it was not recorded"


class LatencyGrader(Grader):
    name = "latency"
    description = "Limits how many seconds the target takes to answer."
    argument = "value"
    reads = "figures"
    example = "- latency: 2.5"

    value: Annotated[Seconds, about("The most seconds.", example=2.5, elsewhere=("max",))]

    steps: Annotated[Text | None, about_steps("Each of")] = None

    def grade(self, context: Context) -> Score:
        if self.steps is not None:
            return self._grade_steps(context.answer, self.steps)
        # An answer that was given before took as long as it was recorded then.
        earlier = context.answer.earlier
        took_s = context.duration_s if earlier is None else earlier.duration_s
        if took_s is None:
            raise GraderError("unreported", UNKNOWN_TIME)
        return self._score(took_s, "it took ")

    def _grade_steps(self, answer: Answer, name: str) -> Score:
        steps = steps_like(answer, name)
        if not steps:
            return Score(0.0, without_steps(answer, name), passed=False, stands=True)
        took_s = []
        for step in steps:
            if step.duration_s is None:
                what = f"how long the step `{step.name}` took is not known"
                raise GraderError("unreported", what)
            took_s.append(step.duration_s)
        longest = max(took_s)
        beside = f", the longest of {len(steps)} steps" if len(steps) > 1 else ""
        return self._score(longest, f"`{steps[took_s.index(longest)].name}` took ", beside)

    def _score(self, took_s: float, what: str, beside: str = "") -> Score:
        told, passed = f"{what}{_write_number(took_s)} s{beside}", took_s <= self.value
        more = "" if passed else f", but at most {_write_number(self.value)} s is allowed"
        return Score(float(passed), f"{told}{more}")


def _write_number(number: float) -> str:
    """A number in four digits or more, and never with an exponent."""
    return f"{Decimal(f'{number:.4g}'):f}" if number < 1000 else f"{number:.0f}"


_UNKNOWN_COST = (
    "the target did not report a cost. What a model costs is known by `price = {input = …, output "
    "= …}` in its table of evalcase.toml, or by the extra `prices`; any other target says "
    "`cost_usd` beside its answer"
)


class CostGrader(Grader):
    name = "cost"
    description = "Limits what the answer costs, in USD."
    argument = "value"
    reads = "figures"
    example = "- cost: 0.01"

    value: Annotated[Amount, about("The most USD.", example=0.01, elsewhere=("max", "budget"))]

    def grade(self, context: Context) -> Score:
        answer = context.answer
        # What an answer from a cache cost when it was given, and not the nothing of today.
        cost_usd = answer.cost_usd if answer.earlier is None else answer.earlier.cost_usd
        if cost_usd is None:
            raise GraderError("unreported", _UNKNOWN_COST)
        if cost_usd <= self.value:
            return Score(1.0, f"it cost ${cost_usd:.6g}")
        return Score(0.0, f"it cost ${cost_usd:.6g}, but at most ${self.value:g} is allowed")


class TokensGrader(Grader):
    name = "tokens"
    description = "Limits how many tokens are used: in total, for input or for output."
    argument = "value"
    needs = ("value", "input", "output")
    reads = "figures"
    example = "- tokens: {output: 200}"

    value: Annotated[Whole | None, about("The most in total.", elsewhere=("max", "total"))] = None
    input: Annotated[Whole | None, about("The most input tokens.")] = None
    output: Annotated[Whole | None, about("The most output tokens.")] = None

    def grade(self, context: Context) -> Score:
        usage = context.answer.usage or Usage()
        given, made = usage.input_tokens, usage.output_tokens
        total = None if given is None or made is None else given + made
        faults: list[str] = []
        told: list[str] = []
        limits = (
            ("in all", self.value, total), ("in", self.input, given), ("out", self.output, made),
        )  # fmt: skip
        for what, most, number in limits:
            if most is None:
                continue
            if number is None:
                unknown = f"the target did not report how many tokens there were {what}; "
                raise GraderError("unreported", f"{unknown}a target says `usage` beside its answer")
            told.append(f"{number:,} tokens {what}")
            if number > most:
                faults.append(f"{told[-1]}, but at most {most:,} are allowed")
        return Score(float(not faults), "; ".join(faults or told))


class FinishGrader(Grader):
    name = "finish"
    description = "The target reports an accepted finish reason."
    argument = "value"
    needs = ("value", "refusal")
    reads = "ending"
    example = "- finish: [stop, end_turn]"

    value: Annotated[
        Text | Texts | None, about("The accepted reason, or several.", example="stop")
    ] = None
    refusal: Annotated[Literal["allow", "forbid"], about("Whether the model may refuse.")] = "allow"

    def grade(self, context: Context) -> Score:
        end = read_ending(context.answer)
        if end.reason is None and end.refusal is None:
            raise GraderError("unreported", "the target did not report how the answer ended")
        if self.refusal == "forbid" and end.refusal is not None:
            who = "the provider blocked it" if end.kind == "blocked" else "the model refused"
            return Score(0.0, f"{who}: {quote_value(end.refusal)}")
        wanted = (self.value,) if isinstance(self.value, str) else self.value
        ended = "it was refused" if end.reason is None else f"it ended by {quote_value(end.reason)}"
        if wanted is None or end.reason in wanted:
            return Score(1.0, ended)
        return Score(0.0, f"{ended}, and not by {' or '.join(map(quote_value, wanted))}")


class TurnsGrader(Grader):
    name = "turns"
    description = "Limits how many turns the conversation takes."
    needs = ("min", "max")
    reads = "figures"
    example = "- turns: {max: 6}"

    min: Annotated[Count | None, about("The fewest turns.")] = None
    max: Annotated[Count | None, about("The most turns.", elsewhere=("max_turns",))] = None

    def grade(self, context: Context) -> Score:
        told = write_count(context.turns, "turn")
        fault = object_to_count(context.turns, told, self.min, self.max)
        return Score(float(fault is None), fault or told)
