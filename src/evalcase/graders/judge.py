"""A model that judges, by protocol `judge/1`: criteria in, verdicts out, and a score of those.

The judge says what is met; the arithmetic is ours. Where there is no clear verdict, the grade is
errored: never 0, and never a pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, TypeVar

from evalcase.errors import GraderError
from evalcase.graders.judging.asking import Vote, ask_vote
from evalcase.graders.judging.claims import (
    Claims,
    closing_for_claims,
    describe_claims,
    middle_claims,
)
from evalcase.graders.judging.criterion import Criterion, criteria_of_case, number_criteria
from evalcase.graders.judging.material import find_chunks, has_context, show_blocks
from evalcase.graders.judging.options import BLANK, RubricItem, describe_rubric, rubric_faults
from evalcase.graders.judging.prompt import (
    PROTOCOL,
    SYSTEM,
    closing_for,
    list_criteria,
    write_prompt,
)
from evalcase.graders.judging.ready import RUBRIC_NAMES, Rubric, read_rubric
from evalcase.graders.judging.reply import claims_schema, read_claims, read_judge_reply, schema_for
from evalcase.graders.judging.template import TemplateText, hidden_faults, shows_block
from evalcase.graders.judging.votes import (
    decide_criteria,
    explain_votes,
    keeping_details,
    mean_precision,
    weigh_criteria,
)
from evalcase.model.case import Case
from evalcase.model.conflict import conflict
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.json_value import JSON
from evalcase.model.option import Record, option
from evalcase.model.shape import Choice, ListOf, Number, OptionFault, Text
from evalcase.model.shape_names import TargetName
from evalcase.model.shape_one_of import OneOf

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JudgeGrader(Grader):
    """Asks a judge."""

    kind: ClassVar[GraderKind] = GraderKind(
        "judge", "Graded by a model, against criteria written in prose.", "value",
        reads="either", judges=True, example="- judge: Says when the shop opens, and is polite.",
        instead=(("panel", "target"), ("panel", "votes")), only_reads=True,
    )  # fmt: skip

    value: str | None = option(
        Text(), "What a good answer does, in prose. If `rubric` and `rubrics` are missing "
        "too, the `criteria` and `rubrics` of the case are used.",
        default=None, example="Says when the shop opens.", elsewhere=("criteria", "prompt"),
    )  # fmt: skip
    rubric: str | None = option(
        Choice(RUBRIC_NAMES, otherwise="a criterion in your own words is the argument: {judge: …}"),
        "A built-in rubric; `evalcase graders NAME` shows it.", default=None,
        example="correct", elsewhere=("preset", "metric"),
    )  # fmt: skip
    rubrics: tuple[Any, ...] = option(
        ListOf(OneOf((Text(), Record(RubricItem, "a mapping"))), "a list of rubrics"),
        "Criteria to check one by one, as in the `rubrics` of a case.", default=(),
        elsewhere=("checks", "steps", "points"),
    )  # fmt: skip
    target: str | None = option(
        TargetName(), "The target that judges, instead of that of [judge].", default=None,
        example="judge", elsewhere=("model", "provider"),
    )  # fmt: skip
    votes: int = option(
        Number(1, whole=True), "How often each judge is asked; the majority of all votes decides.",
        default=1, example=3,
    )  # fmt: skip
    panel: tuple[str, ...] = option(
        ListOf(TargetName(), "a list of targets"), "Several judges, instead of `target`.",
        default=(), elsewhere=("judges", "jury"),
    )  # fmt: skip
    template: str | None = option(
        TemplateText(), "Your own prompt: it must use {{answer}} and {{criteria}}, and may use "
        "{{goal}}, {{conversation}}, {{reference}}, {{context}} and {{tool_calls}}.",
        default=None,
    )  # fmt: skip
    unsure: str = option(
        Choice(("error", "fail")), "What it counts as if the judge can't tell.", default="error"
    )
    context: str | None = option(
        Text("a path into the metadata, or `tools`"),
        "Where to find the context for the answer: a path in the case's metadata, or `tools` for "
        "the outputs of its tools. By default `metadata.context`, or else `tools`.",
        default=None, example="metadata.documents",
    )  # fmt: skip

    @conflict
    def _has_a_rubric_and_more(self) -> Iterator[OptionFault]:
        if self.rubric is not None and (self.value is not None or self.rubrics):
            yield OptionFault(("rubric",), "`rubric` says all that is judged: nothing goes with it")

    @conflict
    def _has_two_judges(self) -> Iterator[OptionFault]:
        if self.panel and self.target is not None:
            yield OptionFault(("target",), "`target` and `panel` both say who judges", "keep one")

    @conflict
    def _asks_one_twice(self) -> Iterator[OptionFault]:
        for number, name in enumerate(self.panel):
            if name in self.panel[:number]:
                hint = "`votes` says how often each is asked"
                yield OptionFault(("panel", number), f"`{name}` is in the panel twice", hint)

    @conflict
    def _has_no_majority(self) -> Iterator[OptionFault]:
        asked = self.votes * len(self.panel or (None,))
        if asked % 2 == 0:
            message = f"{asked} votes are asked for, and an even number may have no majority"
            where = "votes" if self.votes % 2 == 0 else "panel"
            yield OptionFault((where,), message, "make it an odd number")

    @conflict
    def _hides_what_it_needs(self) -> Iterator[OptionFault]:
        if self.rubric is not None:
            yield from hidden_faults(self.template, self.rubric, read_rubric(self.rubric).needs)

    @conflict
    def _is_blank(self) -> Iterator[OptionFault]:
        if self.value is not None and not self.value.strip():
            yield OptionFault(("value",), BLANK)

    @conflict
    def _are_no_rubrics(self) -> Iterator[OptionFault]:
        yield from rubric_faults(self.rubrics)

    def compares_expected(self) -> bool:
        """Whether it is told what is expected, to judge by it: by a rubric that needs it, or in
        words of one's own."""
        if not shows_block(self.template, "reference"):
            return False
        return self.rubric is None or "expected_output" in read_rubric(self.rubric).needs

    def judges_case(self) -> bool:
        """Whether it judges by what the case says, having nothing of its own."""
        return self.value is None and self.rubric is None and not self.rubrics

    def missing_in(self, case: Case) -> str | None:
        return self._missing_in(case, has_context=has_context(case, self.context))

    def _missing_in(self, case: Case, *, has_context: bool) -> str | None:
        if self.judges_case():
            return None if case.needs_judge else "`criteria` or `rubrics`"
        needs = read_rubric(self.rubric).needs if self.rubric is not None else ()
        if "expected_output" in needs and not case.expects_output:
            return f"an `expected_output` for its rubric `{self.rubric}`"
        if "context" in needs and not has_context:
            where = f"at `{self.context or 'metadata.context'}` or of tools (`context: tools`)"
            return f"a context for its rubric `{self.rubric}`, {where}"
        return None

    def asks(self) -> tuple[str, ...]:
        return self.panel or ((self.target,) if self.target is not None else ())

    def fingerprint(self) -> str:
        rubric = read_rubric(self.rubric).version if self.rubric is not None else 0
        told = repr((PROTOCOL, SYSTEM, self.asks(), self.votes, self.unsure, rubric))
        return sha256(told.encode()).hexdigest()[:16]

    async def grade(self, context: Context) -> Score:
        if not self.asks():
            raise GraderError("grader", "no judge is configured: [judge] names its target")
        if _is_empty(context):
            what = "is only white space" if context.text.isspace() else "is empty"
            said = f"the answer {what}, so the judge was not asked"
            return Score(0.0, said, passed=False, stands=True)
        rubric = read_rubric(self.rubric) if self.rubric is not None else None
        chunks = find_chunks(context, self.context)
        self._check_needs(context, chunks)
        blocks = show_blocks(context, chunks)
        if rubric is not None and rubric.claims is not None:
            return await self._grade_claims(context, blocks, rubric.claims)
        criteria = self._criteria(context, rubric, len(chunks))
        score = await self._grade_criteria(context, blocks, criteria)
        if rubric is not None and rubric.chunks is not None:
            return mean_precision(score)
        return score

    def _check_needs(self, context: Context, chunks: Sequence[str]) -> None:
        """Raise GraderError if something is missing. A context may also come from tools."""
        missing = self._missing_in(context.case, has_context=bool(chunks))
        if missing is not None:
            raise GraderError("grader", f"it needs {missing}, and there is none")

    def _criteria(
        self, context: Context, rubric: Rubric | None, chunks: int
    ) -> tuple[Criterion, ...]:
        if rubric is not None and rubric.chunks is not None:
            text = rubric.chunks
            items: list[Mapping[str, Any]] = [
                {"id": f"chunk {number}", "text": text.replace("{number}", str(number))}
                for number in range(1, chunks + 1)
            ]
            return number_criteria(items)
        if rubric is not None:
            return rubric.criteria
        if self.judges_case():
            return number_criteria(criteria_of_case(context.case))
        prose = [{"id": "criteria", "text": self.value}] if self.value is not None else []
        return number_criteria([*prose, *map(describe_rubric, self.rubrics)])

    async def _grade_criteria(
        self, context: Context, blocks: Mapping[str, str], criteria: Sequence[Criterion]
    ) -> Score:
        def given(vote: int) -> tuple[dict[str, str], str]:
            # Another order for each vote: what comes first must not decide.
            turn = (vote - 1) % len(criteria)
            rotated = (*criteria[turn:], *criteria[:turn])
            return {**blocks, "criteria": list_criteria(rotated)}, closing_for(rotated)

        votes, details = await self._ask_votes(
            context, given, schema_for(criteria), lambda text: read_judge_reply(text, criteria)
        )
        said = [vote.said for vote in votes if vote.said]
        for kept, vote in zip(details["votes"], votes, strict=True):
            if len(votes) > 1 and vote.said is not None:
                kept["criteria"] = [
                    {"id": each.id, **vote.said[each.key]._asdict()} for each in criteria
                ]
        with keeping_details(details):
            decided = decide_criteria(criteria, said, len(votes), self.unsure)
        missed = any(each.criterion.required and each.score < 1.0 for each in decided)
        told = {**details, "criteria": [each.to_dict() for each in decided]}
        unsure = any(each.unsure for each in decided)
        passed = False if missed else None
        return Score(
            round(weigh_criteria(decided), 9), explain_votes(decided), told, passed, stands=unsure
        )

    async def _grade_claims(
        self, context: Context, blocks: Mapping[str, str], about: Mapping[str, str]
    ) -> Score:
        def given(_: int) -> tuple[dict[str, str], str]:
            return {**blocks, "criteria": describe_claims(about)}, closing_for_claims(about)

        votes, details = await self._ask_votes(context, given, claims_schema(), read_claims)
        claims = [Claims(vote.said, self.unsure) for vote in votes if vote.said is not None]
        for kept, vote in zip(details["votes"], votes, strict=True):
            if len(votes) > 1 and vote.said is not None:
                kept["claims"] = [each._asdict() for each in vote.said]
        with keeping_details(details):
            middle = middle_claims(claims, len(votes))
        told = {**details, "claims": middle.to_list()}
        return Score(middle.share, middle.reason, told, stands=middle.unsure)

    async def _ask_votes(
        self, context: Context, given: Callable[[int], tuple[dict[str, str], str]],
        schema: JSON, read: Callable[[str], T],
    ) -> tuple[list[Vote[T]], dict[str, Any]]:  # fmt: skip
        """Every vote, all asked at once, and what is kept of them. Raise GraderError if none
        counts."""
        voters = [target for target in self.asks() for _ in range(self.votes)]
        prompts = [
            write_prompt(*given(number), number, self.template)
            for number in range(1, len(voters) + 1)
        ]
        asked = [
            ask_vote(context.ask, target, prompt, schema, read)
            for target, prompt in zip(voters, prompts, strict=True)
        ]
        votes = list(await asyncio.gather(*asked))
        details: dict[str, Any] = {
            "protocol": PROTOCOL, "votes": [dict(vote.about) for vote in votes],
        }  # fmt: skip
        if prompts[0].neutralised:
            details["neutralised"] = prompts[0].neutralised
        if self.template is not None:
            details["template"] = sha256(self.template.encode()).hexdigest()[:16]
        failed = next((vote.failure for vote in votes if vote.failure is not None), None)
        if failed is not None and all(vote.failure is not None for vote in votes):
            raise GraderError(failed.kind, str(failed), {**failed.details, **details})
        return votes, details


def _is_empty(context: Context) -> bool:
    """Whether there is nothing to judge: of a part, what else the answer has is no part of it."""
    if context.part is not None:
        return context.part.value is None or not context.text.strip()
    return not context.text.strip() and not context.answer.tool_calls
