"""The row of a result as most are, told by how its line begins and ends: there are a million."""

from __future__ import annotations

from typing import TypeAlias, get_args

from evalcase.model.result import Verdict
from evalcase.text.journal_row import TAIL
from evalcase.text.late_pattern import late_pattern

Glance: TypeAlias = tuple[str, str, str, int, str, Verdict, bool, str, int]
"""Suite, case, target, repeat, question hash, verdict, whether there is an answer, grading hash,
and the place of the case among all. Nothing has a price, and it is one trial of one.

A plain tuple: to make a named one of each takes as long as to look at its line.
"""

_VERDICTS: dict[bytes, Verdict] = {verdict.encode(): verdict for verdict in get_args(Verdict)}
_NUMBER = rb"(0|[1-9][0-9]{0,8})"
_HEAD = late_pattern(
    rb'\{"type":"result","suite":"([^"\\]*)","case":"([^"\\]*)","target":"([^"\\]*)","repeat":'
    + _NUMBER
    + rb',"question_hash":"([^"\\]*)","verdict":"([a-z]+)",("answer":\{)?'
)
_GRADED_BY = b',"grading_hash":"'
_TAIL = late_pattern(_GRADED_BY + rb'([^"\\]*)"(?:,"number":' + _NUMBER + rb")?")


def glance_at(line: bytes) -> Glance | None:
    """What a line that was verified says in one order, if what is between its ends has nothing in
    it that would matter. None for all others, which have to be read whole."""
    head = _HEAD.match(line)
    if head is None:
        return None
    tail = _TAIL.fullmatch(line, line.rfind(_GRADED_BY), len(line) - TAIL)
    if tail is None or _has_more(line, head.end()):
        return None
    suite, case, target, repeat, question, verdict, answer = head.groups()
    known = _VERDICTS.get(verdict)
    if known is None:
        return None
    grading, number = tail.groups(b"0")
    return (
        suite.decode(), case.decode(), target.decode(), int(repeat), question.decode(), known,
        answer is not None, grading.decode(), int(number),
    )  # fmt: skip


def _has_more(line: bytes, start: int) -> bool:
    """Whether there is what only the whole row could tell, wherever that stands from there on; or
    an escape, by which it could be hidden. One character is found sooner than two."""
    return (
        line.find(b'"cost_usd"', start) >= 0 or line.find(b'"cached"', start) >= 0
        or line.find(b'"verdict":', start) >= 0
        or (line.find(b"\\", start) >= 0 and line.find(b"\\u", start) >= 0)
    )  # fmt: skip
