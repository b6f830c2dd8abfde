"""What an answer took, in runs: measured by the engine, or recorded when it was given."""

import json
from pathlib import Path
from typing import Any

import evalcase
from evalcase import Case


def grades(project: Path, target: str, *graders: Any, **options: Any) -> list[tuple[str, str]]:
    case = Case(id="a", input="hi", graders=list(graders))
    evaluated = evalcase.evaluate([case], target, root=project, **options)
    (result,) = evaluated.results
    return [(result.verdict, grade.reason) for grade in result.grades]


def test_latency_of_a_target_is_what_the_engine_measured(tmp_path: Path) -> None:
    assert [verdict for verdict, _ in grades(tmp_path, "echo", {"latency": 60})] == ["passed"]
    ((verdict, reason),) = grades(tmp_path, "echo", {"latency": 1e-9})
    assert verdict == "failed"
    assert reason.endswith("but at most 0.000000001 s is allowed")


def test_latency_of_a_replay_is_the_recorded_one_or_errored(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"case": "a", "text": "hi", "duration_s": 7}) + "\n")
    limit = {"latency": 5}
    assert grades(tmp_path, "replay:answers.jsonl", limit) == [
        ("failed", "it took 7 s, but at most 5 s is allowed")
    ]
    answers.write_text(json.dumps({"case": "a", "text": "hi"}) + "\n")
    assert grades(tmp_path, "replay:answers.jsonl", limit) == [
        ("errored", "how long the answer took is not known: it was not recorded")
    ]
