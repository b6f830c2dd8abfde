import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.programs import program
from tests.faults.sabotage import sabotaged
from tests.run.project import Project, case, cases

BACKWARDS = """
import datetime, os, time
real, jumps = time.time, [float(os.environ.get("JUMP", "0"))]

def backwards():
    jumps[0] += 7200.0
    return real() - jumps[0]

class Datetime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(backwards(), tz)

time.time, datetime.datetime = backwards, Datetime
"""


def test_fault_25_a_clock_that_jumps_back_disturbs_no_limit_and_no_record(
    project: Project, tmp_path: Path
) -> None:
    env = sabotaged(tmp_path, BACKWARDS)
    project.suite(*cases(4), case("stuck", "hang", timeout_s=0.5), case("later", "later 1"))
    done = project.run_process("run", "--json", env=env)
    assert (done.code, done.counts()) == (3, {"passed": 5, "errored": 1})
    (stuck,) = [row for row in project.rows() if row["case"] == "stuck"]
    assert 0.5 <= stuck["duration_s"] <= done.json["duration_s"] < 3600, "its limit was waited for"
    for line in (project.runs()[0] / "journal.jsonl").read_text().splitlines():
        assert 0 <= json.loads(line).get("duration_s", 0) < 3600
    before = project.run_process("run", "--json", "--case", "c0", env={**env, "JUMP": "100000"})
    assert (before.code, before.json["run"] > done.json["run"]) == (0, True)
    listed = project.run_process("list", env=env)
    assert [line.split()[0] for line in listed.out.splitlines()[1:]] == [
        before.json["run"], done.json["run"],
    ]  # fmt: skip


def test_fault_25_a_run_of_a_clock_that_was_ahead_does_not_stay_the_latest(
    project: Project,
) -> None:
    project.suite(case("one"))
    ahead = project.run("run", "--json").json["run"]
    folder = project.runs()[0]
    about = (folder / "run.json").read_text().replace(ahead, "20990101-235959-abcdef")
    (folder / "run.json").write_text(re.sub('"created_at": "....', '"created_at": "2099', about))
    folder.rename(folder.with_name("20990101-235959-abcdef"))
    first, second = (project.run("run", "--json").json["run"] for _ in range(2))
    listed = json.loads(project.run("list", "--json").out)
    assert [each["run"] for each in listed] == [second, first, "20990101-235959-abcdef"]
    assert all(each["created_at"] < "2099" for each in listed[:2])
    compared = json.loads(project.run("compare", "--json").out)
    assert (compared["base"]["name"], compared["head"]["name"]) == (first, second)


WORDS = "Grüße, 世界 ☕"


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_fault_25_a_locale_without_utf_8_changes_no_byte(
    project: Project, locale: dict[str, str]
) -> None:
    name = program(
        project, "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())", stdin="text"
    )
    path = project.path / "größe.eval.yaml"
    text = f"cases:\n- {{id: grüße, input: '{WORDS}', expected_output: '{WORDS}'}}\n"
    path.write_text(text, encoding="utf-8")
    echoed = ["echo", name, "command:printf %s {prompt}"]
    for target in echoed:
        done = project.run_process("run", "--target", target, env=locale)
        assert done.code == 0, done
    project.suite(case("odd", f"raise {WORDS}"))
    done = project.run_process("run", "s.eval.yaml", env=locale)
    assert (done.code, WORDS in done.out) == (3, True)
    assert WORDS in (project.runs()[-1] / "journal.jsonl").read_text(encoding="utf-8")
    assert project.run_process("list", env=locale).code == 0


NAMES = ["two words ☕".encode(), b"-new\nline", b"caf\xe9 $(x)'\""]


