"""Kinds of graders in, lines for people out: what each is for, its options and an example."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET

from evalcase.graders.base import SHARED, DeclaredGrader
from evalcase.report.terminal.cells import measure_text, pad_text, wrap_text
from evalcase.report.terminal.style import Style, paint_text
from evalcase.types.read_options import Option, fields_of
from evalcase.types.value import JSON
from evalcase.util.text import as_json

_NOT_OF_ALL = "options of most graders (`evalcase graders NAME` says which it takes)"


def grader_lines(graders: Sequence[DeclaredGrader], width: int, style: Style) -> Iterator[str]:
    """One line or more for each: its name, and when it passes; then what all of them can be told,
    and what not all can."""
    column = max(len(each.kind.name) for each in graders) + 2
    for each in graders:
        yield from _write_described(each.kind.name, each.kind.description, column, width, style)
    of_all = [name for name in SHARED if all(name in each.options for each in graders)]
    others = [name for name in SHARED if name not in of_all]
    for heading, names in (("options of all graders", of_all), (_NOT_OF_ALL, others)):
        options = [SHARED[name] for name in names]
        yield from _write_group(heading, options, None, width, style)


def explain_grader(grader: DeclaredGrader, width: int, style: Style) -> Iterator[str]:
    """All that there is to know of one."""
    kind, own = grader.kind, fields_of(grader.kind)
    yield from wrap_text(f"{kind.name}: {kind.description}", width)
    if kind.example:
        yield ""
        yield from (
            f"  {paint_text(line, style.hint)}" for line in kind.example.strip().split("\n")
        )
    ordered = sorted(own.values(), key=lambda each: each.name != kind.argument)
    # What others take, and this one needs, is an option of its own.
    ordered += [each for each in grader.shared.values() if each.needed]
    yield from _write_group("options", ordered, kind.argument, width, style)
    for each in ordered:
        if each.inside is not None:
            inner = fields_of(each.inside).values()
            yield from _write_group(f"options within `{each.name}`", inner, None, width, style)
    yield ""
    *names, last = [name for name, each in grader.shared.items() if not each.needed]
    yield from wrap_text(f"It also takes {', '.join(names)} and {last}, like other graders.", width)


def _write_group(
    heading: str, options: Iterable[Option], argument: str | None, width: int, style: Style
) -> Iterator[str]:
    several = list(options)
    if not several:
        return
    yield ""
    yield paint_text(heading, style.place)
    column = max(len(each.name) for each in several) + 4
    for each in several:
        about = f"{each.about} {describe_value(each, argument)}."
        yield from _write_described(f"  {each.name}", about, column, width, style)


def describe_value(option: Option, argument: str | None) -> str:
    """What an option may be, and what it is if nobody says."""
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
        # A sentence of its own within a sentence, or the end of one, has to be told from it.
        return as_json(value) if " " in value or value.endswith(".") else value
    return f"{value:g}" if isinstance(value, float) else as_json(value)


def _write_described(name: str, about: str, column: int, width: int, style: Style) -> Iterator[str]:
    """A name, and a text beside it in as many lines as it needs."""
    lead = paint_text(name, style.place) + " " * max(1, column - measure_text(name))
    for line in wrap_text(about, max(20, width - column)):
        yield f"{lead}{line}".rstrip()
        lead = pad_text("", column)
