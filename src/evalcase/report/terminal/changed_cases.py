"""A case that has changed in, lines for people out: what was asked, both answers side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from evalcase.report.paired_cases import ChangedPair, ChangeKind, Side
from evalcase.report.terminal.cells import cut_text, measure_text
from evalcase.report.terminal.failures import INDENT, UNFINISHED, reason_lines, reason_of
from evalcase.report.terminal.pairs import pair_texts
from evalcase.report.terminal.said import asked_in, label_text, said_in
from evalcase.report.terminal.side_by_side import compare_lines
from evalcase.report.terminal.style import Style, paint_text
from evalcase.types.answer import Answer
from evalcase.types.question import TrialKey
from evalcase.types.result import Result
from evalcase.util.text import make_visible

_INPUT_ROWS = 2
_SIDE_ROWS = 10
_MOST_FOLDED = 100
"""Cases that are looked at for errors that are the same."""
_NOTHING = "(no answer)"


def changed_lines(
    kind: ChangeKind, pair: ChangedPair, sides: tuple[Side, Side], width: int, style: Style
) -> Iterator[str]:
    """All of one case."""
    base = _find_trial(sides[0], pair.base)
    head = _find_trial(sides[1], pair.head)
    yield from _name_lines(kind, pair, width, style)
    room = max(20, width - INDENT)
    for line in _detail_lines(pair, sides, base, head, room, style):
        yield (" " * INDENT + line).rstrip()


def _find_trial(side: Side, key: TrialKey | None) -> Result | None:
    return side.kept.find_result(key) if key is not None else None


def say_verdicts(pair: ChangedPair) -> str:
    """What a case was, and what it is."""
    both = (pair.base, pair.base_verdict), (pair.head, pair.head_verdict)
    return " → ".join(verdict or UNFINISHED for key, verdict in both if key is not None)


def _name_lines(kind: ChangeKind, pair: ChangedPair, width: int, style: Style) -> Iterator[str]:
    word = paint_text(kind, {"broken": style.error, "fixed": style.good}.get(kind, style.warning))
    suite, case = make_visible(pair.name.suite), make_visible(pair.name.case)
    verdicts = say_verdicts(pair)
    room = width - len(kind) - 1
    if measure_text(f"{suite}: {case} ({verdicts})") <= room:
        place = paint_text(f"{suite}: ", style.gutter)
        yield f"{word} {place}{paint_text(case, style.place)} ({verdicts})"
        return
    yield f"{word} {paint_text(cut_text(case, room), style.place)}"
    yield paint_text(" " * INDENT + cut_text(f"{suite} ({verdicts})", width - INDENT), style.gutter)


def _detail_lines(
    pair: ChangedPair, sides: tuple[Side, Side], base: Result | None, head: Result | None,
    width: int, style: Style,
) -> Iterator[str]:  # fmt: skip
    side, key = (sides[1], pair.head) if pair.head is not None else (sides[0], pair.base)
    case = side.kept.find_case(key.suite, key.case) if key is not None else None
    if case is not None:
        yield from label_text(*asked_in(case), width, style, _INPUT_ROWS)
    if head is not None and head.verdict != "passed":
        yield from reason_lines(reason_of(head), width, 2)
    texts = [said_by(result) for result in (base, head)]
    is_same = texts[0] == texts[1]
    if head is not None and head.answer is None and head.failure is not None:
        texts[1] = f"({head.verdict})"  # why it is so stands above
        texts[0] = texts[1] if is_same else texts[0]
    if is_same:
        yield from label_text("both", texts[0], width, style, _SIDE_ROWS)
        return
    pairs = list(pair_texts(texts[0], texts[1]))
    yield from compare_lines(pairs, width, style, _SIDE_ROWS, ("base", "head"))


def fold_alike(
    pairs: Sequence[ChangedPair], head: Side, limit: int
) -> Iterator[tuple[ChangedPair, list[ChangedPair]]]:
    """The first pairs, so many at most, each with those after it that errored for the same reason:
    a key that is missing is told once."""
    groups: list[tuple[ChangedPair, list[ChangedPair]]] = []
    known: dict[str, list[ChangedPair]] = {}
    for pair in pairs[: max(limit, _MOST_FOLDED) if limit else 0]:
        why = _why_errored(pair, head)
        if why and why in known:
            known[why].append(pair)
            continue
        if len(groups) == limit:
            break
        groups.append((pair, []))
        if why:
            known[why] = groups[-1][1]
    return iter(groups)


def _why_errored(pair: ChangedPair, head: Side) -> str:
    result = _find_trial(head, pair.head) if pair.head_verdict == "errored" else None
    return reason_of(result) if result is not None else ""


def name_cases(pairs: Sequence[ChangedPair], beside: Sequence[ChangedPair] = ()) -> list[str]:
    """The ids of cases; those that several suites have, with their suite. Others are named
    `beside` them."""
    ids = Counter(pair.name.case for pair in (*pairs, *beside))
    return [
        f"{pair.name.suite}: {pair.name.case}" if ids[pair.name.case] > 1 else pair.name.case
        for pair in pairs
    ]


def said_by(result: Result | None) -> str:
    """What an answer says, its tool calls below its text; or why there is none."""
    if result is None:
        return _NOTHING
    if result.answer is None:
        return f"({result.verdict}: {result.failure.message})" if result.failure else _NOTHING
    return _write_said(result.answer)


def _write_said(answer: Answer) -> str:
    said = said_in(answer.messages, answer.last_at)
    more = [f"… {said.more:,} more calls"] if said.more else []
    return "\n".join([*said.words, *said.calls, *more])