@pytest.mark.parametrize("name", NAMES, ids=map(repr, NAMES))
def test_fault_25_names_of_any_bytes_are_run_resumed_and_listed(
    tmp_path: Path, name: bytes
) -> None:
    folder = tmp_path / os.fsdecode(name)
    folder.mkdir()
    project = Project(folder)
    project.suite(*cases(3), case("later", "once"), name=os.fsdecode(name))
    assert project.run("run", "--shard", "1/1", "--sample", "4").code == 3
    done = project.run("resume", project.runs()[0].name, "--retry-errored", "--json")
    assert (done.code, done.counts()) == (0, {"passed": 4})
    assert os.fsencode(done.json["path"]).startswith(os.fsencode(folder))
    assert sorted(project.calls()) == ["c0", "c1", "c2", "later", "later"]
    listed = project.run("list")
    assert len(listed.out.splitlines()) == 2  # the heading, and the run


FREEZING = '''
import sys, threading, time
from contextlib import contextmanager

REAL = {name: getattr(time, name) for name in ("time", "monotonic", "perf_counter")}
FROZEN = {id(real): (lambda: 1704067200.0) for real in REAL.values()}
ONE_THREAD = threading.Lock()  # another would thaw what this one has frozen

@contextmanager
def frozen():
    """As libraries freeze a date: in every module that has one of these functions."""
    swapped = []
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else ():
            if id(value) in FROZEN and module.__name__ != __name__:
                swapped.append((module, name, value))
                setattr(module, name, FROZEN[id(value)])
    try:
        yield
    finally:
        for module, name, value in swapped:
            setattr(module, name, value)

def answer(text):
    with ONE_THREAD, frozen():
        assert time.monotonic() == 1704067200.0
        threading.Event().wait(0.05)
        return text

async def answer_later(text):
    import asyncio
    with frozen():
        await asyncio.sleep(0.05)
        return text

def answer_before(text):
    real = time.monotonic
    time.monotonic = time.perf_counter = lambda: real() - 1e6
    try:
        threading.Event().wait(0.05)
        return text
    finally:
        time.monotonic, time.perf_counter = real, REAL["perf_counter"]
'''


@pytest.mark.parametrize("engine", [[], ["--processes", "1"]], ids=str)
@pytest.mark.parametrize("function", ["answer", "answer_later", "answer_before"])
def test_fault_25_code_that_freezes_the_date_stops_no_clock_of_evalcase(
    project: Project, function: str, engine: list[str]
) -> None:
    (project.path / "freezing.py").write_text(FREEZING)
    project.suite(*[{"id": f"c{n}", "input": "ok", "expected_output": "ok"} for n in range(6)])
    target = ["--target", f"python:freezing:{function}", "--timeout", "60", "--concurrency", "2"]
    done = project.run_process("run", "--json", *target, *engine)
    assert (done.code, done.counts()) == (0, {"passed": 6})
    assert 0.1 < done.json["duration_s"] < 60
    for line in (project.runs()[0] / "journal.jsonl").read_text().splitlines():
        assert 0 <= json.loads(line).get("duration_s", 0) < 60
    assert project.run_process("report").code == 0


IN_A_LOOP = """
import asyncio, sys
import evalcase, freezing

async def main(function, timeout_s):
    target = getattr(freezing, function)
    done = await evalcase.evaluate_async("s.eval.yaml", target, timeout_s=timeout_s, concurrency=2)
    print(" ".join(case.verdict for case in done.cases))

asyncio.run(main(sys.argv[1], float(sys.argv[2])))
"""


@pytest.mark.parametrize(
    ("function", "timeout_s", "verdict"),
    [("answer", 60, "passed"), ("answer_before", 60, "passed")],
)
def test_fault_25_limits_go_by_a_clock_of_their_own_in_a_loop_of_the_user_s_too(
    project: Project, function: str, timeout_s: float, verdict: str
) -> None:
    (project.path / "freezing.py").write_text(FREEZING)
    (project.path / "in_a_loop.py").write_text(IN_A_LOOP)
    project.suite(*[{"id": f"c{n}", "input": "ok", "expected_output": "ok"} for n in range(4)])
    command = [sys.executable, "in_a_loop.py", function, str(timeout_s)]
    told = subprocess.check_output(command, cwd=project.path, text=True, timeout=60)
    assert told.split() == [verdict] * 4
