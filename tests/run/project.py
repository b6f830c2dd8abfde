"""A project of a user's: a folder with an agent, a configuration and suites, and the command run
in it: to its end in the process of the tests, or as a process of its own where that matters."""

import json
import os
import re
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.command import LIMIT_S, environment, start_process
from tests.cli.in_process import run_in_process
from tests.store.rows import read_results, read_rows

KEYS = {
    "run", "path", "status", "total", "passed", "failed", "errored", "ungraded", "skipped",
    "pass_rate", "unfinished", "not_run", "figures", "trials", "cost_usd", "grading_usd",
    "users_usd", "lost_usd", "spent_usd", "cached", "duration_s", "decision", "failed_of",
    "selected", "mixed", "grading",
}  # fmt: skip

# What it does is in the text of each case. Every call is noted in a file, one write for each.
AGENT = '''
import asyncio
import os
import sys
import threading
from pathlib import Path

from evalcase import Question, TargetError

HERE = Path(__file__).parent


def note(name, text):
    with open(HERE / name, "ab", buffering=0) as file:
        file.write(text.encode() + b"\\n")


def gate(case_id):
    """Tell that a call is under way, and wait until the test lets it go on."""
    with open(HERE / "started", "wb", buffering=0) as started:
        started.write(case_id.encode() + b"\\n")
    with open(HERE / "go", "rb", buffering=0) as go:
        go.read(1)


def calls_of(case_id):
    return (HERE / "calls").read_text().split().count(case_id)


def answer(question: Question):
    note("calls", question.case)
    word, _, rest = question.text.partition(" ")
    if os.environ.get("GATED") or word == "gate":
        gate(question.case)
    if word == "raise":
        raise ValueError(rest)
    if word == "exit":
        sys.exit(rest)
    if word == "hang":
        threading.Event().wait()
    if word == "cost":
        message = {"role": "assistant", "content": "ok"}
        return {"messages": [message], "cost_usd": float(rest)}
    if word == "later" and calls_of(question.case) <= int(rest):
        raise TargetError("busy", kind="http", may_succeed_later=True, retry_after_s=0.0)
    if word == "never":
        raise TargetError("forbidden", kind="http", details={"status": 401})
    if word == "once" and calls_of(question.case) == 1:
        raise ValueError("the first time")
    if word == "env":
        return os.environ[rest]
    return rest if word == "say" else "ok"


def other(question: Question):
    note("others", question.case)
    return "ok"


async def cancelling(question: Question):
    note("calls", question.case)
    if question.text == "cancel":
        raise asyncio.CancelledError
    return "ok"


def slow_grader(text):
    return text == "ok"


class Counted:
    def open(self):
        note("life", "open")

    def close(self):
        note("life", "close")

    def answer(self, question: Question):
        return answer(question)
'''

CONFIG = """
target = "agent"

[targets.agent]
kind = "python"
function = "agent:answer"

[targets.other]
kind = "python"
function = "agent:other"
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object of `--json`."""
        data: dict[str, Any] = json.loads(self.out)
        assert set(data) == KEYS
        return data

    def counts(self) -> dict[str, int]:
        """The verdicts of cases that there are."""
        return _some(self.json)

    def trials(self) -> dict[str, int]:
        """The verdicts of trials that there are."""
        return _some(self.json["trials"])


def _some(counts: dict[str, int]) -> dict[str, int]:
    words = ("passed", "failed", "errored", "ungraded", "skipped")
    return {word: counts[word] for word in words if counts[word]}


