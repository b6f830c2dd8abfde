"""A comparison in, a screen out that one would paste into a pull request: first a sentence, then
what else differs, then the cases, then numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalcase.report.findings import (
    choose_parts,
    find_power,
    list_parts,
    say_counts,
    say_folded,
    say_power,
    say_result,
    say_test,
)
from evalcase.report.gates import Compared, Gated, GateFinding
from evalcase.report.paired_cases import ChangedPair, ChangeKind, TrackFigures
from evalcase.report.terminal.cells import cut_text, wrap_text
from evalcase.report.terminal.changed_cases import (
    changed_lines,
    fold_alike,
    name_cases,
    say_verdicts,
)
from evalcase.report.terminal.columns import align_columns
from evalcase.report.terminal.comparison_tables import amount_rows, measure_rows, part_rows
from evalcase.report.terminal.failures import INDENT
from evalcase.report.terminal.style import Style, paint_text
from evalcase.util.text import list_some, make_visible

_LABEL = 9
_NAMES: tuple[ChangeKind, ...] = ("broken", "fixed", "changed", "added", "removed", "skipped")


def comparison_lines(compared: Compared, width: int, style: Style) -> Iterator[str]:
    """All of it."""
    comparison = compared.comparison
    colour = _choose_colour(compared.gated, style)
    for sentence in say_result(comparison, compared.gated):
        yield from (paint_text(row, colour) for row in wrap_text(make_visible(sentence), width))
    yield ""
    yield from _label_lines(
        "run" if comparison.is_within else "base", comparison.base.label, width, style
    )
    if not comparison.is_within:
        yield from _label_lines("head", comparison.head.label, width, style)
    for number, remark in enumerate(comparison.remarks):
        yield from _label_lines("" if number else "note", remark, width, style, style.warning)
    if comparison.alone:
        names = ", ".join(f"`{name}`" for name in comparison.alone)
        label = "" if comparison.remarks else "note"
        yield from _label_lines(label, f"not compared: {names}", width, style, style.warning)
    for track in comparison.tracks:
        yield ""
        yield from _track_lines(track, compared, width, style)
    yield from _gate_lines(compared.judged, width, style)


def _choose_colour(gated: Sequence[Gated], style: Style) -> str:
    if any(each.is_distinct and each.value < 0 for each in gated):
        return style.error
    distinct = [each for each in gated if each.is_distinct]
    return style.good if distinct else style.place


def _track_lines(
    track: TrackFigures, compared: Compared, width: int, style: Style
) -> Iterator[str]:
    several = len(compared.comparison.tracks) > 1 or track.base_target != track.head_target
    if several:
        base, head = (" (base)", " (head)") if compared.comparison.is_within else ("", "")
        title = f"{track.base_target}{base} → {track.head_target}{head}"
        yield paint_text(cut_text(make_visible(title), width), style.place)
    yield from wrap_text(say_counts(track, compared.comparison.unselected), width)
    yield from _case_lines(track, compared, width, style)
    if track.pairs:
        yield from _figure_lines(track, compared, width, style)


def _figure_lines(
    track: TrackFigures, compared: Compared, width: int, style: Style
) -> Iterator[str]:
    yield ""
    tested = {each.grader: each.measured for each in compared.gated if each.track is track}
    yield from align_columns(measure_rows(track, tested), width, style)
    if rows := amount_rows(track.amounts):
        yield ""
        yield from align_columns(rows, width, style)
    if track.is_same:
        return  # there is nothing to explore, and nothing that p could be of
    for noun, parts in list_parts(track):
        if chosen := choose_parts(parts):
            yield ""
            yield from align_columns(part_rows(f"by {noun}", chosen), width, style)
    yield ""
    yield from wrap_text(say_test(compared.gated), width)
    yield from wrap_text(_say_power(compared, track), width)
    if folded := say_folded(track):
        yield from wrap_text(folded, width)


def _say_power(compared: Compared, track: TrackFigures) -> str:
    """What could have been seen, for the first that is tested."""
    measured = next(each.measured for each in compared.gated if each.track is track)
    power = find_power(measured, compared.effect, len(compared.gated))
    return "The change can't be estimated." if power is None else say_power(power)


def _case_lines(track: TrackFigures, compared: Compared, width: int, style: Style) -> Iterator[str]:
    sides = compared.comparison.base, compared.comparison.head
    rest: list[tuple[ChangeKind, list[str], int]] = []
    for kind in _NAMES:
        if kind in compared.comparison.unselected:
            continue  # who left them out knows their names
        pairs, count = track.listed[kind], track.counts[kind]
        limit, told = compared.limit if kind in compared.shown else 0, 0
        for pair, alike in fold_alike(pairs, sides[1], limit):
            told += 1 + len(alike)
            yield ""
            yield from changed_lines(kind, pair, sides, width, style)
            yield from _alike_lines(pair, alike, width, style)
        names = name_cases(pairs[told:])
        if kind == "changed":
            names = [
                f"{name}{_say_turned(pair)}" for name, pair in zip(names, pairs[told:], strict=True)
            ]
        rest.append((kind, names, count - told))
    if any(count for _, names, count in rest if names):
        yield ""
    for kind, names, count in rest:
        if names:
            yield from _label_lines(kind, _list_fitting(names, count, width), width, style)


def _say_turned(pair: ChangedPair) -> str:
    """What the verdict of a case became, where it is not the same."""
    return f" ({say_verdicts(pair)})" if pair.base_verdict != pair.head_verdict else ""


def _alike_lines(
    pair: ChangedPair, alike: Sequence[ChangedPair], width: int, style: Style
) -> Iterator[str]:
    if alike:
        names = _list_fitting(name_cases(alike, [pair]), len(alike), width)
        for row in wrap_text(make_visible(f"the same for {names}"), max(10, width - INDENT)):
            yield paint_text(" " * INDENT + row, style.gutter)


def _list_fitting(names: Sequence[str], count: int, width: int) -> str:
    """As many names as fit into two lines, and how many there are beside."""
    room, shown = 2 * (width - _LABEL) - len(" and 1,000,000 more"), list[str]()
    for name in (cut_text(make_visible(each), 40) for each in names):
        room -= len(name) + 2
        if shown and room < 0:
            break
        shown.append(name)
    return list_some(shown, count)


def _gate_lines(judged: Sequence[GateFinding], width: int, style: Style) -> Iterator[str]:
    if judged:
        yield ""
    doubted = any(not each.gate for each in judged)
    for each in judged:
        said = each.say(doubted=doubted)
        colour = style.error if each.code else "" if doubted else style.good
        colour = style.warning if each.partial and not doubted else colour
        yield from _label_lines("gate", said, width, style, colour)


def _label_lines(
    label: str, text: str, width: int, style: Style, colour: str = ""
) -> Iterator[str]:
    lead = paint_text(f"{label:<{_LABEL}}", style.gutter)
    for row in wrap_text(make_visible(text), max(10, width - _LABEL)):
        yield (lead + paint_text(row, colour)).rstrip()
        lead = " " * _LABEL
