"""The answer is JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.option import option
from evalcase.model.shape import Flag
from evalcase.text.answer_value import parse_answer, text_of_content
from evalcase.text.silence import but_instead
from evalcase.text.strict_json import BadJsonError, parse_json


@dataclass(frozen=True, slots=True)
class JsonGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "json", "The answer is valid JSON, alone or in one fenced code block.", reads="either",
        example="- json",
        only_reads=True, light=True,
    )  # fmt: skip

    strict: bool = option(
        Flag(),
        "Whether a fence around the JSON is a failure.",
        default=False,
        elsewhere=("no_fence",),
    )

    def grade(self, context: Context) -> Score:
        content = context.answer.content if context.part is None else context.part.value
        if content is None and context.part is None:
            reason = f"the answer has no content{but_instead(context.answer.last)}"
            return Score(0.0, reason, passed=False, stands=True)
        text = text_of_content(content)
        if text is not None and not text.strip():
            return Score(0.0, "there is an empty text", passed=False, stands=True)
        if text is not None:
            try:
                content = (parse_json if self.strict else parse_answer)(text)
            except BadJsonError as error:
                return Score(0.0, f"it is not JSON: {error}{self._fence(text)}")
        return Score(1.0, f"it is JSON: {_describe_value(content)}")

    def _fence(self, text: str) -> str:
        is_fenced = self.strict and text.lstrip()[:3] in ("```", "~~~")
        return " (a fence is not allowed by `strict`)" if is_fenced else ""


def _describe_value(value: JSON) -> str:
    if isinstance(value, dict):
        return f"a mapping of {len(value)}"
    return f"a list of {len(value)}" if isinstance(value, list) else describe_kind(value)
