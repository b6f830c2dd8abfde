"""The tables of graders: a spelling, an answer, and what comes of it; one file for each grader.

`gives` is score, passed and reason; `broken` is why there is no verdict; `error` is what `check`
says. The answer is a text, or any `content`, or a whole `message`, or several `messages`.
"""

import asyncio
import json
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from evalcase import Case, parse_case
from evalcase.config.graders import make_grader
from evalcase.errors import SuiteError
from evalcase.format.yaml import read_yaml
from evalcase.graders.base import Context
from evalcase.runner.grading import grade_answer
from evalcase.types.answer import Answer, Earlier, Usage
from evalcase.types.grade import Grade
from evalcase.types.message import Message, Step
from evalcase.types.target import Question
from evalcase.util.user_calls import UserCalls

FOLDER = Path(__file__).parent / "cases"


class Row(NamedTuple):
    place: str
    data: dict[str, Any]

    @property
    def case(self) -> Case:
        fields = {
            key: self.data[key] for key in ("expected_output", "metadata") if key in self.data
        }
        return _parse(
            json.dumps({"id": "a", "input": "?", "graders": [self.data["grader"]], **fields})
        )

    @property
    def spec(self) -> dict[str, Any]:
        """The grader in its canonical form."""
        graders: list[dict[str, Any]] = self.case.to_dict()["graders"]
        return graders[0]

    @property
    def answer(self) -> Answer:
        data = self.data
        messages = data.get("messages") or [data.get("message") or _said(data)]
        usage, earlier = data.get("usage"), data.get("earlier")
        return Answer(
            tuple(map(Message, messages)), None if usage is None else Usage(**usage),
            earlier=None if earlier is None else Earlier(**earlier),
            steps=tuple([Step(**each) for each in data.get("steps", ())]),
            **data.get("about", {}),
        )  # fmt: skip

    @property
    def context(self) -> Context:
        case = self.case
        return Context(
            case, Question(case.input, case.id), self.answer, **self.data.get("context", {})
        )


def _said(data: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": data.get("answer", data.get("content"))}


_parse = cache(parse_case)


def all_rows() -> Iterator[Row]:
    return chain.from_iterable(map(_read_rows, sorted(FOLDER.glob("*.yaml"))))


@cache
def _read_rows(path: Path) -> list[Row]:
    value: Any
    value, faults, _ = read_yaml(path.read_text())
    assert not faults, path
    return [Row(f"{path.stem}-{number}", data) for number, data in enumerate(value, 1)]


def rows(outcome: str) -> list[Row]:
    return [row for row in all_rows() if outcome in row.data]


def grade_by(spec: dict[str, Any], context: Context) -> Grade:
    """The grade of a grader in its canonical form."""

    async def grade() -> Grade:
        named = make_grader(spec)
        try:
            return (await grade_answer(context, [named], UserCalls())).grades[0]
        finally:
            await named.grader.close()

    return asyncio.run(grade())


def messages_of(error: SuiteError) -> list[str]:
    return [problem.message for problem in error.problems]
