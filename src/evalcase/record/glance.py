"""Rows of results as most are, told by one pattern, many at once: there are a million. It fits only
what is JSON as the journal writes it, since anyone may have written the rows."""

from __future__ import annotations

import re
from typing import TypeAlias

from evalcase.model.result import VERDICTS, Verdict

Glance: TypeAlias = tuple[str, str, str, str, Verdict, str, str]
"""Suite, case, target, question hash, verdict, grading hash, and the place of the case among all,
in digits, of which the first has none. There is an answer, nothing has a price, and it is the first
trial of one.

A plain tuple: to make a named one of each takes as long as to look at its line.
"""

_CHARACTER = r'[^"\\\x00-\x1f]'
"""JSON has no other in a text without an escape."""
_NAME, _TEXT = rf'"({_CHARACTER}*+)"', rf'"{_CHARACTER}*+"'
_SHARE = r"(?:1(?:\.0)?|0(?:\.[0-9]++)?|[1-9](?:\.[0-9]++)?e-0[1-9]|null)"
_SECONDS = r"(?:0|[1-9][0-9]{0,8}+)(?:\.[0-9]++)?(?:e-[0-9]{2})?"
_GRADE = rf'\{{"grader":{_TEXT},"score":{_SHARE},"passed":(?:true|false),"reason":{_TEXT}\}}'
_LINE = re.compile(
    rf'^(?:\{{"type":"result","suite":{_NAME},"case":{_NAME},"target":{_NAME},"repeat":1,'
    rf'"question_hash":{_NAME},"verdict":"({"|".join(VERDICTS)})",'
    rf'"answer":\{{"messages":\[\{{"role":"assistant","content":{_TEXT}\}}\]\}},'
    rf'"grades":\[{_GRADE}(?:,{_GRADE})*+\],'
    rf'"started_at":{_TEXT},"duration_s":{_SECONDS},"grading_hash":{_NAME}'
    r'(?:,"number":([1-9][0-9]{0,8}+))?|.*+)$',
    re.MULTILINE,
)
"""A text and its grades, as most are, without any escape: nothing else can stand in between. Or any
other line, which has no verdict then."""


def glance_at(bodies: list[bytes]) -> list[Glance | None]:
    """What each of some lines that were verified says, its checksum left off, if it is a text with
    its grades. None for all others, which have to be read whole."""
    if not bodies:
        return []  # of which there is no line, and not an empty one
    try:
        seen = _LINE.findall(b"\n".join(bodies).decode())
    except UnicodeDecodeError:
        return [None] * len(bodies)
    return [each if each[4] else None for each in seen]
