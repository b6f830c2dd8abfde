import os
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

import evalcase
from evalcase.config.catalogue import Catalogue
from evalcase.format.source import UnreadableError, read_source, tell_undecodable
from evalcase.types.problem import Problem, Span
from tests.for_each import for_each


def problem_of(path: Path | str) -> Problem:
    with pytest.raises(UnreadableError) as raised:
        read_source(str(path))
    return raised.value.problem


def test_one_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa\xef\xbb\xbf")
    assert read_source(str(tmp_path / "x")) == "a\ufeff"


def test_a_missing_file(tmp_path: Path) -> None:
    problem = problem_of(tmp_path / "x")
    assert (problem.code, problem.path) == ("unreadable-file", str(tmp_path / "x"))
    assert problem.message == "there is no such file or folder"
    assert problem.span is None


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bad").write_bytes(b"\xff")
    before = sorted(Path("/dev/fd").iterdir())
    for name in ("pipe", "bad", "missing", "."):
        problem_of(tmp_path / name)
    assert sorted(Path("/dev/fd").iterdir()) == before


def test_standard_input_is_read_as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sys.stdin", TextIOWrapper(BytesIO(b"\xef\xbb\xbfa\r\n\xc3\xa9"), "latin-1")
    )
    assert read_source("-") == "a\r\né"


@for_each(
    ("data", "line", "column", "byte"),
    [
        (b"\xff", 1, 1, "0xff"),
        (b"abc\xe9", 1, 4, "0xe9"),
        (b"a\nb\r\nc\rd\x80", 4, 2, "0x80"),
        ("é日😀".encode() + b"\xc3(", 1, 4, "0xc3"),
        (b"ok \xe2\x82", 1, 4, "0xe2"),
        (b"\xef\xbb\xbfab\xff", 1, 3, "0xff"),
        ("a\u2028b\x85".encode() + b"\xff", 1, 5, "0xff"),
    ],
)
def test_bytes_that_are_no_utf_8(
    tmp_path: Path, data: bytes, line: int, column: int, byte: str
) -> None:
    (tmp_path / "x.yaml").write_bytes(data)
    problem = problem_of(tmp_path / "x.yaml")
    assert problem.code == "bad-encoding"
    assert problem.span == Span(line, column, line, column + 1)
    assert byte in problem.message
    assert problem.hint == "save the file as UTF-8"
    assert problem.excerpt is not None
    assert problem.excerpt.text[column - problem.excerpt.column] == "\ufffd"


def test_the_excerpt_of_a_long_broken_line_is_short() -> None:
    data = b"x" * 10_000 + b"\xff" + b"y" * 10_000
    problem = tell_undecodable(UnicodeDecodeError("utf-8", data, 10_000, 10_001, ""), "x")
    assert problem.column == 10_001
    assert problem.excerpt is not None
    assert len(problem.excerpt.text) < 1_000
    assert problem.excerpt.text[problem.column - problem.excerpt.column] == "\ufffd"


# Files that graders name are looked for, and looked into, by `check`


pytestmark = pytest.mark.usefixtures("in_folder")


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


GRADER = '{"type": "json_schema", "file": "schemas/%s.json"}'


def test_a_file_that_a_grader_names_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_text("")
    (tmp_path / "schemas").mkdir()
    (tmp_path / "evals").mkdir()
    (tmp_path / "schemas" / "a.json").write_text('{\n  "type": "objekt",\n  "requird": ["x"]\n}')
    (tmp_path / "schemas" / "b.json").write_text('{\n  "type": ,\n}')
    (tmp_path / "schemas" / "c.json").write_text("[1]")
    (tmp_path / "schemas" / "d.json").write_text('{"type": "object"}')
    suite = "cases:\n" + "".join(
        f"- {{input: {name}, graders: [{{type: json_schema, file: schemas/{name}.json}}]}}\n"
        for name in "aabcd"
    )
    (tmp_path / "evals" / "s.eval.yaml").write_text(suite)
    found = evalcase.check(tmp_path)
    places = [
        (Path(each.path).name, each.code, each.span and each.span[:2], each.severity)
        for each in found
    ]
    assert places == [
        ("a.json", "bad-value", (2, 11), "error"),
        ("a.json", "unknown-option", (3, 3), "error"),
        ("b.json", "syntax", (2, 11), "error"),
        ("c.json", "wrong-type", (1, 1), "error"),
    ]
    lines = "".join(f'{{"input": "{name}", "graders": [{GRADER % name}]}}\n' for name in "aad")
    (tmp_path / "evals" / "s.eval.yaml").unlink()
    (tmp_path / "evals" / "s.eval.jsonl").write_text(lines)
    assert [Path(each.path).name for each in evalcase.check(tmp_path)] == ["a.json", "a.json"]
    assert [case is None for case in _cases(tmp_path / "evals" / "s.eval.jsonl")] == [
        True, True, False
    ]  # fmt: skip


