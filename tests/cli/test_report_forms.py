from __future__ import annotations

import json

import pytest

from tests.cli.reported import trials
from tests.run.project import Project, case

KEYS = [
    "suite", "case", "target", "repeat", "verdict", "score", "input", "expected_output", "answer",
    "grades", "failure", "usage", "cost_usd", "duration_s", "cached", "scrubbed", "truncated",
    "earlier",
    "steps", "steps_cut", "trace", "tags", "metadata", "conversation_id", "vars", "run",
    "run_status", "run_trials", "run_folder", "failed_of", "mixed", "repeats", "case_verdict",
    "pass_rate_needed", "question_hash", "answer_hash", "grading_hash",
]  # fmt: skip


def test_jsonl_has_exactly_the_keys_of_the_design(project: Project) -> None:
    project.suite(
        case("a", "cost 0.5", tags=["x"], metadata={"riskLevel": 1}), case("b", "say no", repeat=2),
        case("c", "raise x"), case("d", skip=True),
    )  # fmt: skip
    run = project.run("run", "--json").json["run"]
    rows = trials(project.run("report", "--format", "jsonl"))
    assert all(list(row) == KEYS for row in rows)
    by_case = {(row["case"], row["repeat"]): row for row in rows}
    assert len(by_case) == len(rows) == 5
    a, b, c, d = (by_case[name, 1] for name in "abcd")
    assert (a["run"], a["suite"], a["target"], a["cost_usd"]) == (run, "s.eval.yaml", "agent", 0.5)
    assert (a["tags"], a["metadata"]) == (["x"], {"riskLevel": 1})
    assert a["input"] == [{"role": "user", "content": "cost 0.5"}]
    assert a["expected_output"] == a["answer"] == [{"role": "assistant", "content": "ok"}]
    assert (b["verdict"], b["case_verdict"], b["score"], b["pass_rate_needed"]) == (
        "failed", "failed", 0.0, 1.0
    )  # fmt: skip
    assert list(b["grades"][0]) == ["grader", "score", "passed", "reason", "details"]
    assert b["grades"][0]["details"] == {"expected": "ok", "got": "no"}
    assert (c["answer"], c["grades"], c["failure"]["kind"]) == (None, [], "exception")
    assert (c["answer_hash"], c["score"]) == (None, None)
    assert (d["verdict"], d["failure"]["message"]) == ("skipped", "skipped")
    same = by_case["b", 2]
    assert same["answer_hash"] == b["answer_hash"] != a["answer_hash"]


def test_json_is_what_run_prints_with_the_cases(project: Project) -> None:
    project.suite(
        case("a"), case("b", "say no"), case("c", repeat={"times": 2, "pass_rate": 0.5})
    )  # fmt: skip
    printed = project.run("run", "--json").json
    done = project.run("report", "--format", "json")
    data = json.loads(done.out)
    found = data.pop("cases")
    figures, told = data.pop("figures"), printed.pop("figures")
    assert data == printed
    assert figures["all"].items() >= told["all"].items(), "what the totals tell"
    assert sorted(found, key=lambda each: each["case"]) == [
        {"suite": "s.eval.yaml", "case": id, "target": "agent", "verdict": verdict,
         "passed": passed, "trials": count, "repeats": count, "pass_rate_needed": rate,
         "score": score}
        for id, verdict, passed, count, rate, score in [
            ("a", "passed", 1, 1, 1.0, 1.0), ("b", "failed", 0, 1, 1.0, 0.0),
            ("c", "passed", 2, 2, 0.5, 1.0),
        ]
    ]  # fmt: skip


def test_filters_choose_cases_by_verdict_and_target(project: Project) -> None:
    project.suite(
        case("a"), case("b", "say no"), case("c", "raise x"), targets=["agent", "other"]
    )  # fmt: skip
    project.run("run", "--quiet")

    def chosen(*options: str) -> list[str]:
        rows = trials(project.run("report", "--format", "jsonl", *options))
        return sorted(f"{row['case']} {row['target']}" for row in rows)

    assert chosen("--verdict", "failed") == ["b agent"]
    assert chosen("--target", "other") == ["a other", "b other", "c other"]
    assert chosen("--case", "a") == ["a agent", "a other"]
    assert chosen("--verdict", "failed", "--verdict", "errored") == ["b agent", "c agent"]
    assert chosen("--verdict", "skipped") == []
    text = project.run("report", "--target", "other").out
    assert "3 passed, pass rate 100.0%" in text
    text = project.run("report", "--verdict", "errored").out
    assert "errored s.eval.yaml: c" in text
    assert "failed s.eval.yaml" not in text
    assert "4 passed, 1 failed, 1 errored" in text, "no count is changed by what is looked at"
    data = json.loads(project.run("report", "--format", "json", "--case", "b").out)
    assert (data["total"], len(data["cases"])) == (2, 2)


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--case", "totl"], "has no case `totl`; did you mean `total`?"),
        (["--target", "agnt"], "has no target `agnt`; did you mean `agent`?"),
        (["--case", "total", "--target", "other"], "case `total` was not run at `other`"),
    ],
)
def test_a_filter_that_matches_nothing_is_an_error_that_names_the_nearest(
    project: Project, form: str, options: list[str], said: str
) -> None:
    project.suite(case("total", target="agent"), case("sum", target="other"))
    project.run("run", "--quiet")
    done = project.run("report", "--format", form, "-o", "out", *options)
    assert (done.code, said in done.err) == (2, True), done
    assert not (project.path / "out").exists()


def test_cases_come_in_the_order_of_their_suites_whatever_order_they_finished_in(
    project: Project,
) -> None:
    project.suite(case("z", "once"), case("b", "say no"), name="a")
    project.suite(case("a", "say no"), name="b")
    project.run("run", "--quiet")
    project.run("resume", "latest", "--retry-errored", "--quiet")
    out = project.run("report").out
    assert out.index("a.eval.yaml: b") < out.index("b.eval.yaml: a")
    rows = trials(project.run("report", "--format", "jsonl"))
    assert [row["case"] for row in rows] == ["z", "b", "a"]
    told = json.loads(project.run("report", "--format", "json").out)
    assert [each["case"] for each in told["cases"]] == ["z", "b", "a"]
