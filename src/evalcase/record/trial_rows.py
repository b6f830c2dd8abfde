"""What came of a trial as lines of a journal; and its case, the first time.

Most cases ask one text and expect another, and most answers are a text with one grade. Their lines
are put together as text: to make objects of them, and JSON of these, takes eight times as long.
Where secrets are known, rows have to be looked through, and are made as all others are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf
from typing import Any

from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, fields

from evalcase.model.answer import Answer
from evalcase.model.case import Case
from evalcase.model.codec import encode_after
from evalcase.model.grade import Grade
from evalcase.model.result import Regraded, Result
from evalcase.record.cases import case_row
from evalcase.record.scrub import WrittenRow, write_row
from evalcase.text.journal_row import encode_members
from evalcase.text.quick_json import text_quoter
from evalcase.text.secret_search import KnownSecrets

SaysNoMore = Callable[[Any], bool]

_OF_CASE = ["id", "input", "expected_output"]
_OF_RESULT = (
    "key", "question_hash", "verdict", "answer", "grades", "started_at", "duration_s",
    "grading_hash", "number",
)  # fmt: skip
_OF_ANSWER = ("messages",)
_OF_MESSAGE = ["role", "content"]
_OF_GRADE = ("grader", "score", "passed", "reason")
_LONGEST_S = 1e9
_FEW = 16
"""Of so many it is not worth it to make what looks at them."""

_quote = text_quoter(ascii_only=False)


class _Framed(dict[str, str]):
    """What was put together of texts that come again and again: names, and what is around them."""

    def __init__(self, before: str, after: str) -> None:
        super().__init__()
        self._before, self._after = before, after

    def make(self, text: str) -> str:
        made = f"{self._before}{_quote(text)}{self._after}"
        if len(text) <= _SHORT:
            if len(self) >= _MOST:
                self.clear()
            self[text] = made
        return made


_SHORT, _MOST = 80, 1000
_cases = _Framed('{"type":"case","suite":', ',"case":')
_results = _Framed('{"type":"result","suite":', ',"case":')
_targets = _Framed(',"target":', ',"repeat":1,"question_hash":')
_verdicts = _Framed(
    ',"verdict":', ',"answer":{"messages":[{"role":"assistant","content":'
)  # fmt: skip


def write_outcome(kept: Result | Regraded, secrets: KnownSecrets) -> WrittenRow:
    """The line of a result, without secrets; ValueError if it can't be kept as JSON."""
    if isinstance(kept, Result) and not 0 <= kept.duration_s < inf:
        raise ValueError(f"`duration_s` is {kept.duration_s!r:.60}, not a number of 0 or more")
    if isinstance(kept, Regraded):
        return write_row(encode_after({"type": "regraded"}, kept), secrets)
    if not secrets.values:
        try:
            text = _plain_result(kept)
        except _LOOKS_LIKE_ONE:
            text = None
        if text is not None:
            return WrittenRow(encode_members(text), None)
    return write_row(encode_after({"type": "result"}, kept), secrets)


def write_case(suite: str, case: Case, secrets: KnownSecrets) -> bytes:
    """The same for the line of a case."""
    if not secrets.values:
        try:
            text = _plain_case(suite, case._data)
        except _LOOKS_LIKE_ONE:
            text = None
        if text is not None:
            return encode_members(text)
    return write_row(case_row(suite, case), secrets).line


_LOOKS_LIKE_ONE = (AttributeError, LookupError, TypeError)
"""What is raised by something that is none of what it looks like."""


def _plain_case(suite: str, data: dict[str, Any]) -> str | None:
    """The row of a case that is its id, a text and another; None for any other. As below, it has
    no brace at its end."""
    if list(data) != _OF_CASE:
        return None
    asked, expected = _plain_text(data["input"], "user"), _plain_text(data["expected_output"])
    if asked is None or expected is None:
        return None
    id = _quote(data["id"])
    return (
        f'{_cases.get(suite) or _cases.make(suite)}{id},"data":{{"id":{id},'
        f'"input":[{{"role":"user","content":{_quote(asked)}}}],'
        f'"expected_output":[{{"role":"assistant","content":{_quote(expected)}}}]}}'
    )


