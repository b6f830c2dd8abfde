"""The reference is complete, and nothing in it is made up."""

import json
import re
from pathlib import Path

import pytest

import evalcase
from docs.regenerate import ROOT, blocks_of
from evalcase.cli.app import COMMANDS
from evalcase.format import fields
from evalcase.types.problem import CODES
from tests.for_each import for_each

DOCS = ROOT / "docs"
DIAGNOSTICS = DOCS / "diagnostics"


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """The text below a heading, up to the next one of its rank."""
    _, found, rest = text.partition(f"\n## {heading}\n")
    assert found, heading
    return rest.partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """The cells of the tables in a text, without their headings."""
    lines = [line for line in text.split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    rules = [number for number, line in enumerate(lines) if line.startswith("|---")]
    headings = {number - 1 for number in rules} | set(rules)
    return [row for number, row in enumerate(cells) if number not in headings]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


# Diagnostics


def test_there_is_one_page_for_each_code() -> None:
    found = {path.stem for path in DIAGNOSTICS.glob("*.md")} - {"index"}
    assert found == set(CODES)


@for_each("code", CODES)
def test_a_page_says_what_its_code_is(code: str) -> None:
    severity, title = CODES[code]
    text = read(DIAGNOSTICS / f"{code}.md")
    assert text.startswith(f"# {code}\n\n*{severity.capitalize()}.* {title}\n")
    assert text.partition("\n## Bad\n")[0].count("\n\n") >= 2, "it says why"


@for_each("code", CODES)
def test_a_page_has_an_example_that_goes_wrong_and_one_that_works(code: str) -> None:
    blocks = list(blocks_of(read(DIAGNOSTICS / f"{code}.md")))
    assert [block.verdict for block in blocks if block.verdict] == ["bad", "good"]


def test_the_index_lists_all_codes_in_order() -> None:
    expected = [
        [f"[{code}]({code}.md)", severity, title] for code, (severity, title) in CODES.items()
    ]
    assert rows(read(DIAGNOSTICS / "index.md")) == expected


# Format


def format_page() -> str:
    return read(DOCS / "format.md")


def short_forms() -> list[tuple[str, str]]:
    found = []
    for heading in ("Input", "Expected output"):
        for written, becomes, *_ in rows(section(format_page(), heading)):
            if becomes.startswith("`["):
                found.append((written.strip("`"), becomes.strip("`")))
    assert len(found) > 10
    return found


@for_each(("written", "becomes"), short_forms())
def test_short_forms_become_what_the_page_says(written: str, becomes: str) -> None:
    field = written.partition(":")[0]
    text = written if field == "input" else f"input: x\n{written}"
    case = evalcase.parse_case(text)
    assert json.dumps(case.to_dict()[field]) == becomes


def test_all_fields_of_a_case_are_described() -> None:
    table = rows(section(format_page(), "Fields of a case"))
    assert tuple(name for row in table for name in names(row[0])) == fields.CASE_FIELDS


def test_all_graders_are_described() -> None:
    from evalcase.config.registry import list_names

    pattern = r"^## (\w+)\n\n```console\n\$ evalcase graders (\w+)\n"
    shown = re.findall(pattern, read(DOCS / "graders.md"), re.MULTILINE)
    assert shown == [(name, name) for name in list_names("graders")]


def test_all_names_that_other_tools_give_graders_are_described() -> None:
    from evalcase.config.catalogue import INSTEAD
    from evalcase.format.graders import OTHER_NAMES

    table = rows(section(read(DOCS / "graders.md"), "Names of other tools"))
    here = [[f"`{name}`", spelling.told()] for name, spelling in OTHER_NAMES.items()]
    others = [[f"`{name}`", text] for name, text in INSTEAD.items()]
    told = [[f"`{name}`", text] for row, text in table for name in names(row)]
    assert sorted(told) == sorted(here + others)


def test_the_options_that_all_graders_have_are_described() -> None:
    from evalcase.graders.base import SHARED

    table = rows(section(format_page(), "Graders"))
    assert [name for row in table for name in names(row[0])] == [*SHARED]


def test_all_settings_are_described() -> None:
    from evalcase.config.config import Config
    from evalcase.types.read_options import fields_of

    table = rows(section(read(DOCS / "running.md"), "Configuration"))
    assert {name for row in table for name in names(row[0])} == fields_of(Config).keys()


def test_all_fields_of_a_suite_are_described() -> None:
    table = rows(section(format_page(), "Fields of a suite"))
    assert {name for row in table for name in names(row[0])} == set(fields.SUITE_FIELDS)


def test_all_deprecated_names_are_described() -> None:
    table = rows(section(format_page(), "Deprecated names"))
    told = {(name, names(new)[0], place) for old, where, new in table
            for name in names(old) for place in where.split(", ")}  # fmt: skip
    expected = {(old, new, "case") for old, new in fields.CASE_ALIASES.items()}
    expected |= {(old, new, "suite") for old, new in fields.SUITE_ALIASES.items()}
    expected |= {(fields.EXECUTION, "target", place) for place in ("case", "suite")}
    assert told == expected


def test_yaml_scalars_are_read_as_described() -> None:
    from evalcase.format.yaml import read_yaml

    kinds = {"null": (type(None),), "a boolean": (bool,), "a number": (int, float), "text": (str,)}
    for written, meaning in rows(section(format_page(), "YAML").partition("###")[0]):
        values = [read_yaml(name)[0] for name in names(written)]
        assert all(type(value) in kinds[meaning.partition(":")[0]] for value in values), written
        if ":" in meaning:
            assert ", ".join(map(str, values)) == meaning.partition(": ")[2]


def test_limits_are_those_of_the_code() -> None:
    from evalcase.format import json, source
    from evalcase.format import yaml as yaml_aliases
    from evalcase.types import value as json_value
    from evalcase.util import project

    limits = {row[0]: row[1] for row in rows(section(format_page(), "Limits"))}
    assert limits["nesting of lists and mappings"] == f"{json_value.MAX_DEPTH} levels"
    assert (
        limits["a YAML or JSON file, and standard input"] == f"{source.MAX_SOURCE_BYTES >> 30} GiB"
    )
    assert limits["a line of JSONL"] == f"{source.MAX_LINE_BYTES >> 20} MiB"
    assert limits["digits of an integer"] == f"{json.MAX_DIGITS:,}"
    assert limits["a file in content"] == f"{project.MAX_ATTACHED_BYTES >> 20} MiB"
    aliases = limits["what aliases stand for, in one file"]
    assert aliases.startswith(f"{yaml_aliases.MIN_ALIAS_BUDGET >> 20} MiB,")


# Command and library


def test_every_command_has_a_section() -> None:
    shown = re.findall(r"^## evalcase (\w+)$", read(DOCS / "command.md"), re.MULTILINE)
    assert sorted(shown) == sorted(COMMANDS)


def test_every_public_name_is_in_the_library_page() -> None:
    table = rows(read(DOCS / "library.md").partition("\n## ")[0])
    assert {name for row in table for name in names(row[0])} == set(evalcase.__all__)


@pytest.mark.parametrize("noun", ["Suite", "Case"])
def test_every_attribute_of_a_noun_is_in_the_library_page(noun: str) -> None:
    cls = getattr(evalcase, noun)
    public = {each for each in dir(cls) if not each.startswith("_")}
    table = rows(section(read(DOCS / "library.md"), noun))
    assert {name.removesuffix("()") for row in table for name in names(row[0])} == public


# Decisions and maps


def test_decisions_are_numbered_and_listed() -> None:
    files = sorted((DOCS / "decisions").glob("*.md"))
    numbers = [path.name[:4] for path in files]
    assert len(set(numbers)) == len(numbers), "a number is never used again"
    index = read(DOCS / "index.md")
    for path in files:
        title = read(path).partition("\n")[0].removeprefix("# ")
        assert title.startswith(f"{path.name[:4]}: ")
        assert f"- [{title}](decisions/{path.name})" in index
