"""What came of a trial as lines of a journal; and its case, the first time.

Most cases ask one text and expect another, and most answers are a text with one grade. Their lines
are put together as text: to make objects of them, and JSON of these, takes eight times as long.
Where secrets are known, rows have to be looked through, and are made as all others are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.codec import encode_after
from evalcase.model.grade import Grade
from evalcase.model.quick_dataclass import MISSING, fields
from evalcase.model.quick_tuple import NamedTuple
from evalcase.model.result import Regraded, Result
from evalcase.record.cases import case_row
from evalcase.record.scrub import WrittenRow, write_row
from evalcase.text.journal_row import encode_line
from evalcase.text.quick_json import text_quoter
from evalcase.text.secret_search import KnownSecrets

_CASE = (
    '{"type":"case","suite":%s,"case":%s,"data":{"id":%s,'
    '"input":[{"role":%s,"content":%s}],"expected_output":[{"role":%s,"content":%s}]}}'
)
_OF_CASE = ["id", "input", "expected_output"]
_RESULT = (
    '{"type":"result","suite":%s,"case":%s,"target":%s,"repeat":%d,"question_hash":%s,'
    '"verdict":%s,"answer":{"messages":[{"role":%s,"content":%s}]},'
    '"grades":[{"grader":%s,"score":%r,"passed":%s,"reason":%s}],'
    '"started_at":%s,"duration_s":%r,"grading_hash":%s,"number":%d}'
)
_OF_RESULT = (
    "key", "question_hash", "verdict", "answer", "grades", "started_at", "duration_s",
    "grading_hash", "number",
)  # fmt: skip
_OF_MESSAGE = ["role", "content"]
_LONGEST_S = 1e9

_quote = text_quoter(ascii_only=False)


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
    return _CASE % (
        _quote(suite), id, id,
        _quote(asked["role"]), _quote(asked["content"]),
        _quote(expected["role"]), _quote(expected["content"]),
    )  # fmt: skip


def _plain_result(result: Result) -> str | None:
    """The row of a result that is a text and one grade; None for any other."""
    answer, grades, unsaid = result.answer, result.grades, _unsaid()
    if answer is None or len(grades) != 1 or not unsaid.are_plain(result, answer, grades[0]):
        return None
    (grade,) = grades
    message = _plain_message(answer.messages)
    suite, case, target, repeat = result.key
    number, took_s, score = result.number, result.duration_s, grade.score
    if message is None or type(repeat) is not int or type(number) is not int:
        return None
    if not (number and result.started_at and result.grading_hash):
        return None
    if type(took_s) is not float or type(score) is not float or type(grade.passed) is not bool:
        return None
    if not 0 < took_s < _LONGEST_S or not 0 <= score <= 1:
        return None
    return _RESULT % (
        _quote(suite), _quote(case), _quote(target), repeat, _quote(result.question_hash),
        _quote(result.verdict), _quote(message["role"]), _quote(message["content"]),
        _quote(grade.grader), score, "true" if grade.passed else "false", _quote(grade.reason),
        _quote(result.started_at), took_s, _quote(result.grading_hash), number,
    )  # fmt: skip


def _plain_message(messages: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The one message, if it is a role and a text."""
    if len(messages) != 1:
        return None
    message = messages[0]
    return message if list(message) == _OF_MESSAGE and type(message["content"]) is str else None


class _Unsaid(NamedTuple):
    """All that a plain result leaves at its default."""

    of_result: Callable[[Any], Any]
    of_answer: Callable[[Any], Any]
    of_grade: Callable[[Any], Any]
    defaults: tuple[object, object, object]

    def are_plain(self, result: Result, answer: Answer, grade: Grade) -> bool:
        found = self.of_result(result), self.of_answer(answer), self.of_grade(grade)
        return found == self.defaults


@lru_cache(maxsize=1)
def _unsaid() -> _Unsaid:
    result = _others(Result, _OF_RESULT)
    answer = _others(Answer, ("messages",))
    grade = _others(Grade, ("grader", "score", "passed", "reason"))
    defaults = tuple(result.values()), tuple(answer.values()), tuple(grade.values())
    return _Unsaid(attrgetter(*result), attrgetter(*answer), attrgetter(*grade), defaults)


def _others(wanted: type, written: Sequence[str]) -> dict[str, object]:
    """The fields that are not written, with their defaults."""
    return {each.name: _default(each) for each in fields(wanted) if each.name not in written}


def _default(each: Any) -> object:  # noqa: ANN401 - a field of any type
    return each.default if each.default_factory is MISSING else each.default_factory()
