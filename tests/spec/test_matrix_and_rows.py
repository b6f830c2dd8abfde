"""The format: `var_files`, `matrix` and `rows`. One test for each thing it says."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.types.problem import Problem
from tests.for_each import for_each
from tests.spec.found import only_problem, places, problems_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evalcase.toml").touch()
    return tmp_path


def cases_of(project: Path, text: str, **files: str | bytes) -> list[dict[str, Any]]:
    """The canonical cases of a suite beside some files, `qa_csv` for `qa.csv`."""
    return [case.to_dict() for case in evalcase.load(write(project, text, **files))]


def write(project: Path, text: str, **files: str | bytes) -> Path:
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (project / name.replace("_", ".")).write_bytes(data)
    path = project / "a.eval.yaml"
    path.write_text(text, "utf-8")
    return path


def problems(project: Path, text: str, **files: str | bytes) -> list[Problem]:
    found = evalcase.check(write(project, text, **files), root=project)
    return [problem for problem in found if problem.code != "nothing-to-grade"]


def only(project: Path, text: str, **files: str | bytes) -> Problem:
    (problem,) = problems(project, text, **files)
    return problem


def ids_of(text: str) -> list[str]:
    return [case.id for case in evalcase.loads(text)]


# `var_files`.


FILE = '{var_files: {policy: p.md}, input: "By <{{policy}}>"}'


def test_a_file_is_utf_8_text(project: Path) -> None:
    """All of it, line ends too, but for a byte order mark; results have its name."""
    (case,) = cases_of(project, FILE, p_md="Grüße,\r\n{{city}}\n")
    assert case["input"][0]["content"] == "By <Grüße,\r\n{{city}}\n>"
    assert case["vars"] == {"policy": "p.md"}
    (case,) = cases_of(project, FILE, p_md=b"\xef\xbb\xbfhi")
    assert case["input"][0]["content"] == "By <hi>"
    problem = only(project, FILE, p_md=b"\xff\xfe")
    assert (problem.code, problem.column) == ("bad-encoding", 22)


def test_a_file_is_there_inside_the_project_and_regular(project: Path) -> None:
    assert only(project, FILE).code == "missing-file"
    (project / "p.md").symlink_to("/etc/passwd")
    assert only(project, FILE).code == "file-outside-project"
    (project / "p.md").unlink()
    (project / "p.md").symlink_to("/dev/zero")
    assert only(project, FILE).code == "file-outside-project"
    (project / "p.md").unlink()
    os.mkfifo(project / "p.md")
    assert only(project, FILE).code == "bad-file"


def test_a_file_is_in_the_hash_of_its_case(project: Path) -> None:
    """So a run that is resumed asks again when the text has changed."""
    from evalcase.runner.hashes import hash_question

    path = write(project, FILE, p_md="one")
    (first,) = evalcase.load(path)
    (project / "p.md").write_text("two")
    (second,) = evalcase.load(path)
    assert first.id != second.id
    assert hash_question(first) != hash_question(second)


# `matrix`.


def test_a_matrix_makes_a_case_of_every_combination_with_ids_by_label() -> None:
    text = """
