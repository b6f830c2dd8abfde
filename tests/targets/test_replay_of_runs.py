"""Runs that are replayed, from their folder or from a report in JSONL: what graders see is what
they saw then, or the trial is errored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Answer, Case, Question, Target
from evalcase.evaluation.evaluated import Evaluated
from evalcase.model.message import Message
from evalcase.model.step import Step
from tests.cli.in_process import run_in_process


class Agent(Target):
    """Takes a step in each turn, named after it, and tells of it."""

    def __init__(self, **told: Any) -> None:
        self._told = told

    async def answer(self, question: Question) -> Answer:
        said = Message({"role": "assistant", "content": f"turn {question.turn}"})
        steps = (Step(f"execute_tool a{question.turn}"),)
        return Answer((said,), steps=steps, **self._told)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalcase.toml").write_text("")
    return tmp_path


def replay_both_ways(done: Evaluated, cases: list[Case], root: Path) -> list[Evaluated]:
    report = run_in_process(["report", done.run.id, "--format", "jsonl"], cwd=root, env={})
    (root / "t.jsonl").write_bytes(report.stdout)
    return [evalcase.evaluate(cases, f"replay:{path}") for path in (done.run.path, "t.jsonl")]


def verdicts(several: list[Evaluated]) -> list[str]:
    return [result.verdict for done in several for result in done.results]


def test_steps_that_are_not_all_kept_are_told_again(root: Path) -> None:
    steps: dict[str, Any] = {"type": "tool_calls", "steps": "execute_tool *", "max": 5}
    cases = [Case(id="a", input="go", graders=[steps])]
    done = evalcase.evaluate(cases, Agent(steps_cut=900))
    assert verdicts([done, *replay_both_ways(done, cases, root)]) == ["errored"] * 3


def test_an_answer_that_was_cut_is_told_again(root: Path) -> None:
    cases = [Case(id="a", input="go", graders=[{"type": "contains", "value": "b", "not": True}])]
    done = evalcase.evaluate(cases, Agent(truncated=True))
    assert verdicts([done, *replay_both_ways(done, cases, root)]) == ["errored"] * 3


def test_an_answer_that_lost_a_secret_is_never_graded_as_if_it_were_whole(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "sk-live-0123456789")
    (root / "evalcase.toml").write_text('secrets = ["API_KEY"]')
    cases = [
        Case(id="a", input="go", graders=[{"type": "contains", "value": "sk-live", "not": True}])
    ]
    done = evalcase.evaluate(cases, lambda question: f"{question}: sk-live-0123456789")
    again = verdicts([done, *replay_both_ways(done, cases, root)])
    assert again == ["failed", "errored", "errored"]


def test_each_turn_has_its_own_steps(root: Path) -> None:
    def calls(most: int) -> dict[str, Any]:
        return {"type": "tool_calls", "steps": "execute_tool *", "min": most, "max": most}

    turns: list[Any] = [{"input": f"{number}", "graders": [calls(1)]} for number in (1, 2)]
    cases = [Case(id="a", turns=turns, graders=[calls(2)])]
    done = evalcase.evaluate(cases, Agent())
    recorded, _ = several = replay_both_ways(done, cases, root)
    assert verdicts([done, recorded]) == ["passed", "passed"]
    kept = recorded.results[0].answer
    assert kept is not None
    assert [step.name for step in kept.steps] == ["execute_tool a1", "execute_tool a2"]
    assert verdicts(several)[1] != "failed", "a report tells no steps of a turn"


def test_a_report_of_a_conversation_is_replayed_turn_by_turn(root: Path) -> None:
    turns: list[Any] = [{"input": f"{n}", "expected_output": f"turn {n}"} for n in (1, 2)]
    cases = [Case(id="a", turns=turns)]
    done = evalcase.evaluate(cases, Agent())
    assert verdicts([done, *replay_both_ways(done, cases, root)]) == ["passed"] * 3
    other: list[Any] = [{**turns[0], "input": "another"}, turns[1]]
    result = evalcase.evaluate([Case(id="a", turns=other)], "replay:t.jsonl").results[0]
    assert result.failure is not None
    assert "went another way" in result.failure.message
