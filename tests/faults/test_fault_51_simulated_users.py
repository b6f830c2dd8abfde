import signal
from typing import Any

import pytest

from tests.run.project import Project, finish
from tests.store.rows import read_rows

SIDES = """
def told(question, text):
    return {"messages": [{"role": "assistant", "content": text}], "cost_usd": 0.25}


def talk(question: Question):
    note("agent", f"{question.case} {question.session} {question.turn}")
    return told(question, "ok")


def play(question: Question):
    note("user", f"{question.case} {question.session} {question.turn}")
    word = question.messages[0].text.split("Your goal:")[1].split()[0]
    if question.turn > 2 and word != "forever":
        return told(question, "DONE")
    if question.turn == 2 and word == "die" and not (HERE / "died").exists():
        note("died", "once")
        os.kill(os.getpid(), 9)
    if question.turn == 2 and word == "gate":
        gate(question.case)
    if question.turn == 2 and word == "hang":
        threading.Event().wait()
    if question.turn == 2 and word == "once" and not (HERE / "was_busy").exists():
        note("was_busy", "once")
        raise TargetError("busy", may_succeed_later=True, retry_after_s=0.0)
    return told(question, "" if question.turn == 2 and word == "nothing" else "go on")


class PlayBySession:
    def __init__(self, session):
        note("made", session)

    def answer(self, question: Question):
        return play(question)

    def close(self):
        note("closed", "x")
"""


def played(id: str, goal: str, **fields: Any) -> dict[str, Any]:
    user = {"goal": goal, "target": "player", "max_turns": 4}
    return {"id": id, "user": user, "graders": [{"contains": "ok"}], **fields}


@pytest.fixture
def talking(project: Project) -> Project:
    project.add_to_agent(SIDES)
    project.configure(
        'target = "talker"\ntimeout_s = 60\n'
        '[targets.talker]\nkind = "python"\nfunction = "agent:talk"\n'
        '[targets.player]\nkind = "python"\nfunction = "agent:play"\n'
    )
    return project


def sessions(project: Project, side: str) -> list[tuple[str, str, int]]:
    """Which case a side was asked for, in which session and turn, in order."""
    lines = (project.path / side).read_text().splitlines()
    return [(case, session, int(turn)) for case, session, turn in map(str.split, lines)]


def test_fault_51_a_killed_conversation_is_had_again_with_a_user_in_a_new_session(
    talking: Project,
) -> None:
    talking.suite(played("a", "die"))
    assert finish(talking.start("run")).code == -signal.SIGKILL
    assert talking.verdicts() == {}
    done = talking.run("resume", "latest", "--json")
    assert (done.code, done.counts()) == (0, {"passed": 1})
    asked = sessions(talking, "user")
    assert [turn for _, _, turn in asked] == [1, 2, 1, 2, 3]
    assert len({session for _, session, _ in asked}) == 2


def test_fault_51_a_user_that_hangs_or_says_nothing_is_errored_and_paid_for(
    talking: Project,
) -> None:
    talking.suite(played("a", "hang"), played("b", "nothing"), played("c", "go"))
    done = talking.run("run", "--timeout", "2", "--json")
    assert (done.code, done.counts()) == (3, {"passed": 1, "errored": 2})
    why = {row["case"]: row["failure"]["message"] for row in talking.rows() if "failure" in row}
    assert why == {
        "a": "turn 2: the user, `player`: no answer within 2 s "
        "(`timeout_s` of the case, or --timeout, allows more)",
        "b": "turn 2: the user, `player`: it said nothing",
    }
    rows = [row for _, row in read_rows(str(talking.runs()[-1] / "journal.jsonl"))]
    lost = {row["case"]: row["cost_usd"] for row in rows if row["type"] == "lost"}
    assert lost == {"a": 0.5, "b": 0.75}


def test_fault_51_a_user_that_never_ends_is_ended_by_max_turns(talking: Project) -> None:
    talking.suite(played("a", "forever"))
    assert talking.run("run", "--quiet").code == 0
    (row,) = talking.rows()
    assert (row["ending"], len(row["turns"]), row["user"]["asked"]) == ("max_turns", 4, 4)


def test_fault_51_users_are_played_by_workers_as_they_are_without(talking: Project) -> None:
    talking.suite(played("a", "well"), played("b", "forever"), played("c", "nothing"))

    def outcome(*options: str) -> list[dict[str, Any]]:
        assert talking.run("run", *options).code == 3
        rows = sorted(talking.rows(), key=lambda row: row["case"])
        names = ("case", "verdict", "ending", "turns", "user", "grades", "spent_usd")
        return [_untimed({name: row.get(name) for name in names}) for row in rows]

    here = outcome()
    assert [row["verdict"] for row in here] == ["passed", "passed", "errored"]
    assert outcome("--processes", "2") == here


def test_fault_51_a_user_whose_worker_ends_is_asked_again(
    talking: Project,
) -> None:
    talking.suite(played("a", "die"), played("b", "well"))
    assert talking.run("run", "--processes", "2").code == 0
    assert sorted(row["verdict"] for row in talking.rows()) == ["passed", "passed"]
    turns = [turn for case, _, turn in sessions(talking, "agent") if case == "a"]
    assert turns[-2:] == [1, 2]


def _untimed(value: Any) -> Any:
    """The same without what a clock says."""
    if isinstance(value, list):
        return [_untimed(each) for each in value]
    if isinstance(value, dict):
        return {key: _untimed(each) for key, each in value.items() if not key.endswith("_s")}
    return value
