import base64
import os
import pty
import select
import subprocess
from pathlib import Path

import pytest

from evalcase.report.formats import FORMS
from tests.cli.command import EVALCASE, LIMIT_S, environment
from tests.faults.programs import program
from tests.run.project import Done, Project, case
from tests.store.rows import read_results

ESCAPES = "\x1b[31m\x1b]0;title\x07\x9b2J\x00\u202e\r"
SURROGATES = "\ud800 \udfff"


def answered(project: Project) -> dict[str, bytes]:
    """The bytes of each answer: those that are no UTF-8 stand beside its text."""
    found = {}
    for result in read_results(str(project.runs()[-1] / "journal.jsonl")):
        assert result.answer is not None
        (message,) = result.answer.messages
        raw = message.get("content_base64")
        found[result.key.case] = base64.b64decode(raw) if raw else str(message.content).encode()
    return found


def check_terminal(done: Done) -> None:
    """Nothing was printed that a terminal would obey."""
    for text in (done.out, done.err):
        odd = {char for char in text if not char.isprintable() and char != "\n"}
        assert not odd, text


ODD = {
    "nul": "nul \x00 in it",
    "escapes": ESCAPES,
    "surrogates": SURROGATES,
    "a pair of surrogates": "\ud83d" + "\ude00",
    "line ends": "\u2028\u2029\x85",
    "no characters": "\ufffe\uffff",
}


def test_fault_10_odd_text_of_a_function_is_recorded_without_loss_and_can_not_steer(
    project: Project,
) -> None:
    project.add_to_agent(f"def odd(question: Question):\n    return {ODD!a}[question.case]\n")
    project.suite(*map(case, ODD))
    done = project.run("run", "--target", "python:agent:odd")
    assert done.code == 1
    assert answered(project) == {
        id: text.encode("utf-8", "surrogatepass") for id, text in ODD.items()
    }
    check_terminal(done)
    for line in (project.runs()[0] / "journal.jsonl").read_bytes().split(b"\n"):
        line.decode()  # the journal is UTF-8, whatever it tells of


def test_fault_10_bytes_of_a_program_that_are_not_utf_8_are_kept(project: Project) -> None:
    data = bytes(range(256))
    name = program(project, f"import sys\nsys.stdout.buffer.write({data!r})")
    project.suite(case("one"))
    check_terminal(project.run("run", "--target", name))
    assert answered(project) == {"one": data}


PLACES = {
    "an exception": "def odd(question):\n    raise ValueError(TEXT)\n",
    "a target error": "def odd(question):\n    raise TargetError(TEXT, details={'a': TEXT})\n",
    "set-up": "class odd:\n    def __init__(self):\n        raise ValueError(TEXT)\n",
    "tear-down": (
        "class odd:\n    def answer(self, question): return 'no'\n"
        "    def close(self): raise ValueError(TEXT)\n"
    ),
    "a warning": (
        "def odd(question):\n    return {'messages': [{'role': 'assistant', 'content': 'no'}],"
        " 'usage': TEXT}\n"
    ),
    "the name of an exception": (
        "odd_type = type(TEXT.replace(chr(0), '')[:9], (Exception,), {})\n"
        "def odd(question):\n    raise odd_type\n"
    ),
}


@pytest.mark.parametrize("code", PLACES.values(), ids=PLACES)
def test_fault_10_no_message_of_a_target_can_steer_the_terminal(
    project: Project, code: str
) -> None:
    project.add_to_agent(f"TEXT = {ESCAPES + SURROGATES!r}\n{code}")
    project.suite(case("one"))
    done = project.run("run", "--target", "python:agent:odd")
    assert done.code in (1, 2, 3)
    check_terminal(done)


def test_fault_10_on_a_terminal_only_evalcase_itself_moves_the_cursor(
    project: Project, tmp_path: Path
) -> None:
    project.suite(case("one\x1b[2J", "raise \x1b[2Jboom"))
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*EVALCASE, "run"], cwd=tmp_path, env=environment(TERM="xterm"), stdin=follower,
        stdout=follower, stderr=follower,
    )  # fmt: skip
    os.close(follower)
    shown = b""
    try:
        while select.select([leader], [], [], LIMIT_S)[0]:
            shown += os.read(leader, 65536)
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    assert process.wait() == 3
    assert b"boom" in shown
    assert b"\x1b[2J" not in shown


STEERING = "\x1b\x7f\x85\x9b\u061c\u200e\u200f\u202a\u202e\u2066\u2069"
"""C0, DEL, C1, and what turns the direction of text."""


@pytest.fixture
def steering(project: Project) -> Project:
    grader = {"type": "contains", "value": "x", "name": f"g{STEERING}"}
    project.suite(case(f"a{STEERING}", f"say {STEERING}", tags=[STEERING], graders=[grader]))
    for _ in range(2):
        project.run("run", "--quiet")
    return project


@pytest.mark.parametrize(
    "command",
    [*([ "report", "--format", form] for form in FORMS if form != "parquet"),
     *(["compare", "--format", form] for form in ("text", "html", "markdown", "json")),
     ["list", "--json"]],
    ids=" ".join,
)  # fmt: skip
def test_fault_10_no_form_of_a_report_steers_a_terminal(
    steering: Project, command: list[str]
) -> None:
    done = steering.run(*command)
    assert done.code == 0
    # Marks belong to Arabic and Hebrew text, and other programs read tables and JUnit.
    marks = "\u061c\u200e\u200f" if {"csv", "junit"} & set(command) else ""
    assert not set(STEERING) - set(marks) & set(done.out)
