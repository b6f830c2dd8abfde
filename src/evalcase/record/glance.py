"""The row of a result as most are, told by how its line begins and ends: there are a million."""

from __future__ import annotations

import re
from typing import TypeAlias, get_args

from evalcase.model.result import Verdict
from evalcase.text.late_pattern import late_pattern

Glance: TypeAlias = tuple[str, str, str, str, Verdict, bool, str, str]
"""Suite, case, target, question hash, verdict, whether there is an answer, grading hash, and the
place of the case among all, in digits, of which the first has none. Nothing has a price, and it is
the first trial of one.

A plain tuple: to make a named one of each takes as long as to look at its line.
"""

_VERDICTS: dict[str, Verdict] = {verdict: verdict for verdict in get_args(Verdict)}
_HEAD = late_pattern(
    r'\{"type":"result","suite":"([^"]*+)","case":"([^"]*+)","target":"([^"]*+)","repeat":1,'
    r'"question_hash":"([^"]*+)","verdict":"([^"]*+)","([^"]*+)":(.*+)',
    re.DOTALL,
)
_GRADED_BY = ',"grading_hash":"'
_NUMBER = '","number":'
_END = slice(-1)


def glance_at(body: bytes) -> Glance | None:
    """What a line that was verified says in one order, its checksum left off, if what is between
    its ends has nothing in it that would matter. None for all others, which have to be read whole.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    head = _HEAD.match(text)
    if head is None:
        return None
    suite, case, target, question, said, first, rest = head.groups()
    between, _, tail = rest.rpartition(_GRADED_BY)
    grading, numbered, number = tail.partition(_NUMBER)
    if not numbered:
        grading, number = grading[_END], "" if grading[-1:] == '"' else "?"
    verdict, answered = _VERDICTS.get(said), first == "answer"
    if (
        verdict is None or not between or '"' in grading or (number and not _is_number(number))
        or (between[0] != "{" if answered else first not in _INSTEAD) or '"answer":' in between
        or '"cost_usd"' in between or '"cached"' in between or '"verdict":' in between
        or ("\\" in text and _hides(text, between, head.start(6), grading))
    ):  # fmt: skip
        return None
    return suite, case, target, question, verdict, answered, grading, number


_INSTEAD = frozenset({"grades", "failure", "attempts", "started_at"})
"""What may come first where there is no answer."""


def _is_number(digits: str) -> bool:
    return "1" <= digits < ":" and digits.isdecimal() and digits.isascii() and len(digits) < 10


def _hides(text: str, between: str, head: int, grading: str) -> bool:
    """Whether an escape stands in a name, or is one by which anything could be hidden."""
    return "\\u" in between or "\\" in grading or text.find("\\", 0, head) >= 0
