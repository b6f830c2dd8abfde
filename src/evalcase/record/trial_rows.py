"""What came of a trial as lines of a journal; and its case, the first time.

Most cases ask one text and expect another, and most answers are a text with one grade. Their lines
are put together as text: to make objects of them, and JSON of these, takes eight times as long.
Where secrets are known, rows have to be looked through, and are made as all others are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.codec import default_of, encode_after
from evalcase.model.grade import Grade
from evalcase.model.quick_dataclass import fields
from evalcase.model.result import Regraded, Result
from evalcase.record.cases import case_row
from evalcase.record.scrub import WrittenRow, write_row
from evalcase.text.journal_row import encode_line
from evalcase.text.quick_json import text_quoter
from evalcase.text.secret_search import KnownSecrets

SaysNoMore = Callable[[Any], bool]

_OF_CASE = ["id", "input", "expected_output"]
_OF_RESULT = (
    "key", "question_hash", "verdict", "answer", "grades", "started_at", "duration_s",
    "grading_hash", "number",
)  # fmt: skip
_OF_ANSWER = ("messages",)
_OF_GRADE = ("grader", "score", "passed", "reason")
_OF_MESSAGE = ["role", "content"]
_LONGEST_S = 1e9
_FEW = 16
"""Of so many it is not worth it to make what looks at them."""

_quote = text_quoter(ascii_only=False)


class _Quoted(dict[str, str]):
    """The JSON of texts that come again and again: names, roles, verdicts, reasons."""

    def __missing__(self, text: str) -> str:
        quoted = _quote(text)
        if len(text) <= _SHORT:
            if len(self) >= _MOST:
                self.clear()
            self[text] = quoted
        return quoted


_SHORT, _MOST = 80, 1000
_quoted = _Quoted()


def write_outcome(kept: Result | Regraded, secrets: KnownSecrets) -> WrittenRow:
    """The line of a result, without secrets; ValueError if it can't be kept as JSON."""
    if isinstance(kept, Regraded):
        return write_row(encode_after({"type": "regraded"}, kept), secrets)
    text = None if secrets.values else _try(_plain_result, kept)
    if text is not None:
        return WrittenRow(encode_line(text))
    return write_row(encode_after({"type": "result"}, kept), secrets)


def write_case(suite: str, case: Case, secrets: KnownSecrets) -> bytes:
    """The same for the line of a case."""
    text = None if secrets.values else _try(_plain_case, suite, case)
    return encode_line(text) if text is not None else write_row(case_row(suite, case), secrets).line


def _try(write: Callable[..., str | None], *arguments: object) -> str | None:
    """The text of a row, unless it is of something that only looks like one."""
    try:
        return write(*arguments)
    except (AttributeError, LookupError, TypeError):
        return None


def _plain_case(suite: str, case: Case) -> str | None:
    """The row of a case that is its id, a text and another; None for any other."""
    data = case.data
    if list(data) != _OF_CASE:
        return None
    asked, expected = _plain_message(data["input"]), _plain_message(data["expected_output"])
    if asked is None or expected is None:
        return None
    id = _quote(data["id"])
    return (
        f'{{"type":"case","suite":{_quoted[suite]},"case":{id},"data":{{"id":{id},'
        f'"input":[{{"role":{_quoted[asked["role"]]},"content":{_quote(asked["content"])}}}],'
        f'"expected_output":[{{"role":{_quoted[expected["role"]]},'
        f'"content":{_quote(expected["content"])}}}]}}}}'
    )


def _plain_result(result: Result) -> str | None:
    """The row of a result that is a text and one grade; None for any other."""
    answer, grades, number = result.answer, result.grades, result.number
    if answer is None or len(grades) != 1 or number < _FEW:
        return None
    (grade,) = grades
    of_result, of_answer, of_grade = _checks()
    if not (of_result(result) and of_answer(answer) and of_grade(grade)):
        return None
    message = _plain_message(answer.messages)
    suite, case, target, repeat = result.key
    took_s, score = result.duration_s, grade.score
    if message is None or type(repeat) is not int or type(number) is not int:
        return None
    if not (result.started_at and result.grading_hash):
        return None
    if type(took_s) is not float or type(score) is not float or type(grade.passed) is not bool:
        return None
    if not 0 < took_s < _LONGEST_S or not 0 <= score <= 1:
        return None
    return (
        f'{{"type":"result","suite":{_quoted[suite]},"case":{_quote(case)},'
        f'"target":{_quoted[target]},"repeat":{repeat},'
        f'"question_hash":{_quote(result.question_hash)},"verdict":{_quoted[result.verdict]},'
        f'"answer":{{"messages":[{{"role":{_quoted[message["role"]]},'
        f'"content":{_quote(message["content"])}}}]}},'
        f'"grades":[{{"grader":{_quoted[grade.grader]},"score":{score!r},'
        f'"passed":{"true" if grade.passed else "false"},"reason":{_quoted[grade.reason]}}}],'
        f'"started_at":{_quote(result.started_at)},"duration_s":{took_s!r},'
        f'"grading_hash":{_quote(result.grading_hash)},"number":{number}}}'
    )


def _plain_message(messages: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The one message, if it is a role and a text."""
    if len(messages) != 1:
        return None
    message = messages[0]
    return message if list(message) == _OF_MESSAGE and type(message["content"]) is str else None


@lru_cache(maxsize=1)
def _checks() -> tuple[SaysNoMore, SaysNoMore, SaysNoMore]:
    return (
        check_for_more(Result, _OF_RESULT),
        check_for_more(Answer, _OF_ANSWER),
        check_for_more(Grade, _OF_GRADE),
    )


def check_for_more(wanted: type, said: Sequence[str]) -> SaysNoMore:
    """Whether all fields but those have their defaults: a function made for one dataclass, as
    dataclasses makes its own methods."""
    names: dict[str, Any] = {}
    same: list[str] = []
    for each in fields(wanted):
        if each.name not in said:
            names[each.name] = default = default_of(each)
            how = "is" if default is None or isinstance(default, bool) else "=="
            same.append(f"value.{each.name} {how} {each.name}")
    exec(f"def no_more(value): return {' and '.join(same)}", names)  # noqa: S102 - made of names of fields only
    made: SaysNoMore = names["no_more"]
    return made
