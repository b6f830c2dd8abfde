"""Runs that are replayed, from their folder or from a report in JSONL: what graders see is what
they saw then, or the trial is errored."""

import json
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Answer, Case, Question, Target
from evalcase.report.evaluated import Evaluated
from evalcase.types.message import Message, Step
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


def replay_traces(done: Evaluated, cases: list[Case], root: Path) -> Evaluated:
    report = run_in_process(["report", done.run.id, "--format", "otlp"], cwd=root, env={})
    (root / "t.otlp.json").write_bytes(report.stdout)
    return evalcase.evaluate(cases, "otlp:t.otlp.json")


def verdicts(several: list[Evaluated]) -> list[str]:
    return [result.verdict for done in several for result in done.results]


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


def test_a_report_of_a_conversation_is_replayed_turn_by_turn(root: Path) -> None:
    turns: list[Any] = [{"input": f"{n}", "expected_output": f"turn {n}"} for n in (1, 2)]
    cases = [Case(id="a", turns=turns)]
    done = evalcase.evaluate(cases, Agent())
    assert verdicts([done, *replay_both_ways(done, cases, root)]) == ["passed"] * 3
    other: list[Any] = [{**turns[0], "input": "another"}, turns[1]]
    result = evalcase.evaluate([Case(id="a", turns=other)], "replay:t.jsonl").results[0]
    assert result.failure is not None
    assert "went another way" in result.failure.message


FLOWN: dict[str, Any] = {"input": "fly", "metadata": {"seat": 1}, "conversation_id": "c"}
TALK: dict[str, Any] = {"input": [{"role": "system", "content": "Be kind."}], "turns": ["a", "b"]}
RUDE = [{"role": "system", "content": "Be rude."}]
SECRET: dict[str, Any] = {"input": "my key is sk-live-0123456789"}
LENGTH: Any = [{"length": {"min": 1}}]


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"input": "Peru?"}, {"input": "Chile?"}),
        ({"input": "x"}, {"input": [*RUDE, {"role": "user", "content": "x"}]}),
        (FLOWN, {**FLOWN, "metadata": {"seat": 2}}),
        (FLOWN, {**FLOWN, "conversation_id": "d"}),
        (TALK, {**TALK, "input": RUDE}),
        (SECRET, {"input": "my key is sk-live-9876543210"}),
    ],
)  # fmt: skip
def test_an_answer_to_another_question_is_none(
    then: dict[str, Any], now: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "sk-live-0123456789")
    (root / "evalcase.toml").write_text('secrets = ["API_KEY"]')
    cases = [Case(id="a", graders=LENGTH, repeat=2, **then)]
    done = evalcase.evaluate(cases, Agent())
    assert verdicts([done, *replay_both_ways(done, cases, root)]) == ["passed"] * 6
    edited = replay_both_ways(done, [Case(id="a", graders=LENGTH, repeat=2, **now)], root)
    assert verdicts(edited) == ["errored"] * 4
    failure = edited[0].results[0].failure
    assert failure is not None
    assert "has no answer to what case `a` asks by now" in failure.message


def test_an_exported_trace_answers_only_what_was_asked_and_whole(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "sk-live-0123456789")
    (root / "evalcase.toml").write_text('secrets = ["API_KEY"]')
    graders: Any = [{"type": "contains", "value": "sk-live", "not": True}]
    cases = [Case(id=id, input=id, graders=graders) for id in ("plain", "edited", "sk-live")]
    done = evalcase.evaluate(
        cases, lambda text: "sk-live-0123456789" if text == "sk-live" else text
    )
    cases[1] = Case(id="edited", input="another", graders=graders)
    again = replay_traces(done, cases, root)
    assert verdicts([done, again]) == ["passed", "passed", "failed", "passed", "errored", "errored"]


def test_an_answer_about_a_file_that_was_changed_is_none(root: Path) -> None:
    (root / "f.txt").write_text("one")
    (root / "s.eval.yaml").write_text(
        "cases:\n- id: a\n  input: [{role: user, content: [{type: file, path: f.txt}]}]\n"
        "  graders: [{length: {min: 1}}]\n"
    )
    done = evalcase.evaluate("s.eval.yaml", Agent())
    assert verdicts([evalcase.evaluate("s.eval.yaml", f"replay:{done.run.path}")]) == ["passed"]
    (root / "f.txt").write_text("two")
    assert verdicts([evalcase.evaluate("s.eval.yaml", f"replay:{done.run.path}")]) == ["errored"]


def test_new_expectations_and_other_variables_that_ask_the_same_are_graded(root: Path) -> None:
    done = evalcase.evaluate([Case(id="a", input="x", expected_output="y")], Agent())
    again = [Case(id="a", input="x", expected_output="turn 1", vars={"v": 1}, tags=["t"])]
    assert verdicts(replay_both_ways(done, again, root)) == ["passed"] * 2


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ({}, "passed"),
        ({"input": "Peru?\n"}, "passed"),
        ({"input": [{"role": "user", "content": "Peru?"}]}, "passed"),
        ({"input": {"of": "another form"}}, "passed"),
        ({"input": "Chile?"}, "errored"),
        ({"input": [{"role": "user", "content": "Chile?"}]}, "errored"),
    ],
)
def test_a_row_of_somebody_else_may_say_what_was_asked(
    told: dict[str, Any], verdict: str, root: Path
) -> None:
    row = {"case": "a", "answer": "Lima", **told}
    (root / "a.jsonl").write_text(json.dumps(row))
    messages: Any = [{"role": "system", "content": "s"}, {"role": "user", "content": "Peru?"}]
    cases = [Case(id="a", input=messages, expected_output="Lima")]
    assert verdicts([evalcase.evaluate(cases, "replay:a.jsonl")]) == [verdict]
