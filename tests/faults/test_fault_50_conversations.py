import json
import os
import signal
import subprocess
from time import monotonic
from typing import Any

import pytest

from evalcase.runner import event_loop
from evalcase.util import user_calls
from tests.run.project import Project, finish

TALKER = """
def talk(question: Question):
    note("sessions", f"{question.case} {question.session} {question.turn}")
    word, _, rest = question.text.partition(" ")
    if word == "die" and not (HERE / "died").exists():
        note("died", "once")
        os.kill(os.getpid(), 9)
    if word == "gate":
        gate(question.case)
    if word == "hang":
        note("hanging", "now")
        threading.Event().wait()
    if word == "once" and len((HERE / "sessions").read_text().split()) == 6:
        raise TargetError("busy", may_succeed_later=True, retry_after_s=0.0)
    return {"messages": [{"role": "assistant", "content": "ok"}], "cost_usd": 0.3}


def talk_by_session(question: Question, session):
    return talk(question)
"""


def conversation(id: str, *said: str, **fields: Any) -> dict[str, Any]:
    turns = [{"input": text, "expected_output": "ok"} for text in said]
    return {"id": id, "turns": turns, **fields}


@pytest.fixture
def talking(project: Project) -> Project:
    project.add_to_agent(TALKER)
    project.configure(
        'target = "talker"\n[targets.talker]\nkind = "python"\nfunction = "agent:talk"\n'
    )
    return project


def sessions(project: Project) -> list[tuple[str, str, int]]:
    """Which case was asked, in which session and turn, in order."""
    lines = (project.path / "sessions").read_text().splitlines()
    return [(case, session, int(turn)) for case, session, turn in map(str.split, lines)]


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C, and wait until it was heard."""
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    process.stderr.readline()


def test_fault_50_a_killed_conversation_is_had_again_from_its_first_turn(talking: Project) -> None:
    talking.suite(conversation("a", "one", "die now", "three"))
    assert finish(talking.start("run")).code == -signal.SIGKILL
    assert talking.verdicts() == {}
    done = talking.run("resume", "latest", "--json")
    assert (done.code, done.counts()) == (0, {"passed": 1})
    asked = sessions(talking)
    assert [turn for _, _, turn in asked] == [1, 2, 1, 2, 3]
    assert len({session for _, session, _ in asked[:2]}) == 1
    assert len({session for _, session, _ in asked}) == 2


@pytest.fixture
def leaping(talking: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The clocks of the event loop and of limits leap by minutes once an agent hangs: until then
    every turn has the time that it needs, however busy the machine is."""
    hanging = talking.path / "hanging"

    def time() -> float:
        return monotonic() + (1000.0 if hanging.exists() else 0.0)

    for module in (event_loop, user_calls):
        monkeypatch.setattr(module, "monotonic", time)
    return talking


def test_fault_50_a_turn_over_its_time_costs_its_conversation_only(leaping: Project) -> None:
    talking = leaping
    talking.suite(
        conversation("a", "one", "hang now", "three"), conversation("b", "one", timeout_s=9000)
    )
    done = talking.run("run", "--json")
    assert (done.code, done.counts()) == (3, {"passed": 1, "errored": 1})
    (failure,) = [row["failure"] for row in talking.rows() if "failure" in row]
    assert (failure["kind"], failure["message"]) == (
        "timeout",
        "turn 2: no answer within 120 s (`timeout_s` of the case, or --timeout, allows more)",
    )
    assert failure["details"]["conversation"] == ["user: one", "assistant: ok", "user: hang now"]
    assert "input     hang now\n" in talking.run("report").out  # and not what was never asked


def test_fault_50_ctrl_c_lets_a_conversation_finish_and_twice_breaks_it_off(
    talking: Project,
) -> None:
    talking.suite(conversation("a", "one", "gate now", "three"), conversation("b", "one"))
    for name in ("started", "go"):
        os.mkfifo(talking.path / name)
    process = talking.start("run", "--concurrency", "1")
    with (talking.path / "started").open("rb", buffering=0) as started:
        started.readline()
    interrupt(process)
    with (talking.path / "go").open("wb", buffering=0) as go:
        go.write(b"g")
    done = finish(process)
    assert done.code == 130
    assert talking.verdicts() == {"a": "passed"}
    process = talking.start("run", "--concurrency", "1")
    with (talking.path / "started").open("rb", buffering=0) as started:
        started.readline()
    for _ in range(2):
        interrupt(process)
    assert finish(process).code == 130
    assert talking.verdicts() == {}


def test_fault_50_the_cap_breaks_a_conversation_off_before_its_next_turn(talking: Project) -> None:
    talking.suite(conversation("a", "one", "two", "three"), conversation("b", "one"))
    done = talking.run("run", "--max-cost", "0.5", "--concurrency", "1", "--json")
    assert (done.code, done.json["status"], talking.verdicts()) == (3, "stopped", {})
    assert [turn for _, _, turn in sessions(talking)] == [1, 2]
    done = talking.run("resume", "latest", "--max-cost", "9", "--json")
    assert (done.code, done.counts()) == (0, {"passed": 2})
    assert done.json["cost_usd"] == pytest.approx(1.2)
    listed = json.loads(talking.run("list", "--json").out)
    assert listed[0]["status"] == "completed"
