"""Lists for people: the runs of a project, the kinds of graders, and pages of documentation."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET
from rich.cells import cell_len

from evalcase.graders.base import SHARED, DeclaredGrader
from evalcase.report.figures import Mean, write_interval, write_money, write_percent
from evalcase.report.terminal import Screen, cut, hang_text
from evalcase.types.read_options import Option, fields_of
from evalcase.types.result import Totals
from evalcase.types.value import JSON, Value
from evalcase.util.environment import PACKAGE
from evalcase.util.text import as_json, make_visible

_LINKS = re.compile(r"\[((?:`[^`]*`|[^\]`])+)\]\([^)]+\)")
_STRESSED = re.compile(r"\*{1,2}([^*`]+)\*{1,2}")
_FENCE = "```"
_WORDS = ("run", "age", "name", "commit", "suite", "target")
"""Columns that are aligned to the left."""
_MOST_CELLS = 60
_NOT_OF_ALL = "options of most graders (`evalcase graders NAME` says which it takes)"


class Entry(Value, frozen=True):
    """A run in a list, as far as it is known."""

    id: str
    age: str = ""
    name: str = ""
    commit: str = ""
    suites: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    totals: Totals | None = None
    """None if the record can't be read."""
    remark: str = ""
    """That it is incomplete or damaged, and what to do; or how often it was graded."""
    rate: Mean | None = None
    """Of cases that passed, with its interval."""


def list_lines(entries: Sequence[Entry], screen: Screen) -> Iterator[str]:
    """A line for each run, as given, below a head. Columns without news are left out, and those
    that there is no room for."""
    head = ["run", "age", "name", "commit", "cases", "passed", "interval", "failed", "errored",
            "ungraded", "skipped", "cost", "suite", "target"]  # fmt: skip
    usual = {"cost": "–", "ungraded": "0", "skipped": "0", "interval": "–"}
    columns = {each[0]: each for each in zip(head, *map(_run_cells, entries), strict=True)}
    for name in ("name", "commit", *usual):
        if {*columns[name][1:]} <= {"", usual.get(name, "")}:
            del columns[name]
    for name in ("target", "suite", "interval", "commit", "skipped", "ungraded"):
        if _width_of(columns.values()) > screen.width:
            columns.pop(name, None)
    first, *lines = _align(columns.values())
    yield screen.paint(first, "dim")
    for entry, line in zip(entries, lines, strict=True):
        remark = make_visible(entry.remark)
        painted = screen.paint(remark, "warning")
        if remark and len(line) + 2 + len(remark) <= screen.width:
            yield f"{line}  {painted}"
        else:
            yield line
            yield from [f"  {painted}"] if remark else []


def _run_cells(entry: Entry) -> list[str]:
    if entry.totals is None:
        return [entry.id, entry.age, *[""] * 12]
    counts = entry.totals.cases
    targets = len(entry.targets)
    per_target, left = divmod(counts.total, max(1, targets))
    cases = f"{per_target:,}×{targets}" if targets > 1 and not left else str(counts.total)
    return [
        entry.id, entry.age, cut(entry.name, _MOST_CELLS), make_visible(entry.commit), cases,
        write_percent(entry.totals.pass_rate),
        "–" if entry.rate is None else write_interval(entry.rate), str(counts.failed),
        str(counts.errored), str(counts.ungraded), str(counts.skipped),
        write_money(entry.totals.spent_usd), _name_several(entry.suites),
        _name_several(entry.targets),
    ]  # fmt: skip


