"""Processes that search for patterns: started when needed, used again, ended at a limit."""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import cache
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock

from evalcase.errors import EvalcaseError
from evalcase.system.patterns.search import MatchSpan, Search
from evalcase.system.threads import Threads

_PROGRAM = os.path.join(os.path.dirname(__file__), "program.py")
_MOST_IDLE = 4


class _Searcher:
    """One process, at one search at a time."""

    def __init__(self) -> None:
        self._process: Popen[bytes] | None = None

    def find(self, search: Search, limit_s: float) -> MatchSpan | None:
        """Where it is. It is called in a thread, which waits without holding up others."""
        process = self._process = self._process or _start_process()
        assert process.stdin is not None
        assert process.stdout is not None
        asked = json.dumps({**search._asdict(), "limit_s": limit_s})
        try:
            process.stdin.write(asked.encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):  # it has ended, or was ended
            line = b""
        if not line.endswith(b"\n"):
            raise _explain_end(self.end(), search, limit_s)
        found = json.loads(line)
        return None if found is None else MatchSpan(*found)

    def end(self) -> int:
        """Kill it; its exit code. A search that another thread waits for has no answer then."""
        process, self._process = self._process, None
        if process is None:
            return 0
        code = process.poll()
        process.kill()
        ended = process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except OSError:
                continue  # what was not written is of no use any more
        return ended if code is None else code


def _start_process() -> Popen[bytes]:
    try:
        # A session of its own: Ctrl-C is for evalcase, which then ends it by closing its input.
        return Popen(  # noqa: S603 - this Python and a file of this package
            [sys.executable, "-I", "-S", _PROGRAM], stdin=PIPE, stdout=PIPE, stderr=DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        why = f"the process that searches for it can't be started: {error.strerror}"
        raise EvalcaseError(why) from None


def _explain_end(code: int, search: Search, limit_s: float) -> EvalcaseError:
    shown = search.pattern if len(search.pattern) <= 60 else f"{search.pattern[:60]}…"
    if code == -getattr(signal, "SIGALRM", 0):
        where = f"a text of {len(search.text):,} characters"
        return EvalcaseError(f"to look for `{shown}` in {where} took longer than {limit_s:g} s")
    return EvalcaseError(f"the process that looked for `{shown}` ended (exit code {code})")


_THREADS = Threads("evalcase-pattern")
_idle: list[_Searcher] = []
_lock = Lock()


async def find_elsewhere(search: Search, limit_s: float) -> MatchSpan | None:
    """Where a pattern is found, looked for in another process. Raise EvalcaseError if that takes
    longer than the limit; if this is cancelled, the process is ended."""
    _end_with_python()
    with _lock:
        searcher = _idle.pop() if _idle else _Searcher()
    try:
        found = await _THREADS.call(searcher.find, search, limit_s)
    except BaseException:
        searcher.end()
        raise
    with _lock:
        is_kept = len(_idle) < _MOST_IDLE
        if is_kept:
            _idle.append(searcher)
    if not is_kept:
        searcher.end()
    assert found is None or isinstance(found, MatchSpan)
    return found


def end_searchers() -> None:
    """End those that have nothing to do."""
    with _lock:
        ended, _idle[:] = list(_idle), []
    for searcher in ended:
        searcher.end()


@cache
def _end_with_python() -> None:
    from atexit import register

    register(end_searchers)
