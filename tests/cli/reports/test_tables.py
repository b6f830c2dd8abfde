import csv
import io
import json

import pytest
from pyarrow import parquet

from tests.run.project import Project, case


@pytest.fixture
def run(project: Project) -> Project:
    project.suite(
        case("a", "say =1+1", tags=["x", "y"], metadata={"k": 1}),
        {"id": "b", "input": "say -2", "graders": [{"contains": "2"}, {"length": {"max": 9}}]},
        case("c", "raise =cmd|' /C calc'!A0"),
    )
    project.run("run")
    return project


def read_csv(project: Project, *options: str) -> list[dict[str, str]]:
    done = project.run("report", "--format", "csv", *options)
    assert done.code == 0, done
    return list(csv.DictReader(io.StringIO(done.out, newline="")))


@pytest.fixture
def broken_off(project: Project) -> Project:
    turns = [{"input": "cost 0.01"}, {"input": "raise boom"}, {"input": "say never"}]
    project.suite({"id": "talk", "turns": turns, "graders": ["json"]})
    project.run("run")
    return project


def test_a_conversation_that_broke_off_shows_what_was_said_then(broken_off: Project) -> None:
    (row,) = read_csv(broken_off)
    assert (row["verdict"], row["input"]) == ("errored", "raise boom")


def test_a_conversation_that_broke_off_has_what_is_written_for_it_as_an_object(
    broken_off: Project,
) -> None:
    row = json.loads(broken_off.run("report", "--format", "jsonl").out)
    assert [message["content"] for message in row["input"]] == [
        "cost 0.01", "raise boom", "say never"
    ]  # fmt: skip
    assert (row["turns"], row["answer"], row["user"]) == ([], None, None)


def test_a_row_is_a_trial_with_a_column_for_each_grader(run: Project) -> None:
    rows = read_csv(run)
    assert [(row["case"], row["verdict"]) for row in rows] == [
        ("a", "failed"), ("b", "passed"), ("c", "errored"),
    ]  # fmt: skip
    assert [row["score: contains"] for row in rows] == ["", "1", ""]
    assert rows[0]["score: expected"] == "0"
    assert (rows[0]["tags"], rows[0]["metadata"]) == ("x, y", '{"k": 1}')


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-2",
        "@SUM(A1)",
        "\t=1",
        " =1",
        "\r=1",
        "\uff1d1",
        "\u200b=1",
        "\ufeff=1",
        "\xad\u2060@x",
    ],
)
def test_a_text_that_a_spreadsheet_would_calculate_is_kept_from_it(
    project: Project, text: str
) -> None:
    project.suite({"id": "a", "input": text, "expected_output": text}, target="echo")
    project.run("run")
    (row,) = read_csv(project)
    assert row["answer"].startswith("'")
    assert row["answer"][1:].strip() == text.strip()


def test_parquet_has_the_same_rows_with_types(run: Project) -> None:
    done = run.run("report", "--format", "parquet", "-o", "out.parquet")
    assert done.code == 0, done
    table = parquet.read_table(run.path / "out.parquet")
    assert table.column("case").to_pylist() == ["a", "b", "c"]
    assert table.column("answer").to_pylist() == ["=1+1", "-2", None]
    assert str(table.schema.field("duration_s").type) == "double"
    assert str(table.schema.field("repeat").type) == "int64"
    assert table.column("score: contains").to_pylist() == [None, 1.0, None]
