"""A journal as results. It may come from anyone: everything in it is data, and checked."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, get_args

from evalcase.model.codec import decode
from evalcase.model.result import Result, Verdict
from evalcase.model.trial import TrialKey
from evalcase.record.finished import Finished
from evalcase.record.lines import damaged, read_rows
from evalcase.record.totals import Tally, Totals

VERDICTS = frozenset(get_args(Verdict))
MOST_USD = 1e15
_TYPES = [str, str, str, int, str]


class Outline(NamedTuple):
    """What has to be known of a result to count it."""

    line: int
    key: TrialKey
    verdict: Verdict
    case_hash: str
    answered: bool
    cost_usd: float | None


def read_results(path: str) -> Iterator[Result]:
    """Every result that counts, in the order of the journal: where a trial was run again, its
    last one."""
    replaced = {each.line for each in _replaced(path, _marks(path))}
    for outline, row in _result_rows(path):
        if outline.line not in replaced:
            try:
                del row["type"]
                yield decode(Result, row)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise damaged(path, outline.line, f"is no result: {error!r}") from error


def finished(path: str) -> Finished:
    """The trials that have a result, with its verdict and the hash of the case it is for."""
    trials = Finished()
    for outline, _ in _result_rows(path):
        trials.add(outline.key, outline.verdict, outline.case_hash)
    return trials


def totals(path: str) -> Totals:
    """Each trial counted once, by its last result."""
    tally, marks = Tally(), array("Q")
    for outline, _ in _result_rows(path):
        marks.append(_mark(outline.key))
        tally.add(outline.verdict, outline.answered, outline.cost_usd)
    for outline in _replaced(path, marks):
        tally.take_away(outline.verdict, outline.answered, outline.cost_usd)
    return tally.totals()


def _marks(path: str) -> array[int]:
    return array("Q", (_mark(outline.key) for outline, _ in _result_rows(path)))


def _mark(key: TrialKey) -> int:
    return hash(key) & 0xFFFF_FFFF_FFFF_FFFF


def _replaced(path: str, marks: array[int]) -> Iterator[Outline]:
    """The results that a later one of the same trial replaces.

    Most journals have none, and then eight bytes for each trial are enough to know. Only trials
    whose mark was seen twice are looked at by name.
    """
    ordered = sorted(marks)
    again = {mark for mark, after in pairwise(ordered) if mark == after}
    if not again:
        return
    last: dict[TrialKey, Outline] = {}
    for outline, _ in _result_rows(path):
        if _mark(outline.key) in again:
            if outline.key in last:
                yield last[outline.key]
            last[outline.key] = outline


def _result_rows(path: str) -> Iterator[tuple[Outline, dict[str, Any]]]:
    for line, row in read_rows(path):
        if row.get("type") == "result":
            try:
                outline = _outline(line, row)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise damaged(path, line, f"is no result: {error!r}") from error
            yield outline, row


def _outline(line: int, row: dict[str, Any]) -> Outline:
    key = TrialKey(row["suite"], row["case"], row["target"], row["repeat"])
    if [*map(type, key), type(row["case_hash"])] != _TYPES:
        raise TypeError("suite, case, target, repeat or case_hash has a wrong type")
    if row["verdict"] not in VERDICTS:
        raise ValueError(f"unknown verdict {row['verdict']!r:.60}")
    answer = row.get("answer")
    cost = None if answer is None else answer.get("cost_usd")
    if cost is not None and (type(cost) not in (int, float) or not abs(cost) < MOST_USD):
        raise ValueError("cost_usd is no amount of money")
    return Outline(line, key, row["verdict"], row["case_hash"], answer is not None, cost)
