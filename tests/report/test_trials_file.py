import json
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evalcase.errors import ConfigError
from evalcase.report.json import trial_object
from evalcase.report.sides import Side, read_trials
from evalcase.store.folder import Run, RunAbout
from evalcase.store.rows import End
from evalcase.types.answer import Answer, Earlier, Failure, Usage
from evalcase.types.case import canonical_case
from evalcase.types.grade import Grade
from evalcase.types.result import Counts, Outcome, Result, Totals
from evalcase.types.target import TrialKey
from tests.for_each import for_each

CASE = canonical_case(
    {
        "id": "sum", "input": [{"role": "user", "content": "2+2?"}], "tags": ["easy"],
        "expected_output": [{"role": "assistant", "content": "4"}], "metadata": {"topic": "sums"},
    }
)  # fmt: skip
ANSWER = Answer(
    Answer.of_text("4").messages, Usage(5, 6, 7), 0.25, cached=True, earlier=Earlier(2.5, 0.5)
)
RESULT = Result(
    TrialKey("s.eval.yaml", "sum", "agent", 1), "asked", "failed", ANSWER,
    (
        Grade("a", 0.25, False, "why", {"x": 1}, weight=3.0, required=True),
        Grade("b", None, False, "broke", failure=Failure("grader", "boom")),
    ),
    duration_s=1.5, grading_hash="graded", repeats=2, pass_rate=0.5,
)  # fmt: skip
RUN = Run("run-1", "", "", RunAbout({}, cwd="below", failed_of="run-0"))


def line(**changes: Any) -> dict[str, Any]:
    stored: Any = SimpleNamespace(
        run=RUN, mixed=("agent",), end=End("completed"), totals=Totals(trials=Counts(2)),
        find_case=lambda *_: CASE, outcome=lambda _: Outcome("failed", 0, 1, 2, 0.5),
    )  # fmt: skip
    return trial_object(stored, RESULT) | changes


def write(path: Path, *lines: dict[str, Any] | str, stack: ExitStack | None = None) -> Side:
    file = path / "main.jsonl"
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
    file.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    with ExitStack() as own:
        return read_trials(str(file), str(path), stack or own)


def refusal(path: Path, *lines: dict[str, Any] | str) -> str:
    with pytest.raises(ConfigError) as caught:
        write(path, *lines)
    return str(caught.value)


def test_what_a_report_writes_is_read_back(tmp_path: Path) -> None:
    with ExitStack() as stack:
        file = write(tmp_path, line(), line(repeat=2), stack=stack)
        stored = file.stored
        first, second = stored.results()
        assert (first, second.key.repeat) == (RESULT, 2)
        assert stored.find_case("s.eval.yaml", "sum") == CASE
        assert stored.outcome(RESULT) == Outcome("failed", 0, 2, 2, 0.5)
        assert stored.targets == ("agent",)
    assert (file.runs, file.mixed) == (("run-1",), ("agent",))
    assert (file.place_of("s.yaml"), file.origin, file.missing) == ("below/s.yaml", "run-0", "")


def test_lines_that_are_missing(tmp_path: Path) -> None:
    assert write(tmp_path, line(run_trials=3)).missing == "it has 1 of the 3 trials of run run-1"
    assert "not completed" in write(tmp_path, line(run_status="interrupted")).missing
    nobody_says = {key: value for key, value in line().items() if key != "run_status"}
    assert "not completed" in write(tmp_path, nobody_says).missing


def test_a_trial_counts_once(tmp_path: Path) -> None:
    assert "main.jsonl:2: sum at agent, repeat 1, was there before" in refusal(
        tmp_path, line(), line()
    )


@for_each(
    "bad",
    [
        "{", "[]", "null", '{"suite": 1}', "\x00", '{"a":1,"a":2}', "[" * 1000,
        {"verdict": "great"}, {"case": None}, {"repeat": 0}, {"repeat": "1"}, {"answer": "4"},
        {"grades": [1]}, {"cost_usd": "free"}, {"duration_s": None}, {"metadata": []},
        {"tags": [1]}, {"case_verdict": "fine"}, {"input": [1]},
    ],
)  # fmt: skip
def test_lines_of_others_are_refused_by_their_number(
    tmp_path: Path, bad: str | dict[str, Any]
) -> None:
    said = refusal(tmp_path, line(), bad if isinstance(bad, str) else line(**bad))
    assert f"{tmp_path / 'main.jsonl'}:2: this is not a trial" in said
