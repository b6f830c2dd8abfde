"""The figures of a comparison as rows of a table, the head of each first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evalcase.report.differences import Amount, Measured, SideAmount, say_ratio, say_seconds
from evalcase.report.paired_cases import TrackFigures
from evalcase.report.terminal.progress import write_money, write_percent

_NOTHING = "–"
_MOST_PARTS = 12
Rows = list[list[str]]


def measure_rows(
    track: TrackFigures, tested: Mapping[str | None, Measured], quote: Callable[[str], str] = str
) -> Rows:
    """Pass rates and scores of base and head, how far they are apart, and p of what is tested.
    `quote` makes of the name of a grader what can be shown."""
    rows = [["", "base", "head", "change", "95% interval", "p"]]
    for grader, measured in tested.items():
        if grader is not None:
            rows.append(_make_row(quote(grader), measured, p=True, share=True))
    is_tested = None in tested and tested[None].name == "passed"
    passed = tested[None] if is_tested else track.passed
    rows.append(_make_row("pass rate", passed, p=is_tested, share=True))
    errored = track.base_errored + track.head_errored
    if errored and track.without_errors.pairs:
        rows.append(_make_row("without errors", track.without_errors, share=True))
    if track.trials is not None:
        of_trials = tested.get(None)
        is_tested = of_trials is not None and of_trials.name == "trials"
        shown = of_trials if of_trials is not None and is_tested else track.trials
        rows.append(_make_row("trials passed", shown, p=is_tested, share=True))
    score = tested.get(None)
    if score is not None and score.name == "score":
        rows.append(_make_row("score", score, p=True))
    elif track.score.pairs and _says_more(track):
        rows.append(_make_row("score", track.score))
    return rows


def _says_more(track: TrackFigures) -> bool:
    """Whether scores tell something that verdicts don't."""
    one, other = track.score, track.trials or track.passed
    return (one.base, one.head) != (other.base, other.head)


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
    tell: Callable[[float], str] = write_percent if share else "{:.3f}".format
    by = _write_points if share else "{:+.3f}".format
    if base is None or head is None:
        return [name, _NOTHING, _NOTHING, _NOTHING, _NOTHING, ""]
    interval = f"{by(change.low)} to {by(change.high)}" if change else _NOTHING
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
        tell = _TELLERS[amount.name]
        rows.append([amount.name, "base", *_write_amounts(base, tell), _left_out(amount)])
        rows.append(["", "head", *_write_amounts(head, tell), say_ratio(amount)])
    return rows if len(rows) > 1 else []


def _write_amounts(spread: SideAmount, tell: Callable[[float], str]) -> list[str]:
    return [tell(spread.median), tell(spread.p95), tell(spread.total)]


def _left_out(amount: Amount) -> str:
    said = [
        f"{count:,} {word}"
        for count, word in ((amount.unknown, "unknown"), (amount.zeros, "zero"))
        if count
    ]
    return f"{', '.join(said)}, left out" if said else ""


def _write_count(value: float) -> str:
    return f"{value:,.0f}"


_TELLERS: dict[str, Callable[[float], str]] = {
    "latency": say_seconds, "input tokens": _write_count, "output tokens": _write_count,
    "cost": write_money,
}  # fmt: skip