def _plain_result(result: Result) -> str | None:
    """The row of a result that is a text and one grade; None for any other."""
    answer, grades, number = result.answer, result.grades, result.number
    if answer is None or len(grades) != 1 or number < _FEW:
        return None
    of_result, of_answer, of_grade = _make_checks()
    text, graded = _plain_text(answer.messages), _write_grade(grades[0], of_grade)
    if text is None or graded is None or not (of_result(result) and of_answer(answer)):
        return None
    suite, case, target, repeat = result.key
    took_s, verdict = result.duration_s, result.verdict
    if type(repeat) is not int or repeat != 1 or type(number) is not int:
        return None
    if not (result.started_at and result.grading_hash):
        return None
    if type(took_s) is not float or not 0 < took_s < _LONGEST_S:
        return None
    return (
        f"{_results.get(suite) or _results.make(suite)}{_quote(case)}"
        f"{_targets.get(target) or _targets.make(target)}{_quote(result.question_hash)}"
        f"{_verdicts.get(verdict) or _verdicts.make(verdict)}{_quote(text)}"
        f'{graded}{_quote(result.started_at)},"duration_s":{took_s!r},'
        f'"grading_hash":{_quote(result.grading_hash)},"number":{number!r}'
    )


def _write_grade(grade: Grade, says_no_more: SaysNoMore) -> str | None:
    """The JSON of one grade, with what is around it; None for one that has more to say. What is
    right is right for the same reason most of the time: then it is made of the same values."""
    global _last_graded  # noqa: PLW0603 - what the last one came to
    if not says_no_more(grade):
        return None
    grader, score, reason = grade.grader, grade.score, grade.reason
    passed: object = grade.passed  # whatever it was made of
    last = _last_graded
    if grader is last[0] and score is last[1] and passed is last[2] and reason is last[3]:
        return last[4]
    if type(score) is not float or type(passed) is not bool or not 0 <= score <= 1:
        return None
    made = (
        f'}}]}},"grades":[{{"grader":{_quote(grader)},"score":{score!r},'
        f'"passed":{"true" if passed else "false"},"reason":{_quote(reason)}}}],"started_at":'
    )
    _last_graded = grader, score, passed, reason, made
    return made


_last_graded: tuple[object, object, object, object, str] = (None, None, None, None, "")


def _plain_text(messages: Sequence[dict[str, Any]], role: str = "assistant") -> str | None:
    """The text of the one message, if that is a text, and somebody's who has this role."""
    if len(messages) != 1:
        return None
    message = messages[0]
    if list(message) != _OF_MESSAGE or message["role"] != role:
        return None
    content = message["content"]
    return content if type(content) is str else None


@lru_cache(maxsize=1)
def _make_checks() -> tuple[SaysNoMore, SaysNoMore, SaysNoMore]:
    return (
        check_for_more(Result, _OF_RESULT),
        check_for_more(Answer, _OF_ANSWER),
        check_for_more(Grade, _OF_GRADE),
    )


def check_for_more(wanted: type, said: Sequence[str]) -> SaysNoMore:
    """Whether all fields but those have their defaults: a function made for one dataclass, as
    dataclasses makes its own methods. Where it is not sure, it says that there is more."""
    same = [
        f"value.{each.name} {_is_default(_default_of(each))}"
        for each in fields(wanted)
        if each.name not in said
    ]
    names: dict[str, Any] = {"nothing__": ()}
    exec(f"def no_more(value): return {' and '.join(same)}", names)  # noqa: S102 - made of names of fields only
    made: SaysNoMore = names["no_more"]
    return made


def _default_of(each: FieldInfo) -> object:
    return each.default if each.default_factory is NODEFAULT else each.default_factory()


def _is_default(default: object) -> str:
    """How a field is compared with its default, which is written out: to look it up takes longer.
    Most are the very same object; a number, and what is made anew each time, may be another."""
    if default == ():
        return "is nothing__"
    return f"{'is' if default is None or isinstance(default, bool) else '=='} {default!r}"