id: weather
vars: {city: Bergen}
matrix: {lang: [de, en], prompt: {short: Be brief., long: Tell all.}}
input: "{{prompt}} Weather in {{city}}? {{lang}}"
"""
    suite = evalcase.loads(text)
    assert [case.id for case in suite] == [
        "weather:lang=de,prompt=short",
        "weather:lang=de,prompt=long",
        "weather:lang=en,prompt=short",
        "weather:lang=en,prompt=long",
    ]
    assert suite.cases[1].input[0].content == "Tell all. Weather in Bergen? de"
    assert suite.cases[1].vars == {"city": "Bergen", "lang": "de", "prompt": "long"}


def test_only_a_matrix_multiplies() -> None:
    """A list in `vars` is a value like any other."""
    (case,) = evalcase.loads('{vars: {a: [1, 2]}, input: hi, expected_output: "{{a}}"}')
    assert case.expected_output[0].content == [1, 2]


@for_each(
    ("value", "label"),
    [("de", "de"), ("de-AT.2_x", "de-AT.2_x"), ("größe", "größe"), ("7", "7"), ("0.5", "0.5"),
     ("true", "true"), ("null", "null"), ("a" * 20, "a" * 20)],
)  # fmt: skip
def test_a_short_plain_value_is_its_own_label(value: str, label: str) -> None:
    text = '{id: a, matrix: {v: [VALUE]}, input: hi, expected_output: ["{{v}}"]}'
    assert ids_of(text.replace("VALUE", value)) == [f"a:v={label}"]


@for_each(
    "value",
    ['"a b"', "aaaaabbbbbcccccddddde", '"[x]"', '"a*"', '""', "[1]", "{x: 1}", '"a/b"', '"a,b=c"'],
)
def test_any_other_value_is_six_hex_digits(value: str) -> None:
    """So an id never has brackets, or anything else that means something in a glob."""
    text = '{id: a, matrix: {v: [VALUE]}, input: hi, expected_output: ["{{v}}"]}'
    (id,) = ids_of(text.replace("VALUE", value))
    assert re.fullmatch("a:v=[0-9a-f]{6}", id)


def test_values_that_look_the_same_have_ids_of_their_own() -> None:
    assert ids_of('{id: a, matrix: {v: [1, "1"]}, input: "x {{v}}"}') == ["a:v=1", "a:v=1-2"]


def test_a_value_that_stands_there_twice_is_an_error_at_its_place() -> None:
    text = '{id: a, matrix: {v: [x, y, x]}, input: "x {{v}}"}'
    assert places(text) == [("bad-value", 1, 28, 1, 29)]


def test_a_case_without_an_id_gets_one_of_its_input_as_it_is_written() -> None:
    """It is the same for all of its cases, so a glob can name them."""
    ids = ids_of('{matrix: {v: [a, b]}, input: "Is {{v}} good?"}')
    assert re.fullmatch("is-v-good-[0-9a-f]{6}:v=a", ids[0])
    assert ids[1] == ids[0].replace("=a", "=b")
    twice = ids_of('[{matrix: {v: [a]}, input: "{{v}}"}, {matrix: {v: [a]}, input: "{{v}}"}]')
    assert twice[1].partition(":")[0] == f"{twice[0].partition(':')[0]}-2"


def test_an_id_that_another_case_has_is_an_error_with_both_places() -> None:
    problem = only_problem(
        '- {id: "a:v=1", input: x}\n- {id: a, matrix: {v: [1]}, input: "x {{v}}"}\n'
    )
    assert (problem.code, problem.line) == ("duplicate-id", 2)
    assert "line 1" in problem.message


def test_a_matrix_of_the_suite_multiplies_every_case_and_the_case_wins() -> None:
    """Name by name: another of its own multiplies too, a value of its own takes its place."""
    text = """
matrix: {lang: [de, en]}
cases:
  - {id: a, input: "{{lang}}"}
  - {id: b, matrix: {lang: [fr], n: [1, 2]}, input: "{{lang}} {{n}}"}
  - {id: c, vars: {lang: it}, input: "{{lang}}"}
"""
    assert ids_of(text) == ["a:lang=de", "a:lang=en", "b:lang=fr,n=1", "b:lang=fr,n=2", "c"]


def test_a_name_has_one_value_at_one_level() -> None:
    text = '{vars: {a: 1}, matrix: {a: [1]}, input: "x {{a}}"}'
    assert places(text) == [("conflicting-fields", 1, 25, 1, 26)]


@for_each(("value", "code"), [("[]", "empty-list"), ("{}", "empty-list"), ("de", "wrong-type")])
def test_a_matrix_has_several_values_for_a_name(value: str, code: str) -> None:
    assert only_problem(f'{{matrix: {{v: {value}}}, input: "x {{{{v}}}}"}}').code == code


def test_a_matrix_makes_at_most_100_000_cases_of_one() -> None:
    """It is counted before any is made."""
    hundred = list(range(100))
    matrix = {"x": hundred, "y": hundred, "z": hundred}
    text = json.dumps({"id": "a", "matrix": matrix, "input": "{{x}}{{y}}{{z}}"})
    problem = only_problem(text)
    assert (problem.code, problem.severity) == ("too-many-cases", "error")
    assert "1,000,000 cases of one; the most is 100,000" in problem.message


def test_a_mistake_in_many_cases_of_one_text_is_told_once() -> None:
    text = '{matrix: {v: [1, 2, 3], w: [1, 2, 3]}, input: "x {{v}} {{w}} {{u}}", tagz: [a]}'
    assert [each.code for each in problems_of(text)] == ["unknown-variable"]
    text = '{matrix: {v: [1, 2, 3]}, input: "x {{v}}", tagz: [a]}'
    assert [each.code for each in problems_of(text)] == ["unknown-field"]


# `rows`.


ROWS = '{id: qa, rows: qa.csv, input: "{{question}}", expected_output: "{{answer}}"}'
JSONL = ROWS.replace("csv", "jsonl")


def test_every_row_of_a_table_is_a_case(project: Path) -> None:
    """The columns of CSV are text."""
    cases = cases_of(project, ROWS, qa_csv="id,question,answer\none,What?,42\n2,Who?,true\n")
    assert [case["id"] for case in cases] == ["qa:one", "qa:2"]
    assert [case["expected_output"][0]["content"] for case in cases] == ["42", "true"]
    assert cases[0]["vars"] == {"id": "one", "question": "What?", "answer": "42"}


def test_rows_of_jsonl_have_values_of_any_type(project: Path) -> None:
    rows = '{"id": 7, "question": "What?", "answer": {"a": [1]}}\n'
    (case,) = cases_of(project, JSONL, qa_jsonl=rows)
    assert case["id"] == "qa:7"
    assert case["expected_output"][0]["content"] == {"a": [1]}


def test_a_row_without_an_id_has_a_hash_of_the_row(project: Path) -> None:
    """It stays the same when rows are moved; rows that say the same are numbered."""
    first = cases_of(project, ROWS, qa_csv="question,answer\na,1\nb,2\n")
    again = cases_of(project, ROWS, qa_csv="question,answer\nb,2\na,1\na,1\n")
    assert all(re.fullmatch("qa:[0-9a-f]{6}", case["id"]) for case in first)
    assert [case["id"] for case in again] == [
        first[1]["id"], first[0]["id"], f"{first[0]['id']}-2"
    ]  # fmt: skip


def test_two_rows_with_one_id_are_an_error_that_names_the_row(project: Path) -> None:
    problem = only(project, ROWS, qa_csv="id,question,answer\na,x,1\nb,y,2\na,z,3\n")
    assert (problem.code, problem.line) == ("duplicate-id", 1)
    assert "qa.csv:4" in problem.message


def test_rows_and_a_matrix_multiply(project: Path) -> None:
    text = '{id: qa, rows: qa.csv, matrix: {lang: [de, en]}, input: "{{q}} {{lang}}"}'
    cases = cases_of(project, text, qa_csv="id,q\n1,a\n2,b\n")
    ids = [case["id"] for case in cases]
    assert ids == ["qa:1,lang=de", "qa:1,lang=en", "qa:2,lang=de", "qa:2,lang=en"]


def test_rows_of_the_suite_hold_for_every_case_and_the_case_wins(project: Path) -> None:
    text = """
