"""Rows as a run makes them, and short ways to write and read a journal."""

import sys
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from evalcase.store import journal
from evalcase.store.journal import Journal
from evalcase.types.answer import Answer, Usage
from evalcase.types.case import canonical_case
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.types.result import Result, Trial, Verdict
from evalcase.types.target import TrialKey
from evalcase.util.secrets import Scrubber
from tests.store.rows import as_row, dict_of, read_rows

ROOT = Path(__file__).parents[2]
VERDICTS: tuple[Verdict, ...] = ("passed", "failed", "errored", "ungraded", "skipped")


def result(number: int, *, text: str = "", **changes: Any) -> Result:
    message = Message({"role": "assistant", "content": text or f"The answer is {number}."})
    values: dict[str, Any] = {
        "key": TrialKey("evals/math.eval.yaml", f"case-{number}", "python:agent:answer", 1),
        "question_hash": f"{number:016x}",
        "verdict": VERDICTS[number % 5],
        "answer": Answer((message,), Usage(12, 44), 0.1 * number),
        "grades": (Grade("expected", 0.0, False, "expected 4, got 5", {"at": "content"}),),
        "started_at": "2026-11-15T21:30:00.123456Z",
        "duration_s": 0.25,
    }
    return Result(**values | changes)


def trial(number: int, **fields: Any) -> Trial:
    """The trial whose result `result` is."""
    case = canonical_case(
        {"id": f"case-{number}", "input": [{"role": "user", "content": "?"}], **fields}
    )
    return Trial("evals/math.eval.yaml", case, "python:agent:answer", number=number)


def row(number: int, **changes: Any) -> dict[str, Any]:
    return dict_of(result(number, **changes))


def open_journal(path: str, **options: Any) -> Journal:
    """A journal whose rows are acknowledged in its own thread."""
    usual: dict[str, Any] = {
        "scrubber": Scrubber({}), "deliver": lambda dones: [done() for done in dones],
        "on_failure": print, "read": list,
    }  # fmt: skip
    return journal.open_journal(path, **usual | options)


def write(path: Path, rows: Iterable[dict[str, Any]], **options: Any) -> list[int]:
    """Write rows, and return the numbers of those that were acknowledged."""
    acknowledged: list[int] = []
    with closing(open_journal(str(path), **options)) as opened:
        for number, each in enumerate(rows):
            opened.append(as_row(each), lambda number=number: acknowledged.append(number))  # type: ignore[misc]
    return acknowledged


def append_and_wait(opened: Journal, each: dict[str, Any]) -> bool:
    """Whether the row was acknowledged."""
    done = threading.Event()
    opened.append(as_row(each), done.set)
    return done.wait(60)


def python(*arguments: str) -> list[str]:
    """The command of a Python that imports what this one imports, whatever is installed."""
    paths = [str(ROOT), str(ROOT / "src")]
    return ["env", f"PYTHONPATH={':'.join(paths)}", sys.executable, *arguments]


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [each for _, each in read_rows(str(path))]
