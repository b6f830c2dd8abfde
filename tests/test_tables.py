"""What came of a run, as rows for data frames."""

import json
import subprocess
import sys

import pytest

import evalcase
from evalcase import Case

pytestmark = pytest.mark.usefixtures("folder")


def agent(question: str) -> str:
    if question == "crash":
        raise ValueError("boom")
    return question


CASES = [
    Case(id="good", input="<b>4</b>", expected_output="<b>4</b>", tags=["a", "b"]),
    Case(id="bad", input="5", expected_output="<script>alert(1)</script>"),
    Case(id="broken", input="crash", graders=[{"length": {"max": 3}}]),
    Case(id="later", input="x", expected_output="x", skip=True),
]


def test_a_row_for_each_trial_with_the_columns_of_reports() -> None:
    done = evalcase.evaluate(
        CASES, agent, graders=[{"length": {"max": 99}}], repeat=2, concurrency=1
    )
    rows = done.to_dicts()
    assert [(row["case"], row["repeat"], row["verdict"]) for row in rows] == [
        ("good", 1, "passed"), ("good", 2, "passed"), ("bad", 1, "failed"), ("bad", 2, "failed"),
        ("broken", 1, "errored"), ("broken", 2, "errored"), ("later", 1, "skipped"),
    ]  # fmt: skip
    assert len({tuple(row) for row in rows}) == 1  # each has every column
    assert rows[0]["score: length"] == 1.0
    assert rows[0]["tags"] == "a, b"
    assert rows[4]["reason"] == "ValueError: boom"
    assert all(type(cell) in (str, int, float, type(None)) for row in rows for cell in row.values())


def test_a_run_that_is_read_has_its_tables_whatever_was_imported_before() -> None:
    done = evalcase.evaluate(CASES, agent)
    program = """
import json, sys
from evalcase.report.evaluated import read_evaluated
from evalcase.store.folder import read_run
from evalcase.store.stored import StoredRun

assert "evalcase.cli" not in sys.modules
done = read_evaluated(StoredRun(read_run(sys.argv[1])))
print(json.dumps(done.to_dicts()))
"""
    command = [sys.executable, "-c", program, done.path]
    read = subprocess.run(command, capture_output=True, check=True)
    assert json.loads(read.stdout) == done.to_dicts()


def test_a_notebook_shows_a_table_in_which_nothing_of_the_answers_is_html() -> None:
    html = evalcase.evaluate(CASES, agent)._repr_html_()
    assert "1 passed, 1 failed, 1 errored, 1 skipped; pass rate 33.3%" in html
    assert html.count("<tr>") == 1 + len(CASES)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>" not in html
