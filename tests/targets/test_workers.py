import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from evalcase.errors import GraderError, TargetError
from evalcase.targets.command import CommandTarget
from evalcase.types.answer import Answer
from evalcase.util.calls import seen_calls
from tests.targets.bell import RING, Bell, is_there
from tests.targets.questions import LIMIT_S, answer_all, ask, question, target_of

Make = Callable[..., CommandTarget]

LOOP = """
import json, os, sys

def reply(**fields):
    print(json.dumps(fields), flush=True)

for line in sys.stdin:
    given = json.loads(line)
    id, text = given["id"], given["input"][-1]["content"]
"""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a target of a worker, whose source is what it does with `id` and `text`."""
    # Whatever is to end is waited for, on a machine however busy.
    monkeypatch.setattr("evalcase.util.processes._CLOSE_S", LIMIT_S)
    monkeypatch.setattr("evalcase.util.processes._END_S", LIMIT_S)

    def make(body: str, **options: Any) -> CommandTarget:
        source = LOOP + "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())
        (tmp_path / "worker.py").write_text(source)
        argv = [sys.executable, "-S", "-E", "worker.py"]
        return target_of(CommandTarget, command=argv, mode="worker", root=str(tmp_path), **options)

    return make


def answers(target: CommandTarget, *texts: str) -> list[Any]:
    """Texts of answers, and errors."""
    given = [question(text, id=f"case {number}") for number, text in enumerate(texts)]
    found = asyncio.run(answer_all(target, given))
    return [each.text if isinstance(each, Answer) else each for each in found]


def test_one_process_answers_many_cases(make: Make) -> None:
    first, second = answers(make("reply(id=id, answer=f'{text} {os.getpid()}')"), "a", "b")
    assert (first[0], second[0]) == ("a", "b")
    assert first[1:] == second[1:]


def test_calls_beside_an_answer_are_read_or_noted(make: Make) -> None:
    target = make("""
        calls = [{"tool": "delete"}]
        reply(id=id, answer="Done." if text == "text" else {"risk": 1}, tool_calls=calls)
    """)
    read, noted = asyncio.run(answer_all(target, [question("text"), question("data")]))
    assert isinstance(read, Answer)
    assert [call.name for call in read.tool_calls] == ["delete"]
    assert isinstance(noted, Answer)
    with pytest.raises(GraderError, match=r"`delete` at `tool_calls\.0`"):
        seen_calls(noted)


def test_an_error_it_reports_costs_the_trial_only(make: Make) -> None:
    body = """
        if text == "bad": reply(id=id, error="no such city")
        else: reply(id=id, answer=os.getpid())
    """
    first, error, second = answers(make(body), "a", "bad", "b")
    assert isinstance(error, TargetError)
    assert str(error) == "the worker says: no such city"
    assert first == second


def test_a_crash_costs_the_trial_and_the_next_has_a_new_process(make: Make) -> None:
    body = """
        if text == "crash":
            print("half a re", end="", flush=True)
            sys.stderr.write("out of memory\\n")
            os._exit(9)
        reply(id=id, answer=os.getpid())
    """
    first, error, second = answers(make(body), "a", "crash", "b")
    assert isinstance(error, TargetError)
    assert str(error) == (
        "the worker ended without an answer: it exited with code 9: out of memory"
    )
    assert (error.kind, error.details["exit_code"]) == ("exit", 9)
    assert error.details["stdout"] == "half a re"
    assert first != second


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("print('loading', flush=True)", "is not JSON"),
        ("reply(answer='x')", "has the id None"),
        ("reply(id='other', answer='x')", "has the id 'other'"),
        ("reply(id=id)", "must have either"),
        ("reply(id=id, answer='x', error='y')", "must have either"),
        ("print('[1]', flush=True)", "must have either"),
        ("reply(id=id, answer=None)", "is null"),
        ("reply(id=id, answer=[{'role': 'assistant'}])", "neither `content` nor"),
        ("print('x' * 200_000, flush=True)", "is longer than 100000 bytes"),
    ],
)
def test_a_reply_that_makes_no_sense_is_an_error(make: Make, body: str, said: str) -> None:
    target = make(body, max_output_bytes=100_000)
    first, second = answers(target, "a", "b")
    for error in (first, second):
        assert isinstance(error, TargetError)
        assert said in str(error)
        assert error.kind == "protocol"


# Lines that nobody waits for.

SAME = [question("a", suite=suite, repeat=repeat) for suite in "ab" for repeat in (1, 2)]


def test_a_second_line_is_never_the_answer_to_the_next_question(make: Make) -> None:
    """Both lines come at once, so that one is there before the next question is."""
    body = "os.write(1, (json.dumps({'id': id, 'answer': os.getpid()}) + '\\n').encode() * 2)"
    first, second, third, fourth = asyncio.run(answer_all(make(body), SAME))
    assert isinstance(first, Answer)
    assert isinstance(third, Answer)
    assert first.content != third.content, "a process that did so is not asked again"
    for error, id, pid in ((second, "x1", first.content), (fourth, "x3", third.content)):
        assert isinstance(error, TargetError)
        line = f'{{"id": "{id}", "answer": {pid}}}'
        assert str(error) == f"the worker wrote a line before it was asked: {line}"
        assert error.kind == "protocol"


def test_a_late_line_is_never_the_answer_to_the_next_question(make: Make) -> None:
    """It has the id of another question, whenever it comes."""
    body = """
        if "last" in globals(): reply(id=last, answer="late")
        else: reply(id=id, answer=text)
        last = id
    """
    first, second, third, _ = asyncio.run(answer_all(make(body), SAME))
    assert isinstance(first, Answer)
    line = '{"id": "x1", "answer": "late"}'
    assert str(second) == f"the worker's reply has the id 'x1', not 'x2': {line}"
    assert isinstance(third, Answer)


def test_several_workers_answer_at_once(tmp_path: Path, make: Make) -> None:
    async def run() -> tuple[list[int], int]:
        async with Bell() as bell:
            body = "exec(open('ring.py').read()); bell = ring()\nif text == 'hang': time.sleep(600)"
            (tmp_path / "ring.py").write_text(RING)
            target = make(body, workers=2, env={"BELL": bell.port})
            assert target.traits.concurrency == 2
            await target.open()
            tasks = [asyncio.create_task(target.answer(question("hang"))) for _ in range(3)]
            pids = await bell.wait_for(2)
            more = bell._pids.qsize()
            for task in tasks:
                task.cancel()
            async with asyncio.timeout(LIMIT_S):
                await asyncio.wait(tasks)
            await target.close()
            return [pid for pid in pids if is_there(pid)], more

    assert asyncio.run(run()) == ([], 0)


def test_at_the_end_it_sees_the_end_of_its_input(tmp_path: Path, make: Make) -> None:
    target = make("reply(id=id, answer=text)")
    with (tmp_path / "worker.py").open("a") as file:
        file.write("open('log', 'w').write('tidied up')\n")
    assert ask(target).text == "Hi"
    assert (tmp_path / "log").read_text() == "tidied up"


def test_one_that_does_not_end_by_itself_is_ended(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalcase.util.processes._CLOSE_S", 0.1)
    target = make("reply(id=id, answer=os.getpid())")
    with (tmp_path / "worker.py").open("a") as file:
        file.write("import time\ntime.sleep(600)\n")
    pid = ask(target).content
    assert isinstance(pid, int)
    assert not is_there(pid)
