"""Parts of a run below each other: a line for each target, tag, suite, grader or value of a
variable, with its rate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from evalcase.report.figures import Effort, Figures, Mean, Slice
from evalcase.report.terminal.cells import cut_text, measure_text, pad_text
from evalcase.report.terminal.progress import write_money, write_percent
from evalcase.report.terminal.style import Style, paint_text
from evalcase.types.result import VERDICTS
from evalcase.util.text import make_visible, write_count

_NAME = 10
"""Cells that the name of a part has at least."""
_MOST = 10
"""Parts that are shown; of more, those that pass least."""


PartKind = str
"""`target`, `tag`, `suite`, `grader` or, for a variable, `vars.NAME`."""
PART_KINDS: tuple[PartKind, ...] = ("target", "tag")
"""Of which kind parts are shown, unless others are asked for."""


def part_tables(
    figures: Figures, by: Collection[PartKind], width: int, style: Style,
    see_suite: Callable[[str], str] = str,
) -> Iterator[str]:  # fmt: skip
    """A table for each kind of which there are several parts, and a line below each."""
    kinds: dict[PartKind, Mapping[str, Slice]] = {
        "target": figures.by_target, "tag": figures.by_tag,
        "suite": {see_suite(path): part for path, part in figures.by_suite.items()},
        "grader": figures.by_grader,
        **{f"vars.{name}": parts for name, parts in figures.by_vars.items()},
    }  # fmt: skip
    for kind, parts in kinds.items():
        if kind in by and (len(parts) > 1 or kind.startswith("vars.")):
            efforts = figures.efforts if kind == "target" else None
            yield from part_table(say_by(kind, figures), parts, width, style, efforts)
            yield ""


def say_by(kind: PartKind, figures: Figures) -> str:
    """What the column of a kind is headed by. Graders judge trials, not cases."""
    return f"{kind} (trials)" if kind == "grader" and figures.all.repeats is not None else kind


def part_table(
    noun: str, parts: Mapping[str, Slice], width: int, style: Style,
    efforts: Mapping[str, Effort] | None = None,
) -> Iterator[str]:  # fmt: skip
    """A line for each part, below a head."""
    shown = _choose_parts(parts)
    columns = [
        _list_names(noun, shown), *_list_verdicts(shown), _list_rates(shown),
        _list_intervals(shown), *_list_scores(shown),
        *(_list_efforts([efforts[name] for name in shown]) if efforts is not None else ()),
    ]  # fmt: skip
    widths = [max(map(measure_text, column)) for column in columns]
    while len(widths) > 2 and _NAME + sum(widths[1:]) + 2 * len(widths[1:]) > width:
        widths.pop()  # what comes last can be done without
    widths[0] = min(widths[0], max(_NAME, width - sum(widths[1:]) - 2 * len(widths[1:])))
    head, *rows = zip(*columns, strict=True)
    yield paint_text(_write_row(head, widths), style.gutter)
    for row in rows:
        yield _write_row(row, widths)
    if more := len(parts) - len(shown):
        what = "value" if noun.startswith("vars.") else noun
        rest = f"and {write_count(more, f'more {what}')}, with higher pass rates"
        yield paint_text(cut_text(rest, width), style.gutter)


def interval_of(mean: Mean) -> str:
    """Between which bounds a share lies; a dash where that can't be estimated."""
    if mean.low is None or mean.high is None:
        return "–"
    return f"{write_percent(mean.low)[:-1]}–{write_percent(mean.high)}"


def _choose_parts(parts: Mapping[str, Slice]) -> dict[str, Slice]:
    """Those that are shown, in their order."""
    if len(parts) <= _MOST:
        return dict(parts)
    worst = sorted(parts, key=lambda name: _rate_of(parts[name]))[:_MOST]
    return {name: parts[name] for name in parts if name in worst}


def _rate_of(part: Slice) -> float:
    return 2.0 if part.rate.value is None else part.rate.value


def _list_names(noun: str, parts: Mapping[str, Slice]) -> list[str]:
    return [make_visible(noun), *(make_visible(name) for name in parts)]


def _list_verdicts(parts: Mapping[str, Slice]) -> Iterator[list[str]]:
    for word in VERDICTS:
        counts: list[int] = [getattr(part.cases, word) for part in parts.values()]
        if any(counts):
            yield [word, *(f"{count:,}" for count in counts)]


def _list_rates(parts: Mapping[str, Slice]) -> list[str]:
    rates = (part.rate.value for part in parts.values())
    return ["pass rate", *("–" if rate is None else write_percent(rate) for rate in rates)]


def _list_intervals(parts: Mapping[str, Slice]) -> list[str]:
    return ["interval", *(interval_of(part.rate) for part in parts.values())]


def _list_scores(parts: Mapping[str, Slice]) -> Iterator[list[str]]:
    """Where they say something else than the rate."""
    if any(part.partial for part in parts.values()):
        means = (part.score.value for part in parts.values())
        yield ["score", *("–" if mean is None else f"{mean:.2f}" for mean in means)]


def _list_efforts(efforts: Sequence[Effort]) -> Iterator[list[str]]:
    if any(effort.cost_usd is not None for effort in efforts):
        yield ["cost", *(write_money(effort.cost_usd) for effort in efforts)]
    medians = (effort.median_s for effort in efforts)
    yield ["median", *("–" if median is None else f"{median:.2f} s" for median in medians)]


def _write_row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = cells
    numbers = (f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=False))
    return "  ".join([pad_text(cut_text(first, widths[0]), widths[0]), *numbers])
