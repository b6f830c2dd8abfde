"""A model that judges, by protocol `judge/1`: criteria in, verdicts out, and a score of those.

The judge says what is met; the arithmetic is ours. Without a clear verdict, the grade is errored:
never 0, and never a pass.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, Literal

from msgspec import Meta

from evalcase.errors import ConfigError, GraderError
from evalcase.graders.base import BOTH, NEITHER, Context, Grader, Half, names_file
from evalcase.graders.judge_prompt import (
    PROTOCOL,
    SYSTEM,
    PromptText,
    Template,
    count_tokens,
    find_chunks,
    has_context,
    make_criterion,
    show_blocks,
    shows_block,
    write_prompt,
)
from evalcase.graders.judge_reply import ClaimsForm, CriteriaForm, JudgeForm, Vote, ask_vote
from evalcase.graders.rubrics import (
    BLANK,
    RubricItem,
    RubricName,
    criteria_of_case,
    describe_rubric,
    number_criteria,
    read_rubric,
    rubric_faults,
)
from evalcase.types.case import Case
from evalcase.types.grade import Score
from evalcase.types.options import Count, TargetName, TargetNames, Text, about
from evalcase.types.problem import Finding
from evalcase.types.target import Surroundings
from evalcase.types.value import replace
from evalcase.util.files import digest_file, read_file

_LARGEST_PROMPT = 1_000_000


class JudgeGrader(Grader):
    name = "judge"
    description = "Graded by a model, against criteria written in prose."
    argument = "value"
    reads = "either"
    judges = True
    example = "- judge: Says when the shop opens, and is polite."

    value: Annotated[
        Text | None,
        about("What a good answer does; by default, what the case says.", elsewhere=("criteria",)),
    ] = None
    prompt: Annotated[
        PromptText | None,
        about(
            "The same as longer text, or the path of one. {{criteria}} in it is that of the case, "
            "and {{question}}, {{reference}} and {{answer}} name what the judge sees."
        ),
    ] = None
    rubric: Annotated[RubricName | None, about("A built-in rubric.", example="correct")] = None
    rubrics: Annotated[
        Annotated[tuple[Text | RubricItem, ...], Meta(min_length=1)],
        about("Criteria to check one by one."),
    ] = ()
    target: Annotated[
        TargetName | None, about("Who judges, instead of [judge].", elsewhere=("model",))
    ] = None
    votes: Annotated[Count, about("How often each judge is asked; the majority decides.")] = 1
    panel: Annotated[TargetNames, about("Several judges, instead of `target`.")] = ()
    template: Annotated[
        Template | None,
        about(
            "Your own prompt: it must use {{answer}} and {{criteria}}, and may use {{goal}}, "
            "{{conversation}}, {{reference}}, {{context}}, {{tool_calls}} and {{diff}}."
        ),
    ] = None
    unsure: Annotated[Literal["error", "fail"], about("What it is if the judge can't tell.")] = (
        "error"
    )
    context: Annotated[
        Text | None,
        about(
            "Where the context is: a path in the metadata, or `tools` for the outputs of tools. "
            "By default `metadata.context`, or else `tools`.",
            words="a path into the metadata, or `tools`",
        ),
    ] = None

    prompt_text: str = ""
    """The prompt, once its file is read."""
    prompt_path: str = ""

    def conflicts(self) -> Iterator[Finding]:
        if self.prompt is not None and self.value is not None:
            yield Finding(("prompt",), "`prompt` replaces `value`: use only one of them")
        if self.rubric is not None and (self.value or self.prompt or self.rubrics):
            yield Finding(("rubric",), "`rubric` says all that is judged: nothing goes with it")
        if self.panel and self.target is not None:
            yield Finding(("target",), "`target` and `panel` both say who judges", "keep one")
        for number, name in enumerate(self.panel):
            if name in self.panel[:number]:
                hint = "`votes` says how often each is asked"
                yield Finding(("panel", number), f"`{name}` is in the panel twice", hint)
        asked = self.votes * len(self.panel or (None,))
        if asked % 2 == 0:
            message = f"{asked} votes are asked for, and an even number may have no majority"
            where = "votes" if self.votes % 2 == 0 else "panel"
            yield Finding((where,), message, "make it an odd number")
        for what, block in (("expected_output", "reference"), ("context", "context")):
            needs = read_rubric(self.rubric).needs if self.rubric is not None else ()
            if what in needs and not shows_block(self.template, block):
                message = f"the rubric `{self.rubric}` needs {{{{{block}}}}} in the `template`"
                yield Finding(("template",), message)
        if self.value is not None and not self.value.strip():
            yield Finding(("value",), BLANK)
        yield from rubric_faults(self.rubrics)

    def compares(self) -> frozenset[Half]:
        """Whether the judge sees what is expected, and judges by it."""
        needs = ("expected_output",) if self.rubric is None else read_rubric(self.rubric).needs
        is_shown = shows_block(self.template, "reference")
        return BOTH if is_shown and "expected_output" in needs else NEITHER

    def judges_case(self) -> bool:
        """Whether it judges by what the case says, having nothing of its own."""
        own = (self.value, self.prompt, self.rubric, self.rubrics or None)
        return all(each is None for each in own)

    def load(self, surroundings: Surroundings) -> None:
        self.prompt_text = self.prompt or ""
        if not names_file(self.prompt_text):
            return
        self.prompt_path = os.path.join(surroundings.root, self.prompt_text)
        try:
            read = read_file(self.prompt_path, _LARGEST_PROMPT, inside=surroundings.root)
            self.prompt_text = read.decode()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ConfigError(f"grader `judge`: {self.prompt}: {why}") from None

    def sources(self) -> dict[str, str]:
        return {str(self.prompt): digest_file(self.prompt_path)} if self.prompt_path else {}

    def missing_in(self, case: Case, chunks: Sequence[str] | None = None) -> str | None:
        if self.judges_case():
            return None if case.criteria or case.rubrics else "`criteria` or `rubrics`"
        needs = read_rubric(self.rubric).needs if self.rubric is not None else ()
        if "expected_output" in needs and not case.expects_output:
            return f"an `expected_output` for its rubric `{self.rubric}`"
        is_there = has_context(case, self.context) if chunks is None else bool(chunks)
        if "context" in needs and not is_there:
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
            what = "no judge is configured: add a [judge] table with `target = NAME`"
            raise GraderError("grader", what)
        text, part = context.text, context.part
        # Of a part, what else the answer has is no part of it.
        has_more = bool(context.answer.tool_calls) if part is None else False
        if (not text.strip() and not has_more) or (part is not None and part.value is None):
            what = "is only white space" if text.isspace() else "is empty"
            said = f"the answer {what}, so the judge was not asked"
            return Score(0.0, said, passed=False, stands=True)
        chunks = find_chunks(context, self.context)
        # A context may also come from tools, so this is known only now.
        missing = self.missing_in(context.case, chunks)
        if missing is not None:
            raise GraderError("grader", f"it needs {missing}, and there is none")
        form = self._make_form(context, len(chunks))
        votes, details = await self._ask_votes(context, show_blocks(context, chunks), form)
        read = [vote.said for vote in votes if vote.failure is None]
        try:
            score = form.decide(read, len(votes), self.unsure)
        except GraderError as error:
            raise GraderError(error.kind, str(error), {**error.details, **details}) from None
        return replace(score, details={**details, **score.details})

    def _make_form(self, context: Context, chunks: int) -> JudgeForm:
        if self.rubric is not None:
            rubric = read_rubric(self.rubric)
            if rubric.claims is not None:
                return ClaimsForm(rubric.claims)
            if rubric.chunks is None:
                return CriteriaForm(rubric.criteria)
            text = rubric.chunks
            items: list[Mapping[str, Any]] = [
                {"id": f"chunk {number}", "text": text.replace("{number}", str(number))}
                for number in range(1, chunks + 1)
            ]
            return CriteriaForm(number_criteria(items), are_chunks=True)
        if self.judges_case():
            return CriteriaForm(number_criteria(criteria_of_case(context.case)))
        items = [{"id": "criteria", "text": self.value}] if self.value is not None else []
        if self.prompt is not None:
            criterion = make_criterion(self.prompt_text or self.prompt, context.case)
            items = [{"id": "prompt", "text": criterion}]
        return CriteriaForm(number_criteria([*items, *map(describe_rubric, self.rubrics)]))

    async def _ask_votes(
        self, context: Context, blocks: Mapping[str, str], form: JudgeForm
    ) -> tuple[list[Vote], dict[str, Any]]:
        """Every vote, all asked at once, and what is kept of them. Raise GraderError if none
        counts."""
        voters, asked = [target for target in self.asks() for _ in range(self.votes)], []
        for number, target in enumerate(voters, 1):
            criteria, closing = form.write(number)
            shown = {**blocks, "criteria": criteria}
            prompt = write_prompt(shown, closing, number, self.template)
            asked.append(ask_vote(context.ask, target, prompt, form))
        votes = await asyncio.gather(*asked)
        for vote in votes:
            if len(votes) > 1 and vote.failure is None:
                vote.about.update(form.describe(vote.said))
        details: dict[str, Any] = {"protocol": PROTOCOL, "votes": [vote.about for vote in votes]}
        if tokens := sum(map(count_tokens, shown.values())):
            details["neutralised"] = tokens
        if self.template is not None:
            details["template"] = sha256(self.template.encode()).hexdigest()[:16]
        failed = next((vote.failure for vote in votes if vote.failure is not None), None)
        if failed is not None and all(vote.failure is not None for vote in votes):
            raise GraderError(failed.kind, str(failed), {**failed.details, **details})
        return votes, details
