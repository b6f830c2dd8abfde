"""The answer is JSON."""

from __future__ import annotations

from typing import Annotated, ClassVar

from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import about
from evalcase.types.value import JSON, describe_kind
from evalcase.util.answers import but_instead, parse_answer, text_of_content
from evalcase.util.json import BadJsonError, parse_json


class JsonGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "json", "The answer is valid JSON, alone or in one fenced code block.", reads="either",
        example="- json",
        only_reads=True, light=True,
    )  # fmt: skip

    strict: Annotated[
        bool, about("Whether a fence around the JSON is a failure.", elsewhere=("no_fence",))
    ] = False

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