rows: qa.csv
cases:
  - {id: a, input: "{{q}}"}
  - {id: b, vars: {q: own}, input: "{{q}} {{id}}"}
  - {id: c, rows: qa.jsonl, input: "{{q}}"}
"""
    cases = cases_of(project, text, qa_csv="id,q\n1,x\n", qa_jsonl='{"id": "j", "q": "y"}')
    found = [(case["id"], case["input"][0]["content"]) for case in cases]
    assert found == [("a:1", "x"), ("b:1", "own 1"), ("c:j", "y")]


def test_a_column_and_a_variable_of_one_name_are_an_error(project: Path) -> None:
    text = '{id: a, rows: qa.csv, vars: {q: 1}, input: "{{q}}"}'
    assert only(project, text, qa_csv="q\nx\ny\n").code == "conflicting-fields"


@pytest.mark.parametrize(
    "table",
    [
        b'\xef\xbb\xbfquestion,answer\r\n"a, ""b""\r\nc",1\r\n',
        b'question;answer\n"a, ""b""\r\nc";1\n',
        b'question\tanswer\n"a, ""b""\r\nc"\t1',
        b'answer,question\n\n1,"a, ""b""\r\nc"\n\n',
    ],
)
def test_csv_is_read_as_programs_write_it(project: Path, table: bytes) -> None:
    """With a byte order mark, quotes, line ends in cells, blank lines, and other separators."""
    (case,) = cases_of(project, ROWS, qa_csv=table)
    assert case["input"][0]["content"] == 'a, "b"\r\nc'
    assert case["expected_output"][0]["content"] == "1"


def test_an_empty_cell_is_an_empty_text(project: Path) -> None:
    text = '{id: qa, rows: qa.csv, input: "<{{q}}> {{a}}"}'
    (case,) = cases_of(project, text, qa_csv="q,a\n,x\n")
    assert case["input"][0]["content"] == "<> x"


@pytest.mark.parametrize(
    ("table", "code", "line"),
    [
        ("question,answer\na,1\nb\n", "syntax", 3),
        ("question,answer\na,1,2\n", "syntax", 2),
        ('question,answer\n"a,1\n', "syntax", 2),
        ("question,answer,answer\na,1,2\n", "duplicate-key", 1),
    ],
)
def test_what_is_wrong_in_a_table_is_told_at_its_place_there(
    project: Path, table: str, code: str, line: int
) -> None:
    found = problems(project, ROWS, qa_csv=table)  # and not that there are no rows
    assert [(each.code, Path(each.path).name, each.line) for each in found] == [
        (code, "qa.csv", line)
    ]


def test_what_is_wrong_in_lines_is_told_at_its_place_there(project: Path) -> None:
    rows = '{"question": "a", "answer": 1}\n{"question": \n[1]\n{"question": 1, "question": 2}\n'
    found = problems(project, JSONL, qa_jsonl=rows)
    assert [(each.code, each.line) for each in found] == [
        ("syntax", 2), ("wrong-type", 3), ("duplicate-key", 4)
    ]  # fmt: skip


def test_a_row_that_lacks_a_value_is_named(project: Path) -> None:
    rows = '{"question": "a", "answer": 1}\n{"question": "b"}\n'
    problem = only(project, JSONL, qa_jsonl=rows)
    assert (problem.code, problem.column) == ("unknown-variable", 67)
    assert "qa.jsonl:2" in problem.message


def test_a_table_without_rows_is_an_error(project: Path) -> None:
    for table in ("", "question,answer\n"):
        assert only(project, ROWS, qa_csv=table).code == "no-cases"
    assert only(project, JSONL, qa_jsonl="").code == "no-cases"


@pytest.mark.parametrize(
    ("value", "code"), [("qa.json", "bad-value"), ("qa", "bad-value"), ("[{q: 1}]", "wrong-type")]
)
def test_a_table_is_csv_or_jsonl(project: Path, value: str, code: str) -> None:
    assert only(project, ROWS.replace("qa.csv", value)).code == code


def test_a_table_of_which_no_column_is_used_warns(project: Path) -> None:
    """Of single columns nothing is said: a table is often made for more than one thing."""
    problem = only(project, "{id: qa, rows: qa.csv, input: hi}", qa_csv="a,b\n1,2\n")
    assert (problem.code, problem.severity) == ("unused-variable", "warning")
    assert problems(project, '{id: qa, rows: qa.csv, input: "{{a}}"}') == []


# All of it, everywhere.


def test_jsonl_says_the_same_as_yaml(project: Path) -> None:
    """With the fields of the suite in the file beside it, and their problems told there."""
    system = {"role": "system", "content": "{{a}} {{m}}"}
    about: dict[str, Any] = {"vars": {"a": "x"}, "matrix": {"m": [1, 2]}, "input": system}
    lines = [{"id": "one", "input": "{{a}}"}, {"id": "two", "rows": "qa.csv", "input": "{{q}}"}]
    (project / "qa.csv").write_text("id,q\n1,x\n")
    (project / "b.eval.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (project / "b.suite.yaml").write_text(json.dumps(about))
    of_lines = evalcase.load(project / "b.eval.jsonl")
    (project / "b.eval.yaml").write_text(json.dumps({**about, "cases": lines}))
    assert of_lines == evalcase.load(project / "b.eval.yaml")
    assert [case.id for case in of_lines][-1] == "two:1,m=2"
    assert [span and span.line for span in map(of_lines.place, ("one:m=2", "two:1,m=1"))] == [1, 2]
    assert [case.id for case in evalcase.iter_cases(project / "b.eval.jsonl")] == [
        case.id for case in of_lines
    ]
    about |= {"vars": {"a": "x", "unused": 1}, "input": "{{a}} {{m}} {{b}}"}
    (project / "b.suite.yaml").write_text(json.dumps(about))
    found = evalcase.check(project / "b.eval.jsonl", root=project)
    told = [each for each in found if each.code != "nothing-to-grade"]
    assert sorted((each.code, Path(each.path).name) for each in told) == [
        ("unknown-variable", "b.suite.yaml"), ("unused-variable", "b.suite.yaml")
    ]  # fmt: skip


def test_the_canonical_form_of_all_of_it_is_read_as_it_is(project: Path) -> None:
    text = '{id: qa, rows: qa.csv, matrix: {m: {a: "{{q}}"}}, input: "{{q}} {{m}}"}'
    suite = evalcase.load(write(project, text, qa_csv="q\n{{m}}\n"))
    assert evalcase.loads(json.dumps(suite.to_dict()), "json") == suite


@pytest.mark.parametrize(
    ("text", "table", "said"),
    [
        (
            '{input: "{{q}}", rows: t.csv, graders: [{contains: "{{want}}"}]}',
            "q,want\nx,1\ny,\nz,3\nw,\n",
            "the argument of `contains` is empty, for the row at t.csv:3",
        ),
        (
            'rows: t.csv\ngraders: [{contains: "{{want}}"}]\ncases: [{input: "{{q}}"}]',
            "q,want\nx,1\ny,\n",
            "the argument of `contains` is empty, for the row at t.csv:3",
        ),
        (
            '{input: "{{q}}", rows: t.jsonl, graders: [{length: {min: 3, max: "{{n}}"}}]}',
            '{"q": "x", "n": 3}\n{"q": "y", "n": 2}\n',
            "`min` is 3, and `max` only 2, for the row at t.jsonl:2",
        ),
    ],
)
def test_an_error_that_a_row_makes_names_the_first_such_row(
    project: Path, text: str, table: str, said: str
) -> None:
    name = "t_jsonl" if "jsonl" in text else "t_csv"
    found = only(project, text, **{name: table}).message
    assert found.replace(f"{project}{os.sep}", "") == said