class Project:
    """What a person has on disk, and what they type."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "agent.py").write_text(AGENT)
        self.configure(CONFIG)

    def configure(self, text: str) -> None:
        (self.path / "evalcase.toml").write_text(text)

    def suite(self, *cases: dict[str, Any], name: str = "s", **fields: Any) -> Path:
        path = self.path / f"{name}.eval.yaml"
        text = json.dumps({**fields, "cases": list(cases)}, ensure_ascii=False)
        # YAML takes characters as they are, but for control characters.
        text = re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text)
        path.write_text(text, encoding="utf-8")
        return path

    def start(
        self, *arguments: str, env: Mapping[str, str] | None = None, below: str = ".",
        out: int = subprocess.PIPE, fresh: bool = False,
    ) -> subprocess.Popen[bytes]:  # fmt: skip
        """The command as a process, under way, in the folder of the project or one below.

        With `fresh`, it begins with a Python that has imported nothing yet.
        Failures are named on standard error as they come only if `out` goes elsewhere.
        """
        return start_process(
            *arguments, cwd=self.path / below, env={"PYTHONFAULTHANDLER": "1", **(env or {})},
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, fresh=fresh,
        )  # fmt: skip

    def run(self, *arguments: str, env: Mapping[str, str] | None = None, below: str = ".") -> Done:
        """The command, in this process, to its end. It must neither hang nor crash."""
        ended = run_in_process(arguments, cwd=self.path / below, env=environment(**(env or {})))
        return _done(*ended)

    def run_process(
        self, *arguments: str, env: Mapping[str, str] | None = None, below: str = "."
    ) -> Done:
        """The command as a process of its own, to its end."""
        return finish(self.start(*arguments, env=env, below=below))

    def calls(self, name: str = "calls") -> list[str]:
        """The cases that the agent was called for so far, in order."""
        path = self.path / name
        return path.read_text().split() if path.exists() else []

    def add_to_agent(self, code: str) -> None:
        path = self.path / "agent.py"
        path.write_text(f"{path.read_text()}\n{code}")

    def forget_calls(self) -> None:
        (self.path / "calls").unlink(missing_ok=True)

    def runs(self) -> list[Path]:
        """The folders of all runs, oldest first; ids of one second are in no order."""
        folders = (self.path / ".evalcase" / "runs").glob("*-*")
        return sorted(folders, key=_begun)

    def options(self) -> dict[str, Any]:
        """Those of the latest run, as `run.json` has them."""
        data: dict[str, Any] = json.loads((self.runs()[-1] / "run.json").read_text())
        options: dict[str, Any] = data["about"]["options"]
        return options

    def rows(self, run: Path | str | None = None) -> list[dict[str, Any]]:
        """The results of a run, as its journal has them."""
        journal = Path(run or self.runs()[-1]) / "journal.jsonl"
        return [row for _, row in read_rows(str(journal)) if row["type"] == "result"]

    def keep_only(self, count: int) -> None:
        """Make the newest run one of which only so many trials are finished."""
        journal = self.runs()[-1] / "journal.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        ends = [number for number, line in enumerate(lines) if b'"type":"result"' in line]
        journal.write_bytes(b"".join(lines[: ends[count - 1] + 1]))

    def verdicts(self, run: Path | str | None = None) -> dict[str, str]:
        """What the record of a run says of each case."""
        journal = Path(run or self.runs()[-1]) / "journal.jsonl"
        return {result.key.case: result.verdict for result in read_results(str(journal))}


def _begun(run: Path) -> str:
    about = run / "run.json"
    try:
        return str(json.loads(about.read_text())["created_at"])
    except (OSError, ValueError, KeyError):
        return run.name  # killed before it was written, or spoilt by the test


def finish(process: subprocess.Popen[bytes]) -> Done:
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # it says where it is
        out, err = process.communicate()
        raise AssertionError(f"it hangs:\n{out.decode()}{err.decode()}") from None
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return _done(process.returncode, out or b"", err)


def _done(code: int, out: bytes, err: bytes) -> Done:
    assert b"Traceback" not in err, err.decode(errors="replace")
    return Done(code, out.decode(), err.decode())


def await_notice(process: subprocess.Popen[bytes], text: str) -> None:
    """Wait until the command has said something on standard error."""
    await_lines(process, text, 1)


def await_lines(process: subprocess.Popen[bytes], text: str, count: int) -> None:
    """Wait until it has said something so many times."""
    assert process.stderr is not None
    said = b""
    while said.count(text.encode()) < count:
        ready, _, _ = select.select([process.stderr], [], [], LIMIT_S)
        more = os.read(process.stderr.fileno(), 4096) if ready else b""
        assert more, f"it said only {said!r}"
        said += more


class Gate:
    """Lets the calls of an agent wait until the test has seen them."""

    def __init__(self, folder: Path) -> None:
        self.pipes = []
        for name in ("started", "go"):
            os.mkfifo(folder / name)
            # For reading and writing, so that neither end waits for the other to open it.
            self.pipes.append(os.open(folder / name, os.O_RDWR | os.O_NONBLOCK))
        self.seen: list[str] = []

    def await_calls(self, count: int) -> list[str]:
        """Wait until so many calls are under way, or were; their cases."""
        while len(self.seen) < count:
            ready, _, _ = select.select([self.pipes[0]], [], [], LIMIT_S)
            assert ready, f"only {self.seen} were called"
            self.seen += os.read(self.pipes[0], 4096).decode().split()
        return self.seen

    def let_go(self, count: int = 1) -> None:
        os.write(self.pipes[1], b"." * count)

    def close(self) -> None:
        for pipe in self.pipes:
            os.close(pipe)


def cases(count: int, text: str = "say ok", prefix: str = "c") -> list[dict[str, Any]]:
    return [
        {"id": f"{prefix}{number}", "input": text, "expected_output": "ok"}
        for number in range(count)
    ]


def case(id: str, text: str = "say ok", **fields: Any) -> dict[str, Any]:
    return {"id": id, "input": text, "expected_output": "ok", **fields}


def interrupt(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)


def ids(items: Sequence[dict[str, Any]]) -> list[str]:
    return [str(item["id"]) for item in items]
