"""Expected calls and those of an answer side by side, as data: a row has both, or one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from evalcase.graders.compare.call_match import Call, Match
from evalcase.types.value import JSON
from evalcase.util.text import arguments_text, as_json

_MOST = 100
_LONGEST = 1000

Row = dict[str, JSON]
"""`expected` and `got`, each a call or null; `made`, whether grading accepts it; a `note` on what
came of an expected call that is nowhere else; and `beyond`, the character of `got` after which
there are only arguments that nothing is expected of."""


def align_calls(
    expected: Sequence[Call],
    got: Sequence[Call],
    matches: Sequence[Match],
    *,
    allow_extra: bool = True,
) -> list[JSON]:
    """The rows, in the order of what is expected; calls that are extra stand where they came."""
    rows: list[JSON] = list(_make_rows(expected, got, matches, allow_extra))
    if len(rows) > _MOST:
        left_out = f"and {len(rows) - _MOST:,} more calls"
        return [*rows[:_MOST], {"expected": None, "got": None, "made": True, "note": left_out}]
    return rows


def _make_rows(
    expected: Sequence[Call], got: Sequence[Call], matches: Sequence[Match], allow_extra: bool
) -> Iterator[Row]:
    """Neither side is ever put into another order: where the calls that were made came in another
    one, the rows follow the answer."""
    made = [match.number for match in matches if match.is_made and match.number is not None]
    if made != sorted(made):
        yield from _rows_by_answer(expected, got, matches, allow_extra)
        return
    kept = _keep_in_order(matches)
    extra = iter([at for at in range(len(got)) if at not in kept.values()])
    following = next(extra, None)
    for number, (call, match) in enumerate(zip(expected, matches, strict=True)):
        at = kept.get(number)
        while at is not None and following is not None and following < at:
            yield _make_extra_row(got[following], allow_extra)
            following = next(extra, None)
        if at is not None:
            yield _make_paired_row(call, got[at], match.is_made)
        else:
            yield _make_lacking_row(call, got, match)
    while following is not None:
        yield _make_extra_row(got[following], allow_extra)
        following = next(extra, None)


def _rows_by_answer(
    expected: Sequence[Call], got: Sequence[Call], matches: Sequence[Match], allow_extra: bool
) -> Iterator[Row]:
    held = {match.number: number for number, match in enumerate(matches)}
    for at, call in enumerate(got):
        number = held.get(at)
        if number is None:
            yield _make_extra_row(call, allow_extra)
        else:
            yield _make_paired_row(expected[number], call, matches[number].is_made)
    for call, match in zip(expected, matches, strict=True):
        if match.number is None:
            yield _make_lacking_row(call, got, match)


def _keep_in_order(matches: Sequence[Match]) -> dict[int, int]:
    """What stands in one row: all that was made, and near misses that came between the same."""
    kept: dict[int, int] = {}
    bounds: list[float] = []
    bound = inf
    for match in reversed(matches):
        bounds.append(bound)
        bound = match.number if match.is_made and match.number is not None else bound
    last = -1
    for number, (match, bound) in enumerate(zip(matches, reversed(bounds), strict=True)):
        at = match.number
        if at is not None and (match.is_made or last < at < bound):
            kept[number] = last = at
    return kept


def _make_lacking_row(call: Call, got: Sequence[Call], match: Match) -> Row:
    return {
        "expected": _cut_text(call.whole()),
        "got": None,
        "made": False,
        "note": _write_note(got, match),
    }


def _write_note(got: Sequence[Call], match: Match) -> str:
    if match.elsewhere is not None:
        return f"made out of order, as call {match.elsewhere + 1}"
    if match.number is not None:
        return f"made otherwise, as call {match.number + 1}"
    return "not made" if got else "no tool calls"


def _make_extra_row(call: Call, is_allowed: bool) -> Row:
    row: Row = {"expected": None, "got": _cut_text(call.whole()), "made": is_allowed}
    return row if is_allowed else {**row, "note": "not expected"}


def _make_paired_row(expected: Call, got: Call, is_made: bool) -> Row:
    row: Row = {
        "expected": _cut_text(expected.whole()),
        "got": _cut_text(got.whole()),
        "made": is_made,
    }
    if isinstance(expected.arguments, dict) and isinstance(got.arguments, dict):
        # What is expected comes first and in its order, so that the two can be read together.
        named = {key: got.arguments[key] for key in expected.arguments if key in got.arguments}
        others = {key: value for key, value in got.arguments.items() if key not in named}
        if others and all(key.isidentifier() for key in got.arguments):
            begin = f"{got.name}({arguments_text(named)}"
            rest = ", ".join(f"{key}={as_json(value)}" for key, value in others.items())
            row["got"] = _cut_text(f"{begin}{', ' if named else ''}{rest})")
            row["beyond"] = len(begin)
    return row


def _cut_text(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
