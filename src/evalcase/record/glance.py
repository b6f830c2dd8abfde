"""The row of a result as most are, told by how its line begins and ends: there are a million."""

from __future__ import annotations

import re
from typing import TypeAlias

from evalcase.model.result import VERDICTS, Verdict
from evalcase.text.late_pattern import late_pattern

Glance: TypeAlias = tuple[str, str, str, str, Verdict, bool, str, str]
"""Suite, case, target, question hash, verdict, whether there is an answer, grading hash, and the
place of the case among all, in digits, of which the first has none. Nothing has a price, and it is
the first trial of one.

A plain tuple: to make a named one of each takes as long as to look at its line.
"""

_VERDICTS: dict[str, Verdict] = {verdict: verdict for verdict in VERDICTS}
_PLAIN = late_pattern(
    r'\{"type":"result","suite":"([^"]*+)","case":"([^"]*+)","target":"([^"]*+)","repeat":1,'
    r'"question_hash":"([^"]*+)","verdict":"([^"]*+)",'
    r'"answer":\{"messages":\[\{"role":"assistant","content":"[^"]*+"\}\]\},'
    r'"grades":\[\{"grader":"[^"]*+","score":[^,"]++,"passed":[^,"]++,"reason":"[^"]*+"\}\],'
    r'"started_at":"[^"]*+","duration_s":[^,"]++,"grading_hash":"([^"]*+)"'
    r'(?:,"number":([1-9][0-9]{0,8}+))?',
    re.DOTALL,
)
"""A text and one grade, as most are, without any escape: nothing else can stand in between."""
_HEAD = late_pattern(
    r'\{"type":"result","suite":"([^"\\]*+)","case":"([^"\\]*+)","target":"([^"\\]*+)","repeat":1,'
    r'"question_hash":"([^"\\]*+)","verdict":"([a-z]++)","([^"]*+)":(.*+)',
    re.DOTALL,
)
_GRADED_BY = ',"grading_hash":"'
_NUMBER = '","number":'
_END = slice(-1)
_ELSEWHERE = (
    '"answer"', '"cost_usd"', '"cached"', '"verdict"', '"repeat"', '"repeats"', '"pass_rate"',
    '"grading"', '"grading_hash"', '"number"', '"user"', '"type"', '"suite"', '"case"',
    '"target"', '"question_hash"',
)  # fmt: skip
"""Keys that matter, wherever they stand: rows of others may have another order, or a key twice."""


def glance_at(body: bytes) -> Glance | None:
    """What a line that was verified says in one order, its checksum left off, if what is between
    its ends has nothing in it that would matter. None for all others, which have to be read whole.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    if "\\" not in text and (plain := _PLAIN.fullmatch(text)) is not None:
        suite, case, target, question, said, grading, number = plain.groups("")
        verdict = _VERDICTS.get(said)
        if verdict is not None:
            return suite, case, target, question, verdict, True, grading, number
    return _glance_between(text)


def _glance_between(text: str) -> Glance | None:
    """The same for a row with more of what doesn't matter."""
    head = _HEAD.match(text)
    if head is None:
        return None
    suite, case, target, question, said, first, rest = head.groups()
    verdict, answered = _VERDICTS.get(said), first == "answer"
    between, _, tail = rest.rpartition(_GRADED_BY)
    grading, numbered, number = tail.partition(_NUMBER)
    if not numbered:
        grading, number = grading[_END], "" if grading[-1:] == '"' else "?"
    if (
        verdict is None or not between or '"' in grading or "\\" in grading
        or (number and not _is_number(number))
        or (between[0] != "{" if answered else first not in _INSTEAD)
        or any(key in between for key in _ELSEWHERE) or "\\u" in between
    ):  # fmt: skip
        return None
    return suite, case, target, question, verdict, answered, grading, number


_INSTEAD = frozenset({"grades", "failure", "attempts", "started_at"})
"""What may come first where there is no answer."""


def _is_number(digits: str) -> bool:
    return "1" <= digits < ":" and digits.isdecimal() and digits.isascii() and len(digits) < 10