def _name_several(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    first, *more = [cut(name, _MOST_CELLS) for name in names] or ["–"]
    return f"{first} +{len(more)}" if more else first


def _width_of(columns: Iterable[Sequence[str]]) -> int:
    return sum(max(map(cell_len, column)) + 2 for column in columns) - 2


def _align(columns: Iterable[Sequence[str]]) -> Iterator[str]:
    """By hand: a list of a thousand runs is aligned in no time."""
    aligned = []
    for column in columns:
        width = max(map(cell_len, column))
        blanks = [" " * (width - cell_len(cell)) for cell in column]
        pairs = zip(column, blanks, strict=True)
        to_left = column[0] in _WORDS
        aligned.append([cell + blank if to_left else blank + cell for cell, blank in pairs])
    return ("  ".join(row).rstrip() for row in zip(*aligned, strict=True))


def grader_lines(graders: Sequence[DeclaredGrader], screen: Screen) -> Iterator[str]:
    """Each grader by name and when it passes; then the options of all of them, and of most."""
    column = max(len(each.kind.name) for each in graders) + 2
    for each in graders:
        yield from _described_lines(each.kind.name, each.kind.description, column, screen)
    of_all = [name for name in SHARED if all(name in each.options for each in graders)]
    others = [name for name in SHARED if name not in of_all]
    for heading, names in (("options of all graders", of_all), (_NOT_OF_ALL, others)):
        yield from _option_lines(heading, [SHARED[name] for name in names], None, screen)


def explain_grader(grader: DeclaredGrader, screen: Screen) -> Iterator[str]:
    """All that there is to know of one."""
    kind, own = grader.kind, fields_of(grader.kind)
    yield from screen.wrap(f"{kind.name}: {kind.description}")
    if kind.example:
        yield ""
        yield from (f"  {screen.paint(line, 'hint')}" for line in kind.example.strip().split("\n"))
    ordered = sorted(own.values(), key=lambda each: each.name != kind.argument)
    # An option that most graders share, and this one needs, is shown as its own.
    ordered += [each for each in grader.shared.values() if each.needed]
    yield from _option_lines("options", ordered, kind.argument, screen)
    for each in ordered:
        if each.inside is not None:
            inner = fields_of(each.inside).values()
            yield from _option_lines(f"options within `{each.name}`", inner, None, screen)
    yield ""
    names = [name for name, each in grader.shared.items() if not each.needed]
    yield from screen.wrap(f"shared options: {', '.join(names)}")


def _option_lines(
    heading: str, options: Iterable[Option], argument: str | None, screen: Screen
) -> Iterator[str]:
    several = list(options)
    if not several:
        return
    yield ""
    yield screen.paint(heading, "place")
    column = max(len(each.name) for each in several) + 4
    for each in several:
        about = f"{each.about} {describe_value(each, argument)}."
        yield from _described_lines(f"  {each.name}", about, column, screen)


def describe_value(option: Option, argument: str | None) -> str:
    """What an option may be, and its default."""
    words = option.takes.words
    said = [words[:1].upper() + words[1:]]
    if option.name == argument:
        said.append("the argument")
    if option.needed:
        said.append("needed")
    elif option.default not in (None, UNSET, "", (), {}):
        said.append(f"{_show_value(option.default)} by default")
    if option.example is not None:
        said.append(f"for example {_show_value(option.example)}")
    return "; ".join(said)


def _show_value(value: JSON) -> str:
    if isinstance(value, str):
        # A sentence within a sentence has to be told from it.
        return as_json(value) if " " in value or value.endswith(".") else value
    return f"{value:g}" if isinstance(value, float) else as_json(value)


def _described_lines(name: str, about: str, column: int, screen: Screen) -> Iterator[str]:
    lead = screen.paint(name, "place") + " " * max(1, column - len(name))
    for line in screen.wrap(about, max(20, screen.width - column)):
        yield f"{lead}{line}".rstrip()
        lead = " " * column


def page_lines(page: str, screen: Screen) -> Iterator[str]:
    """A page of documentation in Markdown: prose is broken between words, code is indented."""
    is_code = False
    for line in page.rstrip("\n").split("\n"):
        if line.startswith(_FENCE):
            is_code = not is_code
        elif is_code:
            yield f"    {line}".rstrip()
        elif line.startswith("#"):
            yield screen.paint(line.lstrip("# "), "place")
        else:
            text = _STRESSED.sub(r"\1", _LINKS.sub(r"\1", line))
            yield from hang_text(text, screen.width, indent=2 if text.startswith("- ") else 0)


# The pages of the documentation that explain diagnostic codes.

_FOLDERS = (
    os.path.join(PACKAGE, "diagnostics"),
    os.path.join(PACKAGE, "..", "..", "docs", "diagnostics"),
)
"""A wheel has the pages inside the package, a clone in its docs."""


def page_path(code: str) -> str | None:
    """The file of the page about a code; None if it is not installed."""
    paths = (os.path.join(folder, f"{code}.md") for folder in _FOLDERS)
    return next((path for path in paths if os.path.isfile(path)), None)
