"""`--engine ray`: the same results as in one process, code and variables shipped, secrets not."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from evalcase.executors.ray import describe_error
from tests.run.project import Project, case, cases

if os.environ.get("EVALCASE_RAY") != "needed":
    pytest.importorskip("ray", reason="Ray is not installed: `make ray` does so")

SECRET = "sk-5550123456-of-the-run"
LOADED = "sk-98765432-loaded"

AGENT = f"""
def shipped(question: Question):
    os.environ["LOADED_KEY"] = "{LOADED}"
    print("printed {LOADED}", os.environ.get("RUN_KEY"))
    names = sorted(path.name for path in HERE.iterdir())
    return " ".join([*names, *map(str, map(os.environ.get, ("PRIVATE", "NAMED")))])


def reads(question: Question):
    (path,) = question.files.values()
    return Path(path).read_text()


def raises(question: Question):
    os.environ["LOADED_KEY"] = "{LOADED}"
    raise ValueError(os.environ["RUN_KEY"] + os.environ["LOADED_KEY"])
"""


@pytest.fixture
def short() -> Iterator[str]:
    """A folder whose path is so short that sockets can be there."""
    with TemporaryDirectory(prefix="ray-") as folder:
        yield folder


def test_a_run_on_a_ray_of_its_own(dangerous: Project, tmp_path: Path, short: str) -> None:
    """One test for all of it: to start Ray takes longer than everything else here."""
    dangerous.add_to_agent(AGENT)
    session = Path(short)
    dangerous.configure(
        'secrets = ["LOADED_KEY", "RUN_KEY"]\ntarget = "agent"\n'
        '[engine]\nkind = "ray"\nworkers = 2\nenv = ["NAMED"]\nmemory_mb = 500\n'
        + "".join(
            f'[targets.{name}]\nkind = "python"\nfunction = "agent:{function}"\n'
            for name, function in {
                "agent": "answer", "dying": "dying", "shipped": "shipped", "loads": "loads_key",
                "raises": "raises", "reads": "reads", "remembers": "Remembering", "judge": "judge",
            }.items()
        )
    )  # fmt: skip
    (tmp_path / ".git").mkdir()
    (tmp_path / "said.txt").write_text("attached")
    (tmp_path / "calls").touch()
    attached = [{"role": "user", "content": [{"type": "file", "path": "said.txt"}]}]
    dangerous.suite(
        *cases(20),
        case("wrong", "say no"),
        case("raised", "raise x"),
        case("later", "later 0"),
        case("exit", "exit", target="dying"),
        case("grow", "grow 900", target="dying"),
        case("asks", graders=["python:agent:asks"]),
        {"id": "shipped", "input": "x", "target": "shipped", "graders": [
            {"contains": "agent.py"}, {"contains": "None yes"},
            {"type": "contains", "any": [".git", ".evalcase"], "not": True}]},
        {"id": "reads", "input": attached, "target": "reads", "expected_output": "attached"},
        {"id": "loads", "input": "x", "target": "loads", "graders": ["python:agent:finds_key"]},
        {"id": "broken", "input": "x", "target": "raises", "expected_output": "x"},
        {"id": "talk", "target": "remembers", "turns": [
            {"input": "a", "expected_output": "a"}, {"input": "b", "expected_output": "a b"}]},
    )  # fmt: skip
    env = {
        "PRIVATE": "no", "NAMED": "yes", "RUN_KEY": SECRET, "RAY_TMPDIR": str(session),
    }  # fmt: skip
    done = dangerous.run_process("run", "--json", "--concurrency", "8", env=env)
    assert done.code == 3, done
    verdicts = dangerous.verdicts()
    rows = {row["case"]: row for row in dangerous.rows()}
    odd = {name: verdict for name, verdict in verdicts.items() if verdict != "passed"}
    if "loads" in odd:
        # One of those that die may take the worker with it before the answer is graded there.
        assert "left its worker, which is gone" in json.dumps(rows["loads"])
        del odd["loads"]
    assert odd == {
        "wrong": "failed", "raised": "errored", "exit": "errored", "grow": "errored",
        "broken": "errored",
    }, done.err  # fmt: skip
    assert (done.code, done.json["total"], done.json["grading_usd"]) == (3, 31, 0.25)
    assert "more than 500 MB of memory" in rows["grow"]["failure"]["message"]
    said = [path for path in session.rglob("*") if path.is_file() and "logs" in path.parts]
    assert any(path.name.startswith("worker-") and path.stat().st_size for path in said)
    kept = [*said, *(tmp_path / ".evalcase").rglob("*.jsonl")]
    for secret in (SECRET, LOADED):
        assert secret not in done.err + done.out
        assert [path for path in kept if secret.encode() in path.read_bytes()] == []


def test_what_ray_says_is_passed_on_in_one_line() -> None:
    error = RuntimeError(
        "Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.10.1\n"
        "This process on node 10.0.0.1 was started with:\n    Ray: 2.60.0\n    Python: 3.11.7\n"
    )
    assert "with: Ray: 2.9.0 Python: 3.10.1 This process" in describe_error(error)
    died = "The actor died unexpectedly.\nWorker exit detail: it was killed. Some common causes: x"
    assert describe_error(RuntimeError(died)) == "RuntimeError: it was killed."
