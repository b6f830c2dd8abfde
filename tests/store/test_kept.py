from pathlib import Path
from typing import Any

from evalcase.report.evaluated import read_evaluated
from evalcase.store.folder import Run, RunAbout
from evalcase.store.index import GradedBy, read_index
from evalcase.store.rows import End, GradingRow
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case, canonical_case
from evalcase.types.result import CaseVerdict, Regraded, Result, Verdict
from evalcase.types.value import encode_object
from tests.for_each import for_each
from tests.store.rows import case_row, dict_of, encode_row, end_row
from tests.store.samples import result, row

SUITE = "evals/math.eval.yaml"


def kept(folder: Path, rows: list[dict[str, Any]], grading: int | None = None) -> StoredRun:
    (folder / "journal.jsonl").write_bytes(b"".join(map(encode_row, rows)))
    return StoredRun(Run("id", str(folder), "", RunAbout({}, trials=9)), grading)


def trial(number: int, repeat: int, verdict: Verdict, **changes: Any) -> Result:
    key = result(number).key._replace(repeat=repeat)
    return result(number, key=key, verdict=verdict, **changes)


def rows_of(*results: Result) -> list[dict[str, Any]]:
    return [dict_of(each) for each in results]


def case(text: str) -> Case:
    return canonical_case({"id": "case-1", "input": [{"role": "user", "content": text}]})


def test_a_verdict_per_case_when_its_last_trial_has_come(tmp_path: Path) -> None:
    many = {"repeats": 3, "pass_rate": 0.5}
    run = kept(tmp_path, rows_of(
        trial(1, 1, "failed", **many), trial(2, 1, "passed"), trial(1, 2, "passed", **many),
        trial(3, 2, "failed", repeats=2), trial(1, 3, "passed", **many),
    ))  # fmt: skip
    target = result(1).key.target
    assert list(run.cases()) == [
        CaseVerdict(SUITE, "case-2", target, "passed", 1, 1, 1, 1.0, 0.0),
        CaseVerdict(SUITE, "case-3", target, None, 0, 1, 2, 1.0, 0.0),
        CaseVerdict(SUITE, "case-1", target, "passed", 2, 3, 3, 0.5, 0.0),
    ]
    assert run.totals.unfinished == 1
    assert (run.totals.cases.total, run.totals.trials.total) == (2, 5)


def graded_twice() -> list[dict[str, Any]]:
    before = result(1, verdict="failed")
    again = Regraded(before.key, "passed", "new", 2)
    return [
        case_row(SUITE, case("old")), *rows_of(before), {"type": "end", "status": "completed"},
        {"type": "grading", "number": 2}, case_row(SUITE, case("new")),
        {"type": "regraded", **encode_object(again)},
    ]  # fmt: skip


@for_each(
    ("grading", "verdict", "text"),
    [(None, "passed", "new"), (1, "failed", "old"), (2, "passed", "new")],
)
def test_each_grading_has_its_verdicts_and_its_cases(
    tmp_path: Path, grading: int | None, verdict: str, text: str
) -> None:
    with kept(tmp_path, graded_twice(), grading) as run:
        assert run.gradings == 2
        assert [each.verdict for each in run.results()] == [verdict]
        found = run.find_case(SUITE, "case-1")
        assert found is not None
        assert found.input[0].content == text
        assert read_evaluated(run).grading == grading
        assert [each.verdict for each in read_evaluated(run).cases] == [verdict]


@for_each(
    "end",
    [
        End("completed", duration_s=1.5, trials=1),
        End("stopped", "the cap is reached", cap_usd=0.5),
        End("stopped", "failed fast", failed_fast=True),
        End("interrupted"),
    ],
)
def test_the_end_is_read_as_it_was_written(tmp_path: Path, end: End) -> None:
    run = kept(tmp_path, [row(1), end_row(end)])
    assert run.end == end
    evaluated = read_evaluated(run)
    assert (evaluated.status, evaluated.notice, evaluated.duration_s) == (
        end.status, end.notice, end.duration_s
    )  # fmt: skip


# Gradings


def journal(tmp_path: Path, *rows: dict[str, Any]) -> str:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"".join(map(encode_row, rows)))
    return str(path)


def test_a_grading_is_told_as_it_was_begun(tmp_path: Path) -> None:
    resumed = GradingRow(2, "2026-03-01", "resume", {"s.eval.yaml": "abc"})
    named = GradingRow(3, "2026-03-02", "grade", graders=("contains: Lima",), recorded=True)
    ends = [end_row(End("completed", graded=number)) for number in (2, 3)]
    path = journal(tmp_path, dict_of(resumed), ends[0], dict_of(named), ends[1])
    assert read_index(path, 1).graded_by() == GradedBy(1, 3)
    assert read_index(path, 2).graded_by() == GradedBy(2, 3, resumed=True)
    newest = GradedBy(3, 3, ("contains: Lima",), recorded=True)
    assert read_index(path).graded_by() == newest
    run = StoredRun(Run("id", str(tmp_path), "", RunAbout({})))
    assert run.graded_suites(frozenset({"s.eval.yaml"})) == {"s.eval.yaml": "abc"}
    assert run.graded_suites(frozenset({"other"})) is None
