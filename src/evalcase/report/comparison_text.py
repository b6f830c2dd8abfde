"""A comparison for people: a sentence first, then what else differs, changed cases, and figures.
The terminal, Markdown and the page have the same sentences and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from evalcase.report.compare import ChangedPair, Comparison, TrackFigures
from evalcase.report.details import UNFINISHED, asked_in, reason_of, said_by
from evalcase.report.diff import pair_texts
from evalcase.report.differences import Amount, Measured, SideAmount, say_ratio, say_seconds
from evalcase.report.figures import write_money, write_percent
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
from evalcase.report.gates import Compared
from evalcase.report.paired_cases import NAMED_KINDS, ChangeKind, Side
from evalcase.report.terminal import INDENT, Block, Labelled, Note, Screen, Sides, cut
from evalcase.util.text import code_block, code_span, list_some, make_visible, write_table

Rows = list[list[str]]
_COLUMN = 9
_INPUT_ROWS = 2
_SIDE_ROWS = 10
_MOST_FOLDED = 100
"""Cases that are searched for equal errors."""
_MOST_PARTS = 12
_STYLES = {"broken": "error", "fixed": "good"}


# What is the same everywhere.


def list_sides(comparison: Comparison) -> list[tuple[str, str, str]]:
    """`base` and `head`, or `run` where there is only one: the word, the label, and the name and
    commit of the run."""
    base, head = comparison.base, comparison.head
    if comparison.is_within:
        return [("run", head.label, head.description)]
    return [("base", base.label, base.description), ("head", head.label, head.description)]


def list_remarks(comparison: Comparison) -> list[str]:
    remarks = list(comparison.remarks)
    if comparison.alone:
        remarks.append(f"not compared: {', '.join(f'`{name}`' for name in comparison.alone)}")
    return remarks


def has_title(track: TrackFigures, comparison: Comparison) -> bool:
    """Whether it has to be said which targets are compared."""
    return len(comparison.tracks) > 1 or track.base_target != track.head_target


def track_tables(
    track: TrackFigures, compared: Compared, quote: Callable[[str], str] = str
) -> Iterator[Rows]:
    """The figures of a target. `quote` writes the names of graders and tags."""
    if not track.pairs:
        return
    yield _measure_rows(track, _tested_at(track, compared), quote)
    if rows := _amount_rows(track.amounts):
        yield rows
    if not track.is_same:  # else there is nothing to explore
        for noun, parts in list_parts(track):
            if chosen := choose_parts(parts):
                yield _part_rows(f"by {noun}", chosen, quote)


def closing_words(track: TrackFigures, compared: Compared) -> Iterator[str]:
    """Which test p is of, what the cases could detect, and which parts are not shown."""
    if not track.pairs or track.is_same:
        return
    measured = next(iter(_tested_at(track, compared).values()))
    power = find_power(measured, compared.effect, len(compared.gated))
    yield say_test(compared.gated)
    yield "The change can't be estimated." if power is None else say_power(power)
    if folded := say_folded(track):
        yield folded


def _tested_at(track: TrackFigures, compared: Compared) -> dict[str | None, Measured]:
    """What is tested of a target, by grader; None is all graders."""
    return {
        each.grader: each.measured
        for each in compared.gated
        if each.track.head_target == track.head_target
    }


def _measure_rows(
    track: TrackFigures, tested: Mapping[str | None, Measured], quote: Callable[[str], str]
) -> Rows:
    """Pass rates and scores of base and head, their difference, and p of what is tested."""
    main = tested.get(None)
    name = None if main is None else main.name
    rows = [["", "base", "head", "change", "95% interval", "p"]]
    rows += [_make_row(quote(each), tested[each], p=True) for each in tested if each is not None]
    shown = [("pass rate", "passed", track.passed)]
    if track.base_errored + track.head_errored and track.without_errors.pairs:
        shown.append(("without errors", "", track.without_errors))
    if track.trials is not None:
        shown.append(("trials passed", "trials", track.trials))
    score, other = track.score, track.trials or track.passed
    if name == "score" or (score.pairs and (score.base, score.head) != (other.base, other.head)):
        shown.append(("score", "score", score))
    for title, kind, measured in shown:
        is_main = main is not None and kind == name
        rows.append(
            _make_row(title, main if main and is_main else measured, p=is_main,
                      share=kind != "score")
        )  # fmt: skip
    return rows


def _part_rows(title: str, parts: Sequence[Measured], quote: Callable[[str], str]) -> Rows:
    """Pass rates by grader or tag. Nothing is tested: of twenty parts one differs by chance."""
    shown = sorted(parts, key=lambda part: -part.pairs)[:_MOST_PARTS]
    rows = [[f"{title} (exploratory)", "cases", "base", "head", "change", "95% interval"]]
    for part in shown:
        name, *rest = _make_row(quote(part.name), part)
        rows.append([name, f"{part.pairs:,}", *rest[:-1]])
    if more := len(parts) - len(shown):
        rows.append([f"and {more:,} more", "", "", "", "", ""])
    return rows


def _make_row(name: str, measured: Measured, *, p: bool = False, share: bool = True) -> list[str]:
    base, head, change = measured.base, measured.head, measured.change
    if base is None or head is None:
        return [name, "–", "–", "–", "–", ""]

    def write_change(value: float) -> str:
        return f"{100 * value:+.1f}" if share else f"{value:+.3f}"

    sides = [write_percent(each) if share else f"{each:.3f}" for each in (base, head)]
    interval = f"{write_change(change.low)} to {write_change(change.high)}" if change else "–"
    shown_p = measured.p if measured.adjusted is None else measured.adjusted
    said_p = f"{shown_p:.3f}" if shown_p >= 0.001 else "<0.001"
    return [name, *sides, write_change(head - base), interval, said_p if p else ""]


def _amount_rows(amounts: Sequence[Amount]) -> Rows:
    """Latency, tokens and cost: two rows for each that is known, base above head."""
    rows = [["", "", "median", "p95", "total", "head ÷ base"]]
    for amount in amounts:
        base, head = amount.base, amount.head
        if base is None or head is None or not (base.total or head.total) or amount.is_short:
            continue
        counts = (amount.unknown, "unknown"), (amount.zeros, "zero")
        left_out = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        left_out = f"{left_out}, left out" if left_out else ""
        rows.append([amount.name, "base", *_write_amounts(base, amount.name), left_out])
        rows.append(["", "head", *_write_amounts(head, amount.name), say_ratio(amount)])
    return rows if len(rows) > 1 else []


def _write_amounts(spread: SideAmount, name: str) -> list[str]:
    writers: dict[str, Callable[[float], str]] = {"latency": say_seconds, "cost": write_money}
    write = writers.get(name, "{:,.0f}".format)
    return [write(spread.median), write(spread.p95), write(spread.total)]


def _say_verdicts(pair: ChangedPair) -> str:
    both = (pair.base, pair.base_verdict), (pair.head, pair.head_verdict)
    return " → ".join(verdict or UNFINISHED for key, verdict in both if key is not None)


def _name_cases(pairs: Sequence[ChangedPair], beside: Sequence[ChangedPair] = ()) -> list[str]:
    """The ids of cases; ids that several suites have, also `beside` them, with their suite."""
    ids = Counter(pair.name.case for pair in (*pairs, *beside))
    return [
        f"{pair.name.suite}: {pair.name.case}" if ids[pair.name.case] > 1 else pair.name.case
        for pair in pairs
    ]


# The terminal.


def comparison_lines(compared: Compared, screen: Screen) -> Iterator[str]:
    comparison = compared.comparison
    distinct = [each for each in compared.gated if each.is_distinct]
    style = "good" if distinct else "place"
    style = "error" if any(each.value < 0 for each in distinct) else style
    for sentence in say_result(comparison, compared.gated):
        yield from (screen.paint(row, style) for row in screen.wrap(make_visible(sentence)))
    yield ""
    for word, label, description in list_sides(comparison):
        yield from _label_lines(word, f"{label} ({description})" if description else label, screen)
    for number, remark in enumerate(list_remarks(comparison)):
        yield from _label_lines("" if number else "note", remark, screen, "warning")
    for track in comparison.tracks:
        yield ""
        yield from _track_lines(track, compared, screen)
    if compared.judged:
        yield ""
    doubted = any(not each.gate for each in compared.judged)
    for each in compared.judged:
        style = "error" if each.code else "" if doubted else "good"
        style = "warning" if each.partial and not doubted else style
        yield from _label_lines("gate", each.say(doubted=doubted), screen, style)


def _label_lines(label: str, text: str, screen: Screen, style: str = "") -> Iterator[str]:
    return screen.label(label, make_visible(text), column=_COLUMN, style=style)


def _track_lines(track: TrackFigures, compared: Compared, screen: Screen) -> Iterator[str]:
    comparison = compared.comparison
    if has_title(track, comparison):
        base, head = (" (base)", " (head)") if comparison.is_within else ("", "")
        title = f"{track.base_target}{base} → {track.head_target}{head}"
        yield screen.paint(cut(title, screen.width), "place")
    yield from screen.wrap(say_counts(track, comparison.unselected))
    yield from _case_lines(track, compared, screen)
    for rows in track_tables(track, compared):
        yield ""
        yield from screen.table(rows)
    for number, text in enumerate(closing_words(track, compared)):
        if not number:
            yield ""
        yield from screen.wrap(text)


def _case_lines(track: TrackFigures, compared: Compared, screen: Screen) -> Iterator[str]:
    comparison = compared.comparison
    rest: list[tuple[str, str]] = []
    for kind in NAMED_KINDS:
        if kind in comparison.unselected:
            continue
        pairs, count = track.listed[kind], track.counts[kind]
        limit, told = compared.limit if kind in compared.shown else 0, 0
        for pair, alike in _fold_alike(pairs, comparison.head, limit):
            told += 1 + len(alike)
            yield ""
            yield from _changed_lines(kind, pair, comparison, screen)
            if alike:
                names = _list_fitting(_name_cases(alike, [pair]), len(alike), screen.width)
                for row in screen.wrap(f"the same for {names}", max(10, screen.width - INDENT)):
                    yield screen.paint(f"{'':{INDENT}}{row}", "dim")
        left = _name_cases(pairs[told:])
        if kind == "changed":
            left = [
                f"{name} ({_say_verdicts(pair)})"
                if pair.base_verdict != pair.head_verdict
                else name
                for name, pair in zip(left, pairs[told:], strict=True)
            ]
        if left:
            rest.append((kind, _list_fitting(left, count - told, screen.width)))
    if rest:
        yield ""
    for kind_word, names in rest:
        yield from _label_lines(kind_word, names, screen)


def _changed_lines(
    kind: ChangeKind, pair: ChangedPair, comparison: Comparison, screen: Screen
) -> Iterator[str]:
    """One case: what was asked, and both answers side by side."""
    suite, case = make_visible(pair.name.suite), make_visible(pair.name.case)
    word, verdicts = screen.paint(kind, _STYLES.get(kind, "warning")), _say_verdicts(pair)
    room = screen.width - len(kind) - 1
    if len(f"{suite}: {case} ({verdicts})") <= room:
        named = f"{screen.paint(f'{suite}: ', 'dim')}{screen.paint(case, 'place')}"
        yield f"{word} {named} ({verdicts})"
    else:
        yield f"{word} {screen.paint(cut(case, room), 'place')}"
        below = cut(f"{suite} ({verdicts})", screen.width - INDENT)
        yield screen.paint(f"{'':{INDENT}}{below}", "dim")
    for line in screen.narrower(INDENT).blocks(_changed_blocks(pair, comparison)):
        yield f"{'':{INDENT}}{line}".rstrip()


def _changed_blocks(pair: ChangedPair, comparison: Comparison) -> Iterator[Block]:
    base = comparison.base.find_trial(pair.base)
    head = comparison.head.find_trial(pair.head)
    if (trial := head or base) is not None:
        side = comparison.base if head is None else comparison.head
        if (case := side.stored.find_case(*trial.key[:2])) is not None:
            yield Labelled(*asked_in(case), _INPUT_ROWS)
    if head is not None and head.verdict != "passed" and (why := reason_of(head)):
        yield Note(why, 2)
    texts = [said_by(result) for result in (base, head)]
    is_same = texts[0] == texts[1]
    if head is not None and head.answer is None and head.failure is not None:
        texts[1] = f"({head.verdict})"  # the reason stands above
        texts[0] = texts[1] if is_same else texts[0]
    if is_same:
        yield Labelled("both", texts[0], _SIDE_ROWS)
    else:
        yield Sides(list(pair_texts(texts[0], texts[1])), ("base", "head"), _SIDE_ROWS)


def _fold_alike(
    pairs: Sequence[ChangedPair], head: Side, limit: int
) -> list[tuple[ChangedPair, list[ChangedPair]]]:
    """The first pairs, each with those after it that errored for the same reason."""
    groups: list[tuple[ChangedPair, list[ChangedPair]]] = []
    known: dict[str, list[ChangedPair]] = {}
    for pair in pairs[: max(limit, _MOST_FOLDED) if limit else 0]:
        result = head.find_trial(pair.head) if pair.head_verdict == "errored" else None
        why = reason_of(result) if result is not None else ""
        if why and why in known:
            known[why].append(pair)
            continue
        if len(groups) == limit:
            break
        groups.append((pair, []))
        if why:
            known[why] = groups[-1][1]
    return groups


def _list_fitting(names: Sequence[str], count: int, width: int) -> str:
    """As many names as fit into two lines, and how many more there are."""
    room, shown = 2 * (width - _COLUMN) - len(" and 1,000,000 more"), list[str]()
    for name in (cut(each, 40) for each in names):
        room -= len(name) + 2
        if shown and room < 0:
            break
        shown.append(name)
    return list_some(shown, count)


# Markdown. Text of models and suites is code in it, so that it can't add links or mention people.

_MOST_SHOWN = 50_000
"""Characters of cases that are shown: a comment on GitHub holds 65,536."""
_MOST_NAMED = 20


def markdown_lines(compared: Compared) -> Iterator[str]:
    comparison = compared.comparison
    for sentence in say_result(comparison, compared.gated, code_span):
        yield from (f"**{sentence}**", "")
    yield ", ".join(
        f"{word} {code_span(label)}{f' ({code_span(description)})' if description else ''}"
        for word, label, description in list_sides(comparison)
    )
    yield ""
    if remarks := list_remarks(comparison):
        yield from ("What differs beside the answers:", "", *code_block(remarks), "")
    for track in comparison.tracks:
        if has_title(track, comparison):
            yield f"### {code_span(track.base_target)} → {code_span(track.head_target)}"
            yield ""
        yield from (say_counts(track, comparison.unselected), "")
        yield from _write_cases(track, compared)
        for rows in track_tables(track, compared, code_span):
            yield from (*write_table(rows), "")
        for text in closing_words(track, compared):
            yield from (text, "")
    doubted = any(not each.gate for each in compared.judged)
    for each in compared.judged:
        yield f"- gate {code_span(each.say(doubted=doubted))}"


def _write_cases(track: TrackFigures, compared: Compared) -> Iterator[str]:
    left = _MOST_SHOWN
    for kind in NAMED_KINDS:
        pairs, count = track.listed[kind], track.counts[kind]
        if not pairs or kind in compared.comparison.unselected:
            continue
        yield from (f"<details><summary>{count:,} {kind}</summary>", "")
        shown = 0
        for pair in pairs[: compared.limit] if kind in compared.shown else ():
            lines = list(_write_changed(pair, compared.comparison))
            left -= sum(map(len, lines))
            if left < 0:
                break
            shown += 1
            yield from lines
        if count > shown:
            names = [code_span(name[:100]) for name in _name_cases(pairs[shown:])[:_MOST_NAMED]]
            yield from (list_some(names, count - shown), "")
        yield from ("</details>", "")


def _write_changed(pair: ChangedPair, comparison: Comparison) -> Iterator[str]:
    yield f"{code_span(f'{pair.name.suite}: {pair.name.case}')} {_say_verdicts(pair)}"
    yield ""
    base = said_by(comparison.base.find_trial(pair.base))
    head = said_by(comparison.head.find_trial(pair.head))
    yield from (*code_block(_write_diff(base, head), "diff"), "")


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
