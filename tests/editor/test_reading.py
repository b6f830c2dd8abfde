"""A text that is checked as if it stood at its path."""

from pathlib import Path

from evalcase.api import check_text
from evalcase.config.catalogue import Catalogue
from evalcase.config.config import read_config
from evalcase.editor.documents import Reading, cases_at, read_text, role_of
from evalcase.editor.lookup import show_case
from evalcase.editor.protocol import Encoding, to_column, to_units
from tests.for_each import for_each

SUITE = """\
name: s
input: [{role: system, content: Be brief.}]
cases:
  - id: one
    input: "What is   2+2?"
    expected_output: "4"
  - {input: 'No id', expected_output: x}
  - id: 5x
    input: [{role: user, content: [{type: file, path: a.md}]}]
    expected_output: y
"""


def read(folder: Path, text: str, name: str = "a.eval.yaml") -> tuple[Reading, Catalogue]:
    path = str(folder / name)
    role = role_of(path, text)
    assert role is not None
    known = Catalogue(read_config(str(folder)))
    return read_text(text, path, role, known), known


def test_the_problems_are_those_of_check(tmp_path: Path) -> None:
    reading, _ = read(tmp_path, SUITE)
    assert [(each.code, each.line, each.column) for each in reading.problems] == [
        ("missing-file", 9, 55)
    ]
    assert reading.problems == check_text(SUITE, tmp_path / "a.eval.yaml", tmp_path)
    (tmp_path / "a.md").write_text("")
    assert read(tmp_path, SUITE)[0].problems == []


def test_cases_have_their_places_whatever_else_is_wrong(tmp_path: Path) -> None:
    reading, known = read(tmp_path, SUITE.replace("expected_output: y", "expected: y"))
    cases = cases_at(reading, reading.places, known)
    assert [each and each.id for each in cases] == ["one", "no-id-e535d2", None]
    assert [each.name_span[:2] for each in reading.places] == [(4, 9), (7, 5), (8, 9)]
    assert [each.span[:2] for each in reading.places] == [(4, 5), (7, 5), (8, 5)]


@for_each(("name", "text", "places"), [
    ("a.eval.json", '{"tests": [{"id": "a", "input": "x"}]}', [(1, 19)]),
    ("a.eval.yaml", "input: x\nid: a\n", [(2, 5)]),
    ("a.eval.yaml", "- &a {id: a, input: x}\n- {<<: *a, id: b}\n", [(1, 11), (2, 16)]),
    ("a.eval.jsonl", '{"id": "a", "input": "x"}\n\n{"id": "b", "input": "x"}\n', [(1, 1), (3, 1)]),
    ("a.eval.yaml", "[]", []), ("a.eval.yaml", "x", []), ("a.eval.yaml", "[", []),
    ("a.eval.yaml", "", []),
])  # fmt: skip
def test_places_in_every_format(
    tmp_path: Path, name: str, text: str, places: list[tuple[int, int]]
) -> None:
    reading, known = read(tmp_path, text, name)
    assert [each.name_span[:2] for each in reading.places] == places
    assert None not in cases_at(reading, reading.places, known)


def test_a_case_is_shown_as_it_is_understood(tmp_path: Path) -> None:
    reading, _ = read(tmp_path, SUITE)
    case = reading.cases[0]
    assert case is not None
    assert show_case(case).split("\n")[:5] == [
        "```yaml", "id: one", "input:", "  - role: system", "    content: Be brief.",
    ]  # fmt: skip


def test_what_a_case_says_can_not_end_its_frame(tmp_path: Path) -> None:
    text = "- input: |\n    ```\n    # no heading\n    ````\n"
    reading, _ = read(tmp_path, text)
    case = reading.cases[0]
    assert case is not None
    shown = show_case(case).split("\n")
    assert shown[0] == "`````yaml"
    assert shown[-1] == "`````"


def test_suite_fields_and_configurations_have_checks_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.eval.jsonl").write_text("")
    (found,) = read(tmp_path, "nam: x\n", "a.suite.yaml")[0].problems
    assert (found.code, found.fix) == ("unknown-field", "name")
    (found,) = read(tmp_path, 'concurrency = "x"\n', "evalcase.toml")[0].problems
    assert (found.code, found.line) == ("wrong-type", 1)


# Files


LINE = "# yaml-language-server: $schema=../evalcase.schema.json\n"


@for_each(("name", "text", "role"), [
    ("a.eval.yaml", "", ("suite", "yaml")),
    ("a.eval.YML", "", ("suite", "yaml")),
    ("a.eval.json", "", ("suite", "json")),
    ("a.eval.jsonl", "", ("suite", "jsonl")),
    ("evalcase.toml", "", ("config", "toml")),
    ("pyproject.toml", "[tool.evalcase]", ("config", "toml")),
    ("pyproject.toml", "[tool.ruff]", None),
    ("cases.yaml", LINE, ("suite", "yaml")),
    ("cases.yaml", f"# a comment\n\n{LINE}", ("suite", "yaml")),
    ("docker-compose.yaml", "services: {}", None),
    ("evalcase.schema.json", "{}", None),
    ("a.py", LINE, None),
])  # fmt: skip
def test_what_a_file_is_to_evalcase(
    tmp_path: Path, name: str, text: str, role: tuple[str, str] | None
) -> None:
    assert role_of(str(tmp_path / name), text) == role


def test_the_file_beside_a_jsonl_file(tmp_path: Path) -> None:
    path = str(tmp_path / "a.suite.yaml")
    assert role_of(path, "") is None
    (tmp_path / "a.eval.jsonl").write_text("")
    assert role_of(path, "") == ("sidecar", "yaml")


# Columns


WIDE = "a😀漢é\u2028b"


@for_each(
    ("encoding", "units"),
    [("utf-8", [0, 1, 5, 8, 10, 13, 14]), ("utf-16", [0, 1, 3, 4, 5, 6, 7]),
     ("utf-32", [0, 1, 2, 3, 4, 5, 6])],
)  # fmt: skip
def test_columns_go_there_and_back(encoding: Encoding, units: list[int]) -> None:
    assert [to_units(WIDE, column, encoding) for column in range(7)] == units
    assert [to_column(WIDE, unit, encoding) for unit in units] == list(range(7))


@for_each("encoding", ["utf-8", "utf-16", "utf-32"])
def test_what_lies_behind_a_line_is_its_end(encoding: Encoding) -> None:
    assert to_column(WIDE, 1000, encoding) == len(WIDE)
    assert to_units(WIDE, 1000, encoding) == to_units(WIDE, len(WIDE), encoding)
    assert to_column("abc", 1000, encoding) == 3
