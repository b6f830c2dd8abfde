"""A comparison as text: a sentence first, then what else differs, changed cases, and numbers.

The rows of its tables also serve Markdown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

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
from evalcase.report.paired_cases import ChangedPair, ChangeKind, Side, TrackFigures
from evalcase.report.terminal import INDENT, Block, Labelled, Note, Screen, Sides, cut
from evalcase.types.question import TrialKey
from evalcase.types.result import Result
from evalcase.util.text import list_some, make_visible

NAMED_KINDS: tuple[ChangeKind, ...] = (
    "broken", "fixed", "changed", "added", "removed", "skipped"
)  # fmt: skip
Rows = list[list[str]]
_COLUMN = 9
_INPUT_ROWS = 2
_SIDE_ROWS = 10
_MOST_FOLDED = 100
"""Cases that are searched for equal errors."""
_MOST_PARTS = 12
_STYLES = {"broken": "error", "fixed": "good"}


def comparison_lines(compared: Compared, screen: Screen) -> Iterator[str]:
    comparison, gated = compared.comparison, compared.gated
    distinct = [each for each in gated if each.is_distinct]
    style = "good" if distinct else "place"
    style = "error" if any(each.value < 0 for each in distinct) else style
    for sentence in say_result(comparison, gated):
        yield from (screen.paint(row, style) for row in screen.wrap(make_visible(sentence)))
    yield ""
    facts = [("run" if comparison.is_within else "base", comparison.base.label, "")]
    if not comparison.is_within:
        facts.append(("head", comparison.head.label, ""))
    remarks = list(comparison.remarks)
    if comparison.alone:
        remarks.append(f"not compared: {', '.join(f'`{name}`' for name in comparison.alone)}")
    facts += [("" if number else "note", text, "warning") for number, text in enumerate(remarks)]
    yield from _label_lines(facts, screen)
    for track in comparison.tracks:
        yield ""
        yield from _track_lines(track, compared, screen)
    if compared.judged:
        yield ""
    doubted = any(not each.gate for each in compared.judged)
    for each in compared.judged:
        style = "error" if each.code else "" if doubted else "good"
        style = "warning" if each.partial and not doubted else style
        yield from _label_lines([("gate", each.say(doubted=doubted), style)], screen)


def _label_lines(facts: Sequence[tuple[str, str, str]], screen: Screen) -> Iterator[str]:
    for label, text, style in facts:
        yield from screen.label(label, make_visible(text), column=_COLUMN, style=style)


def _track_lines(track: TrackFigures, compared: Compared, screen: Screen) -> Iterator[str]:
    comparison = compared.comparison
    if len(comparison.tracks) > 1 or track.base_target != track.head_target:
        base, head = (" (base)", " (head)") if comparison.is_within else ("", "")
        title = f"{track.base_target}{base} → {track.head_target}{head}"
        yield screen.paint(cut(title, screen.width), "place")
    yield from screen.wrap(say_counts(track, comparison.unselected))
    yield from _case_lines(track, compared, screen)
    if not track.pairs:
        return
    yield ""
    tested = {each.grader: each.measured for each in compared.gated if each.track is track}
    yield from screen.table(measure_rows(track, tested))
    if rows := amount_rows(track.amounts):
        yield ""
        yield from screen.table(rows)
    if track.is_same:
        return  # there is nothing to explore or to test
    for noun, parts in list_parts(track):
        if chosen := choose_parts(parts):
            yield ""
            yield from screen.table(part_rows(f"by {noun}", chosen))
    yield ""
    for text in closing_words(track, compared):
        yield from screen.wrap(text)


def closing_words(track: TrackFigures, compared: Compared) -> Iterator[str]:
    """Which test p is of, what the cases could detect, and which parts are not shown."""
    measured = next(each.measured for each in compared.gated if each.track is track)
    power = find_power(measured, compared.effect, len(compared.gated))
    yield say_test(compared.gated)
    yield "The change can't be estimated." if power is None else say_power(power)
    if folded := say_folded(track):
        yield folded


def _case_lines(track: TrackFigures, compared: Compared, screen: Screen) -> Iterator[str]:
    sides = compared.comparison.base, compared.comparison.head
    rest: list[tuple[str, str, str]] = []
    for kind in NAMED_KINDS:
        if kind in compared.comparison.unselected:
            continue
        pairs, count = track.listed[kind], track.counts[kind]
        limit, told = compared.limit if kind in compared.shown else 0, 0
        for pair, alike in _fold_alike(pairs, sides[1], limit):
            told += 1 + len(alike)
            yield ""
            yield from _changed_lines(kind, pair, sides, screen)
            if alike:
                names = _list_fitting(name_cases(alike, [pair]), len(alike), screen.width)
                for row in screen.wrap(f"the same for {names}", max(10, screen.width - INDENT)):
                    yield screen.paint(f"{'':{INDENT}}{row}", "dim")
        names_left = name_cases(pairs[told:])
        if kind == "changed":
            names_left = [
                f"{name} ({say_verdicts(pair)})" if pair.base_verdict != pair.head_verdict else name
                for name, pair in zip(names_left, pairs[told:], strict=True)
            ]
        if names_left:
            rest.append((kind, _list_fitting(names_left, count - told, screen.width), ""))
    if rest:
        yield ""
    yield from _label_lines(rest, screen)


def _changed_lines(
    kind: ChangeKind, pair: ChangedPair, sides: tuple[Side, Side], screen: Screen
) -> Iterator[str]:
    """One case: what was asked, and both answers side by side."""
    suite, case = make_visible(pair.name.suite), make_visible(pair.name.case)
    word, verdicts = screen.paint(kind, _STYLES.get(kind, "warning")), say_verdicts(pair)
    room = screen.width - len(kind) - 1
    if len(f"{suite}: {case} ({verdicts})") <= room:
        named = f"{screen.paint(f'{suite}: ', 'dim')}{screen.paint(case, 'place')}"
        yield f"{word} {named} ({verdicts})"
    else:
        yield f"{word} {screen.paint(cut(case, room), 'place')}"
        below = cut(f"{suite} ({verdicts})", screen.width - INDENT)
        yield screen.paint(f"{'':{INDENT}}{below}", "dim")
    for line in screen.narrower(INDENT).blocks(_changed_blocks(pair, sides)):
        yield f"{'':{INDENT}}{line}".rstrip()


def _changed_blocks(pair: ChangedPair, sides: tuple[Side, Side]) -> Iterator[Block]:
    base, head = _find_trial(sides[0], pair.base), _find_trial(sides[1], pair.head)
    side, key = (sides[1], pair.head) if pair.head is not None else (sides[0], pair.base)
    case = side.stored.find_case(key.suite, key.case) if key is not None else None
    if case is not None:
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


def _find_trial(side: Side, key: TrialKey | None) -> Result | None:
    return side.stored.find_result(key) if key is not None else None


def say_verdicts(pair: ChangedPair) -> str:
    both = (pair.base, pair.base_verdict), (pair.head, pair.head_verdict)
    return " → ".join(verdict or UNFINISHED for key, verdict in both if key is not None)


def _fold_alike(
    pairs: Sequence[ChangedPair], head: Side, limit: int
) -> list[tuple[ChangedPair, list[ChangedPair]]]:
    """The first pairs, each with those after it that errored for the same reason."""
    groups: list[tuple[ChangedPair, list[ChangedPair]]] = []
    known: dict[str, list[ChangedPair]] = {}
    for pair in pairs[: max(limit, _MOST_FOLDED) if limit else 0]:
        result = _find_trial(head, pair.head) if pair.head_verdict == "errored" else None
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


def name_cases(pairs: Sequence[ChangedPair], beside: Sequence[ChangedPair] = ()) -> list[str]:
    """The ids of cases; ids that several suites have, also `beside` them, with their suite."""
    ids = Counter(pair.name.case for pair in (*pairs, *beside))
    return [
        f"{pair.name.suite}: {pair.name.case}" if ids[pair.name.case] > 1 else pair.name.case
        for pair in pairs
    ]


def _list_fitting(names: Sequence[str], count: int, width: int) -> str:
    """As many names as fit into two lines, and how many more there are."""
    room, shown = 2 * (width - _COLUMN) - len(" and 1,000,000 more"), list[str]()
    for name in (cut(each, 40) for each in names):
        room -= len(name) + 2
        if shown and room < 0:
            break
        shown.append(name)
    return list_some(shown, count)


def measure_rows(
    track: TrackFigures, tested: Mapping[str | None, Measured], quote: Callable[[str], str] = str
) -> Rows:
    """Pass rates and scores of base and head, their difference, and p of what is tested. `quote`
    writes the names of graders."""
    rows = [["", "base", "head", "change", "95% interval", "p"]]
    for grader, measured in tested.items():
        if grader is not None:
            rows.append(_make_row(quote(grader), measured, p=True, share=True))
    main = tested.get(None)

    def add(name: str, shown: Measured, kind: str, *, share: bool = True) -> None:
        is_tested = main is not None and main.name == kind
        rows.append(
            _make_row(name, main if main is not None and is_tested else shown, p=is_tested,
                      share=share)
        )  # fmt: skip

    add("pass rate", track.passed, "passed")
    if track.base_errored + track.head_errored and track.without_errors.pairs:
        rows.append(_make_row("without errors", track.without_errors, share=True))
    if track.trials is not None:
        add("trials passed", track.trials, "trials")
    one, other = track.score, track.trials or track.passed
    says_more = one.pairs and (one.base, one.head) != (other.base, other.head)
    if says_more or (main is not None and main.name == "score"):
        add("score", track.score, "score", share=False)
    return rows


def part_rows(title: str, parts: Sequence[Measured]) -> Rows:
    """Pass rates by grader or tag. Nothing is tested: of twenty parts one differs by chance."""
    shown = sorted(parts, key=lambda part: -part.pairs)[:_MOST_PARTS]
    rows = [[f"{title} (exploratory)", "cases", "base", "head", "change", "95% interval"]]
    for part in shown:
        name, *rest = _make_row(part.name, part, share=True)
        rows.append([name, f"{part.pairs:,}", *rest[:-1]])
    if more := len(parts) - len(shown):
        rows.append([f"and {more:,} more", "", "", "", "", ""])
    return rows


def _make_row(name: str, measured: Measured, *, p: bool = False, share: bool = False) -> list[str]:
    base, head, change = measured.base, measured.head, measured.change
    if base is None or head is None:
        return [name, "–", "–", "–", "–", ""]
    tell: Callable[[float], str] = write_percent if share else "{:.3f}".format
    by: Callable[[float], str] = _write_points if share else "{:+.3f}".format
    interval = f"{by(change.low)} to {by(change.high)}" if change else "–"
    shown_p = measured.p if measured.adjusted is None else measured.adjusted
    return [name, tell(base), tell(head), by(head - base), interval, say_p(shown_p) if p else ""]


def _write_points(share: float) -> str:
    return f"{100 * share:+.1f}"


def say_p(p: float) -> str:
    """To three digits, but never as 0."""
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def amount_rows(amounts: Sequence[Amount]) -> Rows:
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
    tellers: dict[str, Callable[[float], str]] = {"latency": say_seconds, "cost": write_money}
    tell = tellers.get(name, "{:,.0f}".format)
    return [tell(spread.median), tell(spread.p95), tell(spread.total)]
