import stat
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import evalcase
from evalcase import Case, Suite, SuiteError
from evalcase.api import write_suite
from evalcase.config.catalogue import Catalogue
from evalcase.format.writer import shorten
from tests.for_each import for_each


def written(cases: Any, folder: Path, name: str = "sums.eval.yaml") -> str:
    """What is written of cases, which loads as the same."""
    path = folder / name
    write_suite(cases, path, overwrite=True)
    loaded = evalcase.load(path)
    given = cases if isinstance(cases, Suite) else Suite("", {"name": "sums"}, tuple(cases))
    assert loaded.to_dict() == given.to_dict()
    return path.read_text(encoding="utf-8")


def test_cases_made_in_code_become_a_file_as_a_person_writes_it(tmp_path: Path) -> None:
    cases = [
        Case(
            id="sum", description="Two and two", tags=["smoke"], target="echo",
            input="What is 2+2?", expected_output="4",
            graders=["json", {"contains": "4"}, {"length": {"max": 20}}],
            metadata={"source": {"page": 3}},
        ),
        Case(
            id="risk", input={"question": "?", "k": 3},
            expected_output={"riskLevel": "High", "on": "no"}, target="echo", graders=["json"],
            repeat={"times": 5, "pass_rate": 0.8}, rubrics=["Says why, and which rule it is."],
        ),
    ]  # fmt: skip
    assert written(cases, tmp_path) == dedent("""\
        cases:
          - id: sum
            description: Two and two
            tags: [smoke]
            target: echo
            input: What is 2+2?
            expected_output: "4"
            graders:
              - json
              - contains: "4"
              - length: {max: 20}
            metadata:
              source:
                page: 3

          - id: risk
            target: echo
            input:
              question: "?"
              k: 3
            expected_output:
              riskLevel: High
              "on": "no"
            rubrics:
              - Says why, and which rule it is.
            graders: [json]
            repeat: {times: 5, pass_rate: 0.8}
        """)


@for_each(
    ("field", "value", "short"),
    [
        ("input", "yes", "yes"),
        ("input", {"role": "system", "content": "x"}, {"role": "system", "content": "x"}),
        ("input", {"a": 1}, {"a": 1}),
        ("input", {"role": "user", "content": {"role": "user"}},
            {"role": "user", "content": {"role": "user"}}),
        ("input", {"role": "user", "content": 5}, {"role": "user", "content": 5}),
        ("input", {"role": "user", "content": "x", "name": "Bo"},
            {"role": "user", "content": "x", "name": "Bo"}),
        ("input", {"content": "x", "role": "user"}, {"content": "x", "role": "user"}),
        ("expected_output", 4, 4),
        ("expected_output", [1, 2], [1, 2]),
        ("expected_output", {"role": "assistant", "content": None},
            {"role": "assistant", "content": None}),
        ("expected_output", {"role": "assistant", "content": []},
            {"role": "assistant", "content": []}),
        ("expected_output", {"role": "tool", "content": "x"}, {"role": "tool", "content": "x"}),
        ("repeat", 3, 3),
        ("targets", ["a", "b"], ["a", "b"]),
        ("rubrics", [{"text": "x"}, {"text": "y", "weight": 2}], ["x", {"text": "y", "weight": 2}]),
    ],
)  # fmt: skip
def test_a_short_form_is_used_where_it_means_the_same(field: str, value: Any, short: Any) -> None:
    case = Case(**{"id": "a", "input": "x", field: value})
    assert shorten(case.to_dict(), Catalogue())[field] == short


def test_the_name_is_written_where_the_file_has_another(tmp_path: Path) -> None:
    cases = (Case(id="a", input="x", expected_output="x"),)
    assert written(Suite("", {"name": "sums"}, cases), tmp_path).startswith("cases:")
    text = written(Suite("", {"name": "no", "description": "d"}, cases), tmp_path)
    assert text.startswith('name: "no"\ndescription: d\n\ncases:\n')


def test_a_suite_that_was_loaded_is_written_the_same(tmp_path: Path) -> None:
    source = dedent("""\
        name: capitals

        cases:
          - id: peru
            tags: [smoke]
            target: echo
            input: What is the capital of Peru?
            expected_output: Lima
            graders:
              - contains: Lima
            threshold: 0.5

          - id: again
            input: |
              Once more:
              which one?
        """)
    assert written(evalcase.loads(source), tmp_path) == source


def test_nothing_is_overwritten_unless_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.eval.yaml"
    path.write_text("mine")
    cases = [Case(id="a", input="x", expected_output="x")]
    with pytest.raises(FileExistsError):
        write_suite(cases, path)
    assert path.read_text() == "mine"
    path.chmod(0o640)
    write_suite(cases, path, overwrite=True)
    assert evalcase.load(path)["a"] == cases[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


@for_each("name", ["a.json", "a.jsonl", "a.txt", "a"])
def test_it_writes_yaml_and_nothing_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"\.yaml or \.yml"):
        write_suite([Case(id="a", input="x")], tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_no_file_could_say_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    twice = [Case(id="a", input="x"), Case(id="a", input="y")]
    missing = [Case(id="a", input=[{"role": "user", "content": [{"type": "file", "path": "p"}]}])]
    for cases, code in (([], "no-cases"), (twice, "duplicate-id"), (missing, "missing-file")):
        with pytest.raises(SuiteError) as caught:
            write_suite(cases, tmp_path / "a.eval.yaml")
        assert code in {problem.code for problem in caught.value.problems}
    with pytest.raises(ValueError, match="no file can have"):
        write_suite(Suite("", {"name": "x", "input": "y"}, (twice[0],)), tmp_path / "a.yaml")
    assert not list(tmp_path.iterdir())


def test_conversations_are_written_as_a_person_would(tmp_path: Path) -> None:
    text = """\
cases:
  - id: written
    turns:
      - Hi
      - input: And in winter?
        expected_output: Cold.
        graders:
          - length: {max: 5}
    stop_on_failure: true

  - id: played
    user:
      goal: Cancel it.
      target: simulator
      max_turns: 3
      facts: [It is late.]
      first: Hello
    criteria: Cancels it.
"""
    suite = evalcase.loads(text)
    path = tmp_path / "talks.eval.yaml"
    write_suite(suite.cases, path)
    assert path.read_text() == text