def _cases(path: Path) -> list[object]:
    from evalcase.format.load import CaseStream
    from evalcase.types.problem import Problem

    return [each for each in CaseStream(str(path), Catalogue()) if not isinstance(each, Problem)]


def test_the_file_of_a_function_has_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_text("")
    (tmp_path / "there.py").write_text("raise SystemExit\nf = g = None\n")
    (tmp_path / "a.eval.yaml").write_text(
        "input: x\ngraders:\n- python: ./there.py:f\n- python: ./gone.py:f\n- python:./gone.py:g\n"
    )
    found = evalcase.check(tmp_path)
    assert [(each.code, each.span and each.span.line, each.hint) for each in found] == [
        ("missing-file", 4, "paths are relative to the project's folder"),
        ("missing-file", 5, "paths are relative to the project's folder"),
    ]


# Suite fields beside JSONL under a name that is not read are not passed over in silence


CASE = '{"id": "a", "input": "x", "expected_output": "ok"}\n'
FIELDS = "description: what it is about\nexecution: {target: echo}\n"


def said(folder: Path) -> list[tuple[str, str]]:
    found = evalcase.check(folder / "big.jsonl", root=folder)
    return [(Path(problem.path).name, problem.message) for problem in found]


@pytest.mark.parametrize("name", ["big.yaml", "big.yml"])
def test_it_is_named_with_its_new_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "big.jsonl").write_text(CASE)
    (tmp_path / name).write_text(FIELDS)
    (problem,) = evalcase.check(tmp_path / "big.jsonl", root=tmp_path)
    assert (problem.code, problem.severity) == ("stray-suite-fields", "warning")
    assert problem.message == "these suite fields are not read: big.jsonl has none"
    assert problem.hint == "if they are its own, name the file big.suite.yaml"
    (tmp_path / name).rename(tmp_path / "big.suite.yaml")
    assert "not read" not in str(said(tmp_path))


# Where a judge takes the place of the comparison with what is expected, a note says so


JUDGE = '[judge]\ntarget = "echo"\n'


def notes_of(folder: Path, cases: str, config: str = JUDGE) -> list[tuple[str, str, int | None]]:
    (folder / "evalcase.toml").write_text(config)
    (folder / "a.eval.yaml").write_text(cases)
    problems = evalcase.check([folder / "a.eval.yaml"], root=folder)
    return [(each.severity, each.code, each.line) for each in problems]


def test_a_note_says_once_that_what_is_expected_is_not_compared(tmp_path: Path) -> None:
    case = "- {input: hi, expected_output: x, criteria: Is polite.}\n"
    assert notes_of(tmp_path, case * 2) == [("note", "not-compared", 1)]
    case = "- {input: hi, expected_output: x, rubrics: [polite], graders: [{contains: a}]}\n"
    assert notes_of(tmp_path, case) == [("note", "not-compared", 1)]
    case = "- turns: [{input: hi, expected_output: x, criteria: Is polite.}]\n"
    assert notes_of(tmp_path, case) == [("note", "not-compared", 1)]


def test_there_is_nothing_to_note_where_it_is_compared_or_nobody_judges(tmp_path: Path) -> None:
    case = "- {input: hi, expected_output: x, criteria: Is polite., graders: [expected]}\n"
    assert notes_of(tmp_path, case) == []
    case = "- {input: hi, expected_output: x, criteria: Is polite., skip: later}\n"
    assert notes_of(tmp_path, case) == []
    assert notes_of(tmp_path, "- {input: hi, expected_output: x, graders: [expected]}\n") == []
    case = "- {input: hi, expected_output: x, criteria: Is polite.}\n"
    assert notes_of(tmp_path, case, config="") == [("warning", "no-judge", 1)]
