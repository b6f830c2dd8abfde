"""What code of a user's writes into what it is given, nobody else sees: no other grader, trial,
repeat or target, nor the record."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Case, Evaluated
from evalcase.types.value import encode_object
from tests.evaluation import spoiling
from tests.evaluation.spoiling import ANSWER, SPOILT, Watch

HERE = "tests.evaluation.spoiling"
DATA = {"city": {"name": "Oslo"}, "list": [1, [2, {"deep": 3}]]}
GRADERS: list[Any] = [
    spoiling.grade_by_names,
    spoiling.OwnGrader(),
    spoiling.Asks(),
    {"type": "python", "value": f"{HERE}:grade_inside", "name": "alone"},
    {"all": [f"python:{HERE}:grade_inside", {"any": [f"python:{HERE}:grade_inside"]}]},
    {"json_equals": {**ANSWER}},
]


def cases() -> list[Case]:
    more: dict[str, Any] = {
        "metadata": {"of": {"the": ["case"]}},
        "expected_output": {**ANSWER},
        "repeat": 2,
    }
    parts = [{"type": "text", "text": "hi"}, {"type": "file", "path": "notes.txt"}]
    judge = [{"type": "python", "value": "evalcase.testing:passes", "name": "j"}]
    return [
        Case(id="data", input=DATA, graders=judge, **more),
        Case(id="parts", input=[{"role": "user", "content": parts}], **more),
        Case(id="text", input="hi", expected_output=ANSWER),
        Case(
            id="turns", turns=[{"input": DATA, "expected_output": ANSWER}, {"input": "And now?"}],
            metadata={"a": [1]},
        ),
        Case(
            id="user", metadata={"a": [1]}, graders=judge,
            user={"goal": "ask", "target": "simulator", "max_turns": 3, "facts": {"a": ["b"]}},
        ),
    ]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "evalcase.toml").write_text(
        f'[targets.critic]\nkind = "python"\nfunction = "{HERE}:Own"\n'
    )
    return tmp_path


def run(target: Any, spoils: bool, given: list[Case], **options: Any) -> tuple[Any, ...]:
    Watch.spoils, Watch.seen[:] = spoils, []
    try:
        done = evalcase.evaluate(
            given, target, graders=GRADERS, users={"simulator": spoiling.User()},
            on_result=spoiling.on_result, concurrency=1, **options,
        )  # fmt: skip
    finally:
        Watch.spoils = False
    results = sorted(done.results, key=lambda result: result.key)
    return [*Watch.seen], [_kept(each) for each in results], _cases_kept(done)


def _kept(result: Any) -> dict[str, Any]:
    row = encode_object(result)
    for name in ("started_at", "duration_s"):
        row.pop(name, None)
    text = json.dumps(row)
    assert SPOILT not in text
    kept: dict[str, Any] = json.loads(text, object_hook=_without_times)
    return kept


def _without_times(found: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in found.items() if not name.endswith(("_s", "session"))}


def _cases_kept(done: Evaluated) -> list[str]:
    journal = (Path(done.path) / "journal.jsonl").read_text()
    assert SPOILT not in journal
    return sorted(line for line in journal.splitlines() if '"type":"case"' in line)


@pytest.mark.parametrize(
    "make",
    [
        lambda: spoiling.by_names,
        lambda: spoiling.by_question,
        spoiling.Own,
        lambda: "echo",
    ],
    ids=["names", "question", "target", "echo"],
)
def test_nobody_sees_what_another_wrote(project: Path, make: Callable[[], Any]) -> None:
    assert_unspoilt(project, make, cache=False)


def test_nobody_sees_what_another_wrote_where_answers_are_cached(project: Path) -> None:
    assert_unspoilt(project, spoiling.Own, cache=True)


def assert_unspoilt(project: Path, make: Callable[[], Any], *, cache: bool) -> None:
    folders = iter(["one", "two"])

    def go(spoils: bool) -> tuple[Any, ...]:
        root = project / next(folders)
        root.mkdir()
        for name in ("notes.txt", "evalcase.toml"):
            (root / name).write_bytes((project / name).read_bytes())
        return run(make(), spoils, cases(), cache=cache, root=root)

    seen, kept, recorded = go(False)
    assert any(line.startswith("grader:") for line in seen)
    again, spoilt, recorded_again = go(True)
    assert sorted(again) == sorted(seen)  # graders that are waited for are in no order
    assert spoilt == kept
    assert recorded_again == recorded


def test_a_case_cannot_be_changed() -> None:
    case = Case(id="a", input="x")
    for name, value in (("threshold", 0.5), ("data", {}), ("_data", {}), ("other", 1)):
        with pytest.raises(AttributeError, match=r"a Case can't be changed"):
            setattr(case, name, value)
    assert case.to_dict() == {"id": "a", "input": [{"role": "user", "content": "x"}]}
