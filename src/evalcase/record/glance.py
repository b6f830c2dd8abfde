"""The row of a result as most are, told by one pattern: there are a million. It fits only what is
JSON as the journal writes it, since anyone may have written the row."""

from __future__ import annotations

from typing import TypeAlias

from evalcase.model.result import VERDICTS, Verdict
from evalcase.text.late_pattern import late_pattern

Glance: TypeAlias = tuple[str, str, str, str, Verdict, str, str]
"""Suite, case, target, question hash, verdict, grading hash, and the place of the case among all,
in digits, of which the first has none. There is an answer, nothing has a price, and it is the first
trial of one.

A plain tuple: to make a named one of each takes as long as to look at its line.
"""

_VERDICTS: dict[str, Verdict] = {verdict: verdict for verdict in VERDICTS}
_NAME, _TEXT = r'"([^"]*+)"', r'"[^"]*+"'
_SHARE = r"(?:1(?:\.0)?|0(?:\.[0-9]++)?|[1-9](?:\.[0-9]++)?e-0[1-9]|null)"
_SECONDS = r"(?:0|[1-9][0-9]{0,8}+)(?:\.[0-9]++)?(?:e-[0-9]{2})?"
_GRADE = rf'\{{"grader":{_TEXT},"score":{_SHARE},"passed":(?:true|false),"reason":{_TEXT}\}}'
_PLAIN = late_pattern(
    rf'\{{"type":"result","suite":{_NAME},"case":{_NAME},"target":{_NAME},"repeat":1,'
    rf'"question_hash":{_NAME},"verdict":{_NAME},'
    rf'"answer":\{{"messages":\[\{{"role":"assistant","content":{_TEXT}\}}\]\}},'
    rf'"grades":\[{_GRADE}(?:,{_GRADE})*+\],'
    rf'"started_at":{_TEXT},"duration_s":{_SECONDS},"grading_hash":{_NAME}'
    r'(?:,"number":([1-9][0-9]{0,8}+))?'
)
"""A text and its grades, as most are, without any escape: nothing else can stand in between."""
_CONTROLS = bytes(range(32))
"""JSON has none of them in a text."""


def glance_at(body: bytes) -> Glance | None:
    """What a line that was verified says, its checksum left off, if it is a text with its grades.
    None for all others, which have to be read whole."""
    if b"\\" in body or len(body.translate(None, _CONTROLS)) < len(body):
        return None
    try:
        plain = _PLAIN.fullmatch(body.decode())
    except UnicodeDecodeError:
        return None
    if plain is None:
        return None
    suite, case, target, question, said, grading, number = plain.groups("")
    verdict = _VERDICTS.get(said)
    if verdict is None:
        return None
    return suite, case, target, question, verdict, grading, number
