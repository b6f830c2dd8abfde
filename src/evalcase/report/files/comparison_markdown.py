"""A comparison in, Markdown out for a pull request. Whatever a model or a suite says is code in it:
it can't link, mention, or end what it stands in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalcase.report.compare.compared import Compared
from evalcase.report.compare.parts import choose_parts, list_parts, say_folded
from evalcase.report.compare.power import find_power
from evalcase.report.compare.sentence import say_counts, say_power, say_result, say_test
from evalcase.report.compare.side import Side
from evalcase.report.compare.track import ChangedPair, ChangeKind, TrackFigures
from evalcase.report.terminal.changed_cases import name_cases, said_by, say_verdicts
from evalcase.report.terminal.comparison_tables import amount_rows, measure_rows, part_rows
from evalcase.report.terminal.pairs import pair_texts
from evalcase.util.text import code_block, code_span, list_some, write_table

_LONGEST = 50_000
"""Characters of cases that are shown: a comment on GitHub holds 65,536."""
_MOST_NAMES = 20
_KINDS: tuple[ChangeKind, ...] = ("broken", "fixed", "changed", "added", "removed", "skipped")


def markdown_lines(compared: Compared) -> Iterator[str]:
    """All of it, a line at a time."""
    comparison = compared.comparison
    for sentence in say_result(comparison, compared.gated, code_span):
        yield f"**{sentence}**"
        yield ""
    base, head = code_span(comparison.base.label), code_span(comparison.head.label)
    yield f"run {base}" if comparison.is_within else f"base {base}, head {head}"
    yield ""
    yield from _write_remarks(compared)
    for track in comparison.tracks:
        yield from _track_lines(track, compared)
    yield from _gate_lines(compared)


def _write_remarks(compared: Compared) -> Iterator[str]:
    comparison = compared.comparison
    remarks = list(comparison.remarks)
    if comparison.alone:
        remarks.append(f"not compared: {', '.join(comparison.alone)}")
    if remarks:
        yield "What differs beside the answers:"
        yield ""
        yield from code_block(remarks)
        yield ""


def _track_lines(track: TrackFigures, compared: Compared) -> Iterator[str]:
    if len(compared.comparison.tracks) > 1 or track.base_target != track.head_target:
        yield f"### {code_span(track.base_target)} → {code_span(track.head_target)}"
        yield ""
    yield say_counts(track, compared.comparison.unselected)
    yield ""
    yield from _write_cases(track, compared)
    if track.pairs:
        yield from _write_tables(track, compared)


def _write_tables(track: TrackFigures, compared: Compared) -> Iterator[str]:
    tested = {each.grader: each.measured for each in compared.gated if each.track is track}
    yield from write_table(measure_rows(track, tested, code_span))
    yield ""
    if rows := amount_rows(track.amounts):
        yield from write_table(rows)
        yield ""
    if track.is_same:
        return
    for noun, parts in list_parts(track):
        if chosen := choose_parts(parts):
            head, *rest = part_rows(f"by {noun}", chosen)
            yield from write_table([head, *([code_span(name), *row] for name, *row in rest)])
            yield ""
    power = find_power(next(iter(tested.values())), compared.effect, len(compared.gated))
    yield say_test(compared.gated)
    yield ""
    yield "The change can't be estimated." if power is None else say_power(power)
    yield ""
    if folded := say_folded(track):
        yield folded
        yield ""


def _write_cases(track: TrackFigures, compared: Compared) -> Iterator[str]:
    sides = compared.comparison.base, compared.comparison.head
    left = _LONGEST
    for kind in _KINDS:
        pairs, count = track.listed[kind], track.counts[kind]
        if not pairs or kind in compared.comparison.unselected:
            continue
        yield f"<details><summary>{count:,} {kind}</summary>"
        yield ""
        shown = 0
        for pair in pairs[: compared.limit] if kind in compared.shown else ():
            lines = list(_write_case(pair, sides))
            left -= sum(map(len, lines))
            if left < 0:
                break
            shown += 1
            yield from lines
        yield from _write_names(pairs[shown:], count - shown)
        yield "</details>"
        yield ""


def _write_case(pair: ChangedPair, sides: tuple[Side, Side]) -> Iterator[str]:
    yield f"{code_span(f'{pair.name.suite}: {pair.name.case}')} {say_verdicts(pair)}"
    yield ""
    keys = pair.base, pair.head
    found = [
        said_by(side.kept.find_result(key) if key is not None else None)
        for side, key in zip(sides, keys, strict=True)
    ]
    yield from code_block(_write_diff(*found), "diff")
    yield ""


def _write_diff(base: str, head: str) -> Iterator[str]:
    """Both texts, line by line: what only base says, what only head says, and what both do."""
    if base == head:
        yield from (f"  {line}" for line in base.split("\n"))
        return
    for left, right in pair_texts(base, head):
        if left is not None and right is not None and left.text == right.text:
            yield f"  {left.text}"
            continue
        if left is not None:
            yield f"- {left.text}"
        if right is not None:
            yield f"+ {right.text}"


def _write_names(pairs: Sequence[ChangedPair], count: int) -> Iterator[str]:
    if not count:
        return
    names = [code_span(name[:100]) for name in name_cases(pairs)[:_MOST_NAMES]]
    yield list_some(names, count)
    yield ""


def _gate_lines(compared: Compared) -> Iterator[str]:
    doubted = any(not each.gate for each in compared.judged)
    for each in compared.judged:
        yield f"- gate {code_span(each.say(doubted=doubted))}"
