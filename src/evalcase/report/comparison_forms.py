"""The forms of a comparison: sentences and tables for people, on a terminal, in Markdown and on the
page, a sentence with the result first; and JSON for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import sqrt
from typing import Any

from evalcase.report.compare import Amounts, ChangedPair, Comparison, Measured, Track
from evalcase.report.details import UNFINISHED, asked_in, reason_of, said_by
from evalcase.report.diff import pair_texts
from evalcase.report.figures import write_money, write_percent, write_seconds
from evalcase.report.gates import Compared, Gated, gates_exit_code, write_p
from evalcase.report.sides import NAMED_KINDS, ChangeKind, Side
from evalcase.report.terminal import Screen, cut, cut_middle
from evalcase.stats.intervals import ALPHA
from evalcase.stats.paired import (
    cases_for_scores,
    cases_for_verdicts,
    fewest_alike,
    visible_in_scores,
    visible_in_verdicts,
)
from evalcase.util.text import (
    code_block,
    code_span,
    list_some,
    make_visible,
    write_count,
    write_table,
)

Rows = list[list[str]]
_COLUMN = 9
_INPUT_ROWS = 2
_SIDE_ROWS = 10
_MOST_PARTS = 12
_MOST_LISTED = 10
_LONGEST_NAME = 240
_STYLES = {"broken": "error", "fixed": "good"}
_FEWEST = 5
"""Cases below which an interval is as wide as all there is."""
NO_CHANGE = "no significant difference"


def find_power(
    measured: Measured, effect: float, tests: int = 1
) -> tuple[float | None, int | None]:
    """What one of several tests detects four times out of five: the smallest change that so many
    cases show, and how many cases show that `effect`. None where nothing can be estimated."""
    change, alpha = measured.change, ALPHA / tests
    if change is None:
        return None, None
    if measured.tested.test == "exact McNemar":
        # As for the interval, one more that got better and one that got worse.
        changing = (measured.better + measured.worse + 2) / (measured.pairs + 2)
        needed = cases_for_verdicts(changing, effect, alpha)
        visible = visible_in_verdicts(measured.pairs, changing, alpha)
    else:
        # Cases that change together are worth fewer: what the error says is for each of them.
        needed = cases_for_scores(change.error * sqrt(measured.pairs + 2), effect, alpha)
        visible = visible_in_scores(change.error, alpha)
    if (visible is not None and visible > 1) or measured.units < fewest_alike(alpha):
        visible = None
    return visible, needed


def say_result(
    comparison: Comparison, gated: Sequence[Gated], quote: Callable[[str], str] = "`{}`".format
) -> Iterator[str]:
    """A sentence for each target, or grader, that is compared. `quote` writes their names."""
    if not comparison.pairs:
        yield "Nothing is compared: no case has a verdict in both."
    for each in gated:
        change, base, head = _say_change(each), each.track.base_target, each.track.head_target
        if len(gated) > 1:
            name = quote(head) if base == head else f"{quote(head)} against {quote(base)}"
            by = f", by {quote(each.grader)}" if each.grader is not None else ""
            yield f"{name}{by}: {change}."
            continue
        base, head = (quote(base), quote(head)) if comparison.is_within else ("base", "head")
        if each.is_distinct:
            yield f"{head if comparison.is_within else 'Head'} is {change} than {base}."
        elif change == NO_CHANGE:
            yield f"No significant difference between {base} and {head}."
        else:
            yield f"{change.capitalize()}."


def _say_change(each: Gated) -> str:
    if not each.measured.pairs:
        return "nothing to compare"
    if each.is_distinct:
        return "better" if each.value > 0 else "worse"
    if each.track.is_same:
        return "no case changed"
    nouns = "cases" if each.measured.clusters is None else "clusters"
    return f"too few {nouns} to tell" if each.is_powerless else NO_CHANGE


def say_counts(track: Track, comparison: Comparison) -> str:
    """How many cases there are of each kind; those that one side did not select by that name."""
    counts, unselected = track.counts, comparison.unselected
    said = [f"{counts['fixed']:,} fixed", f"{counts['broken']:,} broken"]
    said += [f"{counts['changed']:,} changed", f"{counts['same']:,} the same"]
    more = [
        f"{counts[kind]:,} {unselected.get(kind, kind)}"
        for kind in ("added", "removed", "skipped", "unfinished")
        if counts[kind]
    ]
    beside = f"; not compared: {', '.join(more)}" if more else ""
    return f"{write_count(track.pairs, 'case')} compared: {', '.join(said)}{beside}"


def closing_words(track: Track, compared: Compared) -> Iterator[str]:
    """Which test p is of, and what the cases could detect."""
    if not track.pairs or track.is_same:
        return
    gated = compared.gated
    tests = " and ".join(sorted({each.measured.tested.test for each in gated}))
    shares = (each.measured.tested.test for each in gated if each.is_of_trials)
    of_trials = any(test != "exact McNemar" for test in shares)
    of = " on the share of its trials that each case passed" if of_trials else ""
    several = f", Holm-adjusted for {len(gated)} tests" if len(gated) > 1 else ""
    yield f"p is from the {tests} test{of}{several}."
    measured = next(each.measured for each in gated if each.track is track)
    visible, needed = find_power(measured, compared.effect, len(gated))
    if needed is None:
        yield "The change can't be estimated."
        return
    fewest = fewest_alike(ALPHA / len(gated))
    if measured.units < fewest:
        noun = "case" if measured.clusters is None else "cluster"
        units = write_count(measured.units, noun)
        could = f"With {units} no change can be significant: at least {fewest:,} have to change"
        could += " the same way"
    elif visible is None:
        could = "These cases detect no change 4 times out of 5"
    else:
        could = (
            f"These cases detect a change of {100 * visible:.1f} points or more 4 times out of 5"
        )
    points = f"{100 * compared.effect:.3g} points"
    yield f"{could}; to detect a change of {points} you would need about {needed:,} cases."


def list_sides(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """`base` and `head`, or `run` where there is only one: the word, the label, and the name and
    commit of the run."""
    sides = {"base": comparison.base, "head": comparison.head}
    for word, side in ({"run": comparison.head} if comparison.is_within else sides).items():
        yield word, side.label, side.description


def list_remarks(comparison: Comparison) -> list[str]:
    remarks = list(comparison.remarks)
    if comparison.alone:
        remarks.append(f"not compared: {', '.join(f'`{name}`' for name in comparison.alone)}")
    return remarks


def write_title(track: Track, comparison: Comparison, quote: Callable[[str], str] = str) -> str:
    """The targets of a track; empty where they need not be named."""
    base, head = quote(track.base_target), quote(track.head_target)
    if comparison.is_within:
        return f"{base} (base) → {head} (head)"
    if base != head:
        return f"{base} → {head}"
    return head if len(comparison.tracks) > 1 else ""


def track_tables(
    track: Track, compared: Compared, quote: Callable[[str], str] = str, *, has_tags: bool = True
) -> Iterator[Rows]:
    """The figures of a target. `quote` writes the names of graders and tags. A page has tags in its
    charts."""
    if not track.pairs:
        return
    yield _measure_rows(track, compared, quote)
    if rows := _amount_rows(track.amounts):
        yield rows
    for noun, parts in (("grader", track.graders), ("tag", [*track.tags.values()] * has_tags)):
        # Those in which something changed, and that have cases enough. Nothing is tested: of twenty
        # parts one differs by chance.
        news = [part for part in parts if part.pairs >= _FEWEST and (part.better or part.worse)]
        if len(parts) > 1 and news:
            rows = [[f"by {noun} (exploratory)", "cases", *_HEAD]]
            for part in sorted(news, key=lambda part: -part.pairs)[:_MOST_PARTS]:
                name, *rest, _ = _make_row(quote(part.name), part)
                rows.append([name, f"{part.pairs:,}", *rest])
            if (more := len(news) - _MOST_PARTS) > 0:
                rows.append([f"and {more:,} more", "", "", "", "", ""])
            yield rows


_HEAD = ("base", "head", "change", "95% interval")


def _measure_rows(track: Track, compared: Compared, quote: Callable[[str], str]) -> Rows:
    """Pass rates and scores of base and head, their difference, and p of what is tested."""
    tested = {each.grader: each.measured for each in compared.gated if each.track is track}
    rows = [["", *_HEAD, "p"]]
    rows += [_make_row(quote(name), each) for name, each in tested.items() if name is not None]
    rows.append(_make_row("pass rate", track.passed))
    if track.base_errored + track.head_errored and track.without_errors.pairs:
        rows.append(_make_row("without errors", track.without_errors))
    if track.trials is not None:
        rows.append(_make_row("trials passed", track.trials))
    score, other = track.score, track.trials or track.passed
    is_news = score.pairs and (score.base, score.head) != (other.base, other.head)
    if is_news or tested.get(None) is score:
        rows.append(_make_row("score", score, share=False))
    return rows


def _make_row(name: str, measured: Measured, *, share: bool = True) -> list[str]:
    """The p of what is tested has been adjusted."""
    base, head, change = measured.base, measured.head, measured.change
    if base is None or head is None:
        return [name, "–", "–", "–", "–", ""]

    def write_change(value: float) -> str:
        return f"{100 * value:+.1f}" if share else f"{value:+.3f}"

    sides = [write_percent(each) if share else f"{each:.3f}" for each in (base, head)]
    interval = f"{write_change(change.low)} to {write_change(change.high)}" if change else "–"
    p = "" if measured.adjusted is None else write_p(measured.adjusted)
    return [name, *sides, write_change(head - base), interval, p]


def _amount_rows(amounts: Sequence[Amounts]) -> Rows:
    """Latency, tokens and cost: two rows for each that is known, base above head."""
    rows = [["", "", "median", "p95", "total", "head ÷ base"]]
    writers: dict[str, Callable[[float], str]] = {"latency": write_seconds, "cost": write_money}
    for amount in amounts:
        if not any(side.total for side in amount.sides or ()) or amount.is_short:
            continue
        write = writers.get(amount.name, "{:,.0f}".format)
        sides = [list(map(write, side)) for side in amount.sides or ()]
        counts = (amount.unknown, "unknown"), (amount.zeros, "zero")
        left_out = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        left_out = f"{left_out}, left out" if left_out else ""
        rows.append([amount.name, "base", *sides[0], left_out])
        rows.append(["", "head", *sides[1], _say_ratio(amount)])
    return rows if len(rows) > 1 else []


def _say_ratio(amount: Amounts) -> str:
    if amount.ratio is None:
        return "no estimate"
    value, low, high = (f"{each:,.0f}" if each >= 100 else f"{each:#.3g}" for each in amount.ratio)
    return f"×{value} ({low} to {high})"


def _say_verdicts(pair: ChangedPair) -> str:
    both = (pair.base, pair.base_verdict), (pair.head, pair.head_verdict)
    return " → ".join(verdict or UNFINISHED for key, verdict in both if key is not None)


def _name_cases(pairs: Sequence[ChangedPair], kind: ChangeKind, most: int) -> Iterator[str]:
    """The ids of cases, those that several suites have with their suite, in so many cells; and what
    became of the verdicts of those that are only changed."""
    ids = Counter(pair.name.case for pair in pairs)
    for pair in pairs:
        suite, case, _ = pair.name
        name = cut_middle(f"{suite}: {case}" if ids[case] > 1 else case, most)
        is_told = kind != "changed" or pair.base_verdict == pair.head_verdict
        yield name if is_told else f"{name} ({_say_verdicts(pair)})"


# The terminal.


def comparison_lines(compared: Compared, screen: Screen) -> Iterator[str]:
    comparison = compared.comparison
    distinct = [each.value for each in compared.gated if each.is_distinct]
    style = "error" if min(distinct, default=0) < 0 else "good" if distinct else "place"
    for sentence in say_result(comparison, compared.gated):
        yield from (screen.paint(row, style) for row in screen.wrap(make_visible(sentence)))
    yield ""
    for word, label, about in list_sides(comparison):
        yield from _label_lines(word, f"{label} ({about})" if about else label, screen)
    for number, remark in enumerate(list_remarks(comparison)):
        yield from _label_lines("" if number else "note", remark, screen, "warning")
    for track in comparison.tracks:
        yield ""
        yield from _track_lines(track, compared, screen)
    if compared.judged:
        yield ""
    for each in compared.judged:
        yield from _label_lines("gate", str(each), screen, "error" if each.code else "good")


def _label_lines(label: str, text: str, screen: Screen, style: str = "") -> Iterator[str]:
    return screen.label(label, make_visible(text), column=_COLUMN, style=style)


def _track_lines(track: Track, compared: Compared, screen: Screen) -> Iterator[str]:
    comparison = compared.comparison
    if title := write_title(track, comparison):
        yield screen.paint(cut(title, screen.width), "place")
    yield from screen.wrap(say_counts(track, comparison))
    yield from _case_lines(track, compared, screen)
    for rows in track_tables(track, compared):
        yield ""
        yield from screen.table(rows)
    if closing := "\n".join(closing_words(track, compared)):
        yield from ("", *screen.wrap(closing))


def _case_lines(track: Track, compared: Compared, screen: Screen) -> Iterator[str]:
    comparison = compared.comparison
    rest: list[tuple[str, str]] = []
    for kind in NAMED_KINDS:
        if kind in comparison.unselected:
            continue
        pairs = track.listed[kind]
        limit = compared.limit if kind in compared.shown else 0
        for pair in pairs[:limit]:
            suite, case = cut(pair.name.suite, _LONGEST_NAME), cut(pair.name.case, _LONGEST_NAME)
            word = screen.paint(kind, _STYLES.get(kind, "warning"))
            named = f"{screen.paint(f'{suite}: ', 'dim')}{screen.paint(case, 'place')}"
            yield from ("", f"{word} {named} ({_say_verdicts(pair)})")
            yield from _answer_lines(pair, comparison, screen.inset())
        if left := pairs[limit:]:
            names = islice(_name_cases(left, kind, 40), _MOST_LISTED)
            rest.append((kind, list_some(names, track.counts[kind] - limit)))
    if rest:
        yield ""
    for kind_word, told in rest:
        yield from _label_lines(kind_word, told, screen)


def _answer_lines(pair: ChangedPair, comparison: Comparison, screen: Screen) -> Iterator[str]:
    base = comparison.base.find_trial(pair.base)
    head = comparison.head.find_trial(pair.head)
    if (trial := head or base) is not None:
        side = comparison.base if head is None else comparison.head
        if (case := side.stored.find_case(*trial.key[:2])) is not None:
            yield from screen.label(*asked_in(case), _INPUT_ROWS)
    if head is not None and head.verdict != "passed" and (why := reason_of(head)):
        yield from screen.note(why, 2)
    texts = said_by(base), said_by(head)
    if texts[0] == texts[1]:
        yield from screen.label("both", texts[0], _SIDE_ROWS)
    else:
        yield from screen.sides(list(pair_texts(*texts)), ("base", "head"), _SIDE_ROWS)


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
        if title := write_title(track, comparison, code_span):
            yield from (f"### {title}", "")
        yield from (say_counts(track, comparison), "")
        yield from _write_cases(track, compared)
        for rows in track_tables(track, compared, code_span):
            yield from (*write_table(rows), "")
        for text in closing_words(track, compared):
            yield from (text, "")
    for each in compared.judged:
        yield f"- gate {code_span(str(each))}"


def _write_cases(track: Track, compared: Compared) -> Iterator[str]:
    left = _MOST_SHOWN
    for kind in NAMED_KINDS:
        pairs, count = track.listed[kind], track.counts[kind]
        if not pairs or kind in compared.comparison.unselected:
            continue
        yield from (f"<details><summary>{count:,} {kind}</summary>", "")
        shown = 0
        for pair in pairs[: compared.limit] if kind in compared.shown else ():
            base = said_by(compared.comparison.base.find_trial(pair.base))
            head = said_by(compared.comparison.head.find_trial(pair.head))
            name = code_span(f"{pair.name.suite}: {pair.name.case}")
            diff = code_block(_write_diff(base, head), "diff")
            lines = [f"{name} {_say_verdicts(pair)}", "", *diff, ""]
            left -= sum(map(len, lines))
            if left < 0:
                break
            shown += 1
            yield from lines
        if count > shown:
            names = islice(_name_cases(pairs[shown:], kind, 100), _MOST_NAMED)
            named = list_some(map(code_span, names), count - shown)
            yield from (named, "")
        yield from ("</details>", "")


def _write_diff(base: str, head: str) -> Iterator[str]:
    """Both texts, line by line: what only base says, what only head says, and what both do."""
    for left, right in pair_texts(base, head):
        is_same = left is not None and right is not None and left.text == right.text
        if left is not None:
            yield f"{' ' if is_same else '-'} {left.text}"
        if right is not None and not is_same:
            yield f"+ {right.text}"


# JSON for programs.


def comparison_object(compared: Compared) -> dict[str, Any]:
    """Shares are from 0 to 1, and so are changes of them."""
    comparison = compared.comparison
    return {
        "result": list(say_result(comparison, compared.gated)),
        "base": _object_of_side(comparison.base),
        "head": _object_of_side(comparison.head),
        "differs": list(comparison.remarks),
        "targets_not_compared": list(comparison.alone),
        "targets_removed": dict(comparison.lost),
        "errored": {"base": comparison.base_errored, "head": comparison.head_errored},
        "tested": [_object_of_gated(each, compared.effect) for each in compared.gated],
        "targets": [_object_of_track(track) for track in comparison.tracks],
        "gates": [each._asdict() for each in compared.judged],
        "exit_code": gates_exit_code(compared.judged),
    }


def _pick(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name, None) for name in names}


def _object_of_side(side: Side) -> dict[str, Any]:
    run = None if side.run is None else side.run.about
    return {
        "name": side.label, "run_name": run and run.name,
        **_pick(run, "note", "commit", "branch", "dirty"),
        "complete": not side.missing, "missing": side.missing or None,
        "mixed": list(side.mixed), "failed_of": side.origin or None, "part": side.part or None,
    }  # fmt: skip


def _object_of_gated(each: Gated, effect: float) -> dict[str, Any]:
    measured = each.measured
    visible, needed = find_power(measured, effect, each.tests)
    return {
        **_pick(each.track, "base_target", "head_target"),
        "grader": each.grader, "distinguishable": each.is_distinct,
        **_object_of_measured(measured),
        "measure": measured.name, "p": measured.tested.p, "p_adjusted": measured.adjusted,
        "test": measured.tested.test, "smallest_visible": visible, "effect": effect,
        "cases_needed": needed,
    }  # fmt: skip


def _object_of_measured(measured: Measured) -> dict[str, Any]:
    value, low, high = (None, None, None) if measured.change is None else measured.change[:3]
    known = _pick(measured, "pairs", "clusters", "base", "head", "better", "worse")
    return {**known, "change": value, "low": low, "high": high}


def _object_of_track(track: Track) -> dict[str, Any]:
    def by_name(several: Iterable[Measured]) -> dict[str, Any]:
        return {each.name: _object_of_measured(each) for each in several}

    return {
        **_pick(track, "base_target", "head_target", "pairs"),
        **{str(kind): count for kind, count in track.counts.items()},
        **_pick(track, "base_errored", "head_errored"),
        "pass_rate": _object_of_measured(track.passed),
        "without_errors": _object_of_measured(track.without_errors),
        "trials": _object_of_measured(track.trials) if track.trials is not None else None,
        "score": _object_of_measured(track.score),
        "graders": by_name(track.graders),
        "grader_scores": by_name(track.grader_scores),
        "tags": by_name(track.tags.values()),
        "amounts": {
            each.name: {
                "pairs": each.pairs, "base": base and base._asdict(),
                "head": head and head._asdict(), "ratio": each.ratio and each.ratio._asdict(),
                **_pick(each, "zeros", "unknown"),
            }
            for each in track.amounts
            for base, head in [each.sides or (None, None)]
        },
        "cases": {
            kind: {
                "named": [
                    {**pair.name._asdict(), **_pick(pair, "base_verdict", "head_verdict")}
                    for pair in pairs
                ],
                "more": track.counts[kind] - len(pairs),
            }
            for kind, pairs in track.listed.items()
        },
    }  # fmt: skip
