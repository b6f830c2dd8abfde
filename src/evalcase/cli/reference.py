"""`evalcase show`, `explain`, `graders` and `schema`: cases as they are understood, and what
there is to know of the format."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
from msgspec import UNSET

from evalcase.cli.options import WrongUsageError, stdin_format
from evalcase.cli.terminal import print_lines, print_problems, screen_for, write_prose
from evalcase.config.catalogue import (
    Catalogue,
    config_schema,
    declared_graders,
    sidecar_schema,
    suite_schema,
)
from evalcase.config.registry import find_class
from evalcase.errors import ConfigError
from evalcase.format.load import CaseStream, Loaded, load_each
from evalcase.format.positions import Format
from evalcase.format.source import STDIN, format_of
from evalcase.format.writer import write_yaml
from evalcase.graders.base import SHARED, DeclaredGrader, declared_grader
from evalcase.graders.rubrics import RUBRIC_NAMES, rubric_text
from evalcase.graders.text import TextGrader
from evalcase.report.json import json_line, json_text
from evalcase.report.problems import page_path
from evalcase.report.terminal import Screen, hang_text
from evalcase.types.case import Case
from evalcase.types.problem import CODES, did_you_mean
from evalcase.types.read_options import Option, fields_of
from evalcase.types.value import JSON
from evalcase.util.files import read_file
from evalcase.util.text import as_json

_LARGEST = 1_000_000
_LINKS = re.compile(r"\[((?:`[^`]*`|[^\]`])+)\]\([^)]+\)")
_OF_TEXT = fields_of(TextGrader)
_OF_ALL = "options of all graders"
_NOT_OF_ALL = "options of most graders (`evalcase graders NAME` says which it takes)"


@click.command("explain")
@click.argument("code", required=False)
def explain_command(code: str | None) -> int:
    """Explain a diagnostic code, or list all of them.

    \b
    evalcase explain                  every code, and what it says
    evalcase explain unknown-field    what it means, and how to fix it
    """
    if code is None:
        wide = max(map(len, CODES)) + 2
        room = screen_for(sys.stdout).width if sys.stdout.isatty() else None
        for name, (severity, title) in CODES.items():
            rows = hang_text(title, room, indent=wide + 9, taken=wide + 9 if room else 0)
            print_lines([f"{name:{wide}}{severity:9}{rows[0]}", *rows[1:]])
        return 0
    code = code.strip().strip("[]").rpartition("[")[2]
    if code not in CODES:
        hint = did_you_mean(code, CODES, 0.75) or "`evalcase explain` lists all codes"
        raise ConfigError(f"there is no diagnostic code `{code}`: {hint}")
    from rich.markdown import Markdown  # a third of a second

    page = _LINKS.sub(r"\1", read_page(code))
    print_lines(screen_for(sys.stdout).lines(Markdown(page, code_theme="ansi_dark")))
    return 0


def read_page(code: str) -> str:
    path = page_path(code)
    if path is not None:
        return read_file(path, _LARGEST).decode()
    severity, title = CODES[code]
    return f"# {code}\n\n*{severity.capitalize()}.* {title}\n"


@click.command("graders")
@click.argument("name", required=False)
def graders_command(name: str | None) -> int:
    """List the installed graders, or explain one of them.

    \b
    evalcase graders             every grader, and when it passes
    evalcase graders fields      its options, and an example
    evalcase graders faithful    a built-in rubric for judges, to read or copy
    """
    screen = screen_for(sys.stdout)
    if name in RUBRIC_NAMES:
        print_lines([rubric_text(name).rstrip("\n")])
    elif name is None:
        print_lines(grader_lines(declared_graders(), screen))
    else:
        print_lines(explain_grader(declared_grader(find_class("graders", name)), screen))
    return 0


def grader_lines(graders: Sequence[DeclaredGrader], screen: Screen) -> Iterator[str]:
    """Each grader by name and when it passes; then the options of all of them, and of most."""
    column = max(len(each.kind.name) for each in graders) + 2
    for each in graders:
        yield from _described_lines(each.kind.name, each.kind.description, column, screen)
    of_all = [name for name in SHARED if all(name in each.options for each in graders)]
    others = [name for name in SHARED if name not in of_all]
    most = [*(SHARED[name] for name in others), *_OF_TEXT.values()]
    yield from _option_lines(_OF_ALL, [SHARED[name] for name in of_all], None, screen)
    yield from _option_lines(_NOT_OF_ALL, most, None, screen)


def explain_grader(grader: DeclaredGrader, screen: Screen) -> Iterator[str]:
    kind = grader.kind
    fields = fields_of(kind)
    own = {name: each for name, each in fields.items() if name not in _OF_TEXT}
    yield from screen.wrap(f"{kind.name}: {kind.description}")
    if kind.example:
        yield ""
        yield from (f"  {screen.paint(line, 'hint')}" for line in kind.example.strip().split("\n"))
    ordered = sorted(own.values(), key=lambda each: each.name != kind.argument)
    # An option that most graders share, and this one needs, is shown as its own.
    ordered += [each for each in grader.shared.values() if each.needed]
    yield from _option_lines("options", ordered, kind.argument, screen)
    for each in ordered:
        if each.inner is not None:
            inner = fields_of(each.inner).values()
            yield from _option_lines(f"options within `{each.name}`", inner, None, screen)
    yield ""
    names = [name for name in fields if name in _OF_TEXT]
    for name in ("threshold", "path"):
        if name in grader.shared and not grader.shared[name].needed:
            names.append(name)
    names.append("those of all graders")
    yield from screen.wrap(f"further options: {', '.join(names)}")


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
    words = option.words
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


@click.command("schema")
@click.option("--config", is_flag=True, help="Print the schema of evalcase.toml.")
@click.option(
    "--sidecar", is_flag=True, help="Print the schema of the .suite.yaml file next to a JSONL file."
)
def schema_command(config: bool, sidecar: bool) -> int:
    """Print the JSON Schema (2020-12) of eval files, for completion and checks in editors.

    It includes all installed graders (with --config, all kinds of targets) with their options.

    \b
    evalcase schema > evalcase.schema.json
    evalcase schema --config > evalcase.config.schema.json
    evalcase schema --sidecar > evalcase.sidecar.schema.json

    \b
    Then add as the first line of an eval file, or of evalcase.toml:
    # yaml-language-server: $schema=evalcase.schema.json
    #:schema ./evalcase.config.schema.json
    """
    if config and sidecar:
        raise WrongUsageError("--config and --sidecar can't be combined")
    schema = config_schema if config else sidecar_schema if sidecar else suite_schema
    print_lines([json_text(schema())])
    return 0


@click.command("show")
@click.argument("paths", nargs=-1, required=True)
@click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option(
    "--format", "output", type=click.Choice(["json", "jsonl", "yaml"]), default="json",
    show_default=True, help="jsonl prints one case per line.",
)  # fmt: skip
@stdin_format
def show_command(
    paths: tuple[str, ...], ids: tuple[str, ...], output: str, stdin_format: Format
) -> int:
    """Print cases in canonical form: short forms expanded, aliases resolved, ids generated.

    Settings of the suite are written into each case. The output for one file is itself an eval
    file that loads as the same cases. Several files are printed as a list, or as several YAML
    documents.

    \b
    evalcase show math.eval.yaml                    the whole suite, as JSON
    evalcase show math.eval.yaml --case sum         one case
    evalcase show evals/ --format jsonl             all cases, one per line

    Exit code: 0, or 2 if a file has errors or there is no such case.
    """
    as_lines, others, failed = output == "jsonl", list[str](), False
    missing = dict.fromkeys(ids)

    def read() -> Iterator[dict[str, Any]]:
        """Cases, or whole suites if that is what is asked for."""
        nonlocal failed
        # A JSONL file may be larger than memory: it is checked, and read again to be printed.
        keeps = not as_lines or STDIN in paths
        for loaded in load_each(paths, Catalogue(), stdin_format, keep=keeps):
            if loaded.suite is None:
                failed = True
                print_problems(each for each in loaded.problems if each.severity == "error")
            elif ids or as_lines:
                yield from _choose_cases(loaded, ids, missing, others)
            else:
                yield loaded.suite.to_dict()

    if as_lines:
        print_lines(map(json_line, read()))
    elif values := [*read()]:
        # What is printed depends on what was asked for, and not on how much of it was found.
        one = len(paths) == 1 and not os.path.isdir(paths[0]) and len(ids) < 2
        _print_values(values[0] if one else values, output, is_one=one or bool(ids))
    for id in sorted(missing):
        hint = did_you_mean(id, others)
        where = " in a file without errors" if failed else ""
        write_prose(f"evalcase: there is no case `{id}`{where}{f'; {hint}' if hint else ''}")
    return 2 if failed or missing else 0


def _print_values(value: Any, output: str, *, is_one: bool) -> None:  # noqa: ANN401 - JSON
    if output == "json":
        print_lines([json_text(value)])
    elif is_one:
        sys.stdout.writelines(write_yaml(value))
    else:  # cases are a list that loads; suites can only stand one after the other
        for each in value:
            sys.stdout.writelines(["---\n", *write_yaml(each)])


_MOST_SUGGESTED = 1000
"""How many ids are compared with one that isn't there."""


def _choose_cases(
    loaded: Loaded, ids: Sequence[str], missing: dict[str, None], others: list[str]
) -> Iterator[dict[str, Any]]:
    """The cases of a valid file, or those with some ids, which are no longer missing then."""
    cases: Iterable[Case] = loaded.suite or ()
    if not cases and format_of(loaded.path) == "jsonl":  # they were let go after the check
        stream = CaseStream(loaded.path, Catalogue())
        cases = (item for item in stream if isinstance(item, Case))
    for case in cases:
        if not ids or case.id in ids:
            missing.pop(case.id, None)
            yield case.to_dict()
        elif len(others) < _MOST_SUGGESTED:
            others.append(case.id)
