import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import RecordError
from evalcase.store.stored import GrowingJournal
from evalcase.util.json import MAX_LINE
from tests.run.project import Done, Project, cases
from tests.store.rows import encode_row

ESCAPE = "\x1b]0;mine\x07"
KEYS = ("suite", "case", "target", "repeat", "question_hash", "verdict")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run, of which one trial is missing."""
    project = Project(tmp_path_factory.mktemp("record"))
    project.suite(*cases(3))
    project.run("run", "--quiet", "--concurrency", "1", "--shard", "1/1")
    (path,) = project.runs()
    project.keep_only(2)
    return path


@pytest.fixture
def run(project: Project, record: Path) -> Path:
    project.suite(*cases(3))
    return Path(shutil.copytree(record, project.path / ".evalcase" / "runs" / record.name))


def check(project: Project, run: Path, said: str) -> None:
    """All say in words what is wrong, end with 0 and 3, and no target is called, however much a
    person trusts it."""
    resume = ["resume", run.name, "--trust"]
    commands = (["list"], 0), (resume, 3), (["report", run.name], 3)
    for done, code in ((project.run(*command), code) for command, code in commands):
        assert done.code == code, done
        assert said in done.out + done.err
        check_text(done)
    assert project.calls() == []


def check_text(done: Done) -> None:
    assert ESCAPE not in done.out + done.err
    assert len(done.out + done.err) < 2000


JOURNALS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a line without end": (lambda: b"x" * (MAX_LINE + 10) + b"\n\n", "longer than a journal's"),
    "no JSON": (lambda: b"pickle\x80\x04\n\n", "does not match its checksum"),
    "deep": (lambda: signed(b'{"type":"result","a":' + b"[" * 100_000), "not a row of a journal"),
    "not a number": (lambda: signed(b'{"type":"result","repeat":NaN'), "not a row of a journal"),
    "huge number": (lambda: signed(b'{"type":"result","n":' + b"9" * 10_000), "not a row"),
    "wrong types": (
        lambda: encode_row({"type": "result", **{key: [1] for key in KEYS}}), "Expected `str"
    ),
    "a long odd verdict": (
        lambda: encode_row({**row(), "verdict": ESCAPE * 100_000}), "Invalid enum value"
    ),
}  # fmt: skip


def signed(body: bytes) -> bytes:
    from zlib import crc32

    return body + b',"sum":"%08x"}\n' % crc32(body)


def row(**changes: Any) -> dict[str, Any]:
    return {
        "type": "result", "suite": "s.eval.yaml", "case": "c9", "target": "agent", "repeat": 1,
        "question_hash": "0", "verdict": "passed", "attempts": 1, "started_at": "", "duration_s": 0,
        **changes,
    }  # fmt: skip


@pytest.mark.parametrize(("make", "said"), JOURNALS.values(), ids=JOURNALS)
def test_fault_23_a_hostile_journal_is_damaged_in_words_and_runs_nothing(
    project: Project, run: Path, make: Callable[[], bytes], said: str
) -> None:
    journal = run / "journal.jsonl"
    journal.write_bytes(make() + journal.read_bytes())
    check(project, run, said)


ABOUT: dict[str, dict[str, Any]] = {
    "odd texts": {"suites": {ESCAPE: ESCAPE}, "targets": [ESCAPE], "cwd": ESCAPE},
    "long texts": {"suites": {"x" * 1_000_000: "0"}, "targets": ["y" * 1_000_000]},
}
WRONG_ABOUT: dict[str, tuple[dict[str, Any], str]] = {
    "wrong types": ({"suites": 5}, "`about.suites`: Expected `object"),
    "no list": ({"targets": {ESCAPE: 1}}, "`about.targets`: Expected `array"),
    "no number": ({"trials": ESCAPE}, "`about.trials`: Expected `int"),
    "below nothing": ({"cases": -1}, "`about.cases`: Expected `int"),
    "no text": ({"default_target": 5}, "`about.default_target`: Expected `str"),
    "unknown": ({ESCAPE: 1}, "unknown field"),
}


@pytest.mark.parametrize("about", ABOUT.values(), ids=ABOUT)
def test_fault_23_a_run_json_of_anybody_can_be_listed(
    project: Project, run: Path, about: dict[str, Any]
) -> None:
    change(run, lambda data: data["about"].update(about))
    for command in ("list", "report"):
        done = project.run(command)
        assert done.code == 0
        check_text(done)


@pytest.mark.parametrize(("about", "said"), WRONG_ABOUT.values(), ids=WRONG_ABOUT)
def test_fault_23_a_run_json_of_another_shape_is_damaged_in_words(
    project: Project, run: Path, about: dict[str, Any], said: str
) -> None:
    change(run, lambda data: data["about"].update(about))
    check(project, run, said)


def change(run: Path, action: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads((run / "run.json").read_text())
    action(data)
    (run / "run.json").write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (lambda data: data.update(version=99), "written by a newer evalcase"),
        (lambda data: data.update(version=ESCAPE * 1000), "is not a version"),
        (lambda data: data.update(about=[]), "is damaged"),
        (lambda data: data.pop("id"), "is damaged"),
    ],
)
def test_fault_23_a_run_json_of_another_version_or_shape_is_said(
    project: Project, run: Path, action: Callable[[dict[str, Any]], object], said: str
) -> None:
    change(run, action)
    check(project, run, said)


REQUESTS: list[dict[str, Any]] = [
    {"targets": [5]},
    {"paths": "s.eval.yaml"},
    {"concurrency": "many"},
    {"concurrency": -1},
    {"repeat": "x"},
    {"timeout_s": "x"},
    {"nonsense": 1},
]


def test_fault_23_a_request_of_the_wrong_shape_is_not_resumed(project: Project, run: Path) -> None:
    before = (run / "run.json").read_text()
    options = json.loads(before)["about"]["options"]
    requests: list[Any] = [*({**options, **each} for each in REQUESTS), None, []]
    for request in requests:
        (run / "run.json").write_text(before)
        change(run, lambda data, request=request: data["about"].update(options=request))  # type: ignore[misc]
        done = project.run("resume", run.name, "--trust")
        assert (done.code, project.calls()) == (3, []), request
        assert "run.json" in done.err


def test_fault_23_links_in_a_run_lead_to_no_other_file(project: Project, run: Path) -> None:
    mine = project.path / "mine.txt"
    mine.write_text("one line\n")
    (run / "journal.jsonl").unlink()
    (run / "journal.jsonl").symlink_to(mine)
    (run / "writer.pid").symlink_to(mine)
    done = project.run("resume", run.name, "--trust")
    assert (done.code, "it is a link" in done.err) == (3, True)
    assert (mine.read_text(), project.calls()) == ("one line\n", [])


READERS = [
    *[["report", "latest", "--format", form]
      for form in ("text", "json", "jsonl", "csv", "markdown", "junit", "html", "otlp")],
    ["report", "latest", "--case", "c0"], ["compare", "base", "latest"], ["list"],
    ["list", "--json"], ["merge", "latest", "--partial", "--json"],
]  # fmt: skip
CRASH = "this is a bug in evalcase"


def check_readers(project: Project, run: Path) -> list[list[str]]:
    """Have a record read by all commands that read one: each does, or says in words that it is
    damaged. Return those that do."""
    fine, base = [], project.path / "base"
    shutil.copytree(run, base)
    (base / "journal.jsonl").write_bytes(b"")
    change(base, lambda data: data.update(id="20200101-000000-abcdef"))
    for command in READERS:
        done = project.run(*command)
        assert CRASH not in done.err, (command, done.err)
        if done.code == 0 or (command[0] == "merge" and done.out):
            fine.append(command)
        else:
            assert "damaged" in done.out + done.err, (command, done)
            assert "Error(" not in done.err
        assert "html" in command or "Infinity" not in done.out
    growing = GrowingJournal(str(run / "journal.jsonl"))
    with suppress(RecordError):
        growing.read_since(0)
    return fine


CASES: dict[str, dict[str, Any]] = {
    "another id": {"id": "other"},
    "no repeats": {"repeat": {"times": 0}},
    "an odd rate": {"repeat": {"times": 2, "pass_rate": None}},
    "tags that are no texts": {"tags": [1]},
    "targets that are no texts": {"targets": [{}]},
    "a rubric without a text": {"rubrics": [{"id": "x"}]},
    "a call of no tool": {"expected_output": [{"role": "assistant", "tool_calls": [{"a": 1}]}]},
    "calls that are none": {"input": [{"role": "user", "content": "x", "tool_calls": 3}]},
    "a turn that is none": {"turns": [[]]},
    "a turn that asks nothing": {"turns": [{"criteria": "x"}]},
    "a user who is nobody": {"user": None, "input": []},
    "a user who wants nothing": {"user": {"target": "agent", "max_turns": 1}},
    "a user who never speaks": {"user": {"goal": "x", "target": "agent", "max_turns": 0}},
    "an odd reason": {"skip": 5},
    "a threshold that is not a share": {"threshold": 2},
    "no time": {"timeout_s": -1},
    "a field that nobody knows": {"expcted_output": []},
}
GRADERS: dict[str, dict[str, Any]] = {
    "a grader without a type": {"graders": [{}]},
    "a grader that is none": {"graders": [{"type": "all", "value": [5]}]},
    "an option of the wrong type": {"graders": [{"type": "contains", "value": "x", "weight": "a"}]},
}


def add_case(run: Path, fields: dict[str, Any]) -> None:
    data = {"id": "c0", "input": [{"role": "user", "content": "say ok"}], **fields}
    with (run / "journal.jsonl").open("ab") as file:
        file.write(encode_row({"type": "case", "suite": "s.eval.yaml", "case": "c0", "data": data}))


@pytest.mark.parametrize("fields", [*CASES.values(), *GRADERS.values()], ids=[*CASES, *GRADERS])
def test_fault_23_a_recorded_case_of_the_wrong_shape_is_told_by_every_reader(
    project: Project, run: Path, fields: dict[str, Any]
) -> None:
    add_case(run, fields)
    fine = check_readers(project, run)
    if fields in CASES.values():
        assert ["report", "latest", "--format", "jsonl"] not in fine


OK = {"role": "assistant", "content": "ok"}
GRADE = {"grader": "expected", "score": 1.0, "passed": True, "reason": "equal"}
RESULTS: dict[str, dict[str, Any]] = {
    "calls that are none": {"answer": {"messages": [{**OK, "tool_calls": 3}]}},
    "a call of no tool": {"answer": {"messages": [{**OK, "tool_calls": [{}]}]}},
    "a call of a number": {"answer": {"messages": [{**OK, "tool_calls": [{"tool": 5}]}]}},
    "a call that is null": {"answer": {"messages": [{**OK, "tool_calls": [None]}]}},
    "a score over 1": {"grades": [{**GRADE, "score": 5}]},
    "a score below 0": {"grades": [{**GRADE, "score": -1}]},
    "less than no weight": {"grades": [{**GRADE, "weight": -1}]},
    "a grade that was paid for": {"grades": [{**GRADE, "cost_usd": -5}]},
    "an answer that was paid for": {"answer": {"messages": [OK], "cost_usd": -5}},
    "tokens that were given back": {
        "answer": {"messages": [OK], "usage": {"input_tokens": -1}}
    },
    "no trial": {"repeat": 0},
    "time that ran back": {"duration_s": -1},
    "a grade of no turn": {"grades": [{**GRADE, "turn": 0}]},
    "grades that are none": {"grades": 5},
    "an answer that is none": {"answer": []},
    "a field that nobody knows": {"verdct": "failed"},
}  # fmt: skip


@pytest.mark.parametrize("fields", RESULTS.values(), ids=RESULTS)
def test_fault_23_a_result_of_the_wrong_shape_is_told_by_every_reader(
    project: Project, run: Path, fields: dict[str, Any]
) -> None:
    with (run / "journal.jsonl").open("ab") as file:
        file.write(encode_row(row(answer={"messages": [OK]}, grades=[GRADE]) | fields))
    fine = check_readers(project, run)
    assert all(command[0] == "list" for command in fine), fine
