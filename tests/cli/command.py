"""The command as people run it, which must neither hang nor crash: in the process of the tests,
or in one of its own where that matters."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.forked_process import ForkedProcess
from tests.cli.in_process import run_in_process

LIMIT_S = 120.0
"""No command in these tests takes nearly as long, on a machine however busy."""

EVALCASE = (sys.executable, "-m", "evalcase")

# Root passes every permission check by a capability. Without it, the mode of a file counts again.
_WITHOUT_PRIVILEGE = """
import ctypes, os, sys
if sys.platform == "linux":
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.argv[1], sys.argv[1:])
"""


# The child makes the terminal its own, so that Ctrl-C reaches it as it would a person's.
_IN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


class Result(NamedTuple):
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def err(self) -> str:
        return self.stderr.decode()


def environment(**changes: str) -> dict[str, str]:
    """The environment of a plain terminal, whatever the tests were started from."""
    names = ("PATH", "HOME", "XDG_STATE_HOME", "TMPDIR")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    root = Path(__file__).parent.parent.parent
    return {**kept, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(root / "src"), **changes}


def _is_plain(env: Mapping[str, str]) -> bool:
    """Whether Python begins with it as it always does."""
    usual = {**environment(), "PYTHONFAULTHANDLER": "1"}
    begins = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_")
    return all(usual.get(name) == env[name] for name in env if name.startswith(begins))


def evalcase(
    *arguments: str | Path,
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> Result:
    """Run the command, in this process. A hang or a traceback fails the test, whatever it is about.

    Only what it writes by `sys.stdout` and `sys.stderr` is seen."""
    ended = run_in_process(
        [*map(str, arguments)], cwd=cwd, stdin=stdin, env=environment(**(env or {}))
    )
    return _checked(Result(*ended))


def evalcase_process(
    *arguments: str | Path,
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    prefix: tuple[str, ...] = (),
) -> Result:
    """Run the command as a process that begins with Python; with a prefix, one that another program
    starts."""
    done = subprocess.run(
        [*prefix, *EVALCASE, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        env=environment(**(env or {})),
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    return _checked(Result(done.returncode, done.stdout, done.stderr))


def start_process(
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    terminal: bool = False,
    fresh: bool = False,
    **streams: Any,
) -> subprocess.Popen[bytes]:
    """Have the command begin as a process. With `terminal`, standard input is that of its session.

    It is forked from a Python that has imported it (see `fork_server`), unless something is said
    to Python itself, or it is to begin with a `fresh` one."""
    changed = environment(**(env or {}))
    if fresh or not _is_plain(changed) or sys.platform != "linux":
        argv = [*((sys.executable, "-c", _IN_TERMINAL) if terminal else ()), *EVALCASE, *arguments]
        return subprocess.Popen(argv, cwd=cwd, env=changed, start_new_session=terminal, **streams)
    return ForkedProcess([*arguments], cwd=cwd, env=changed, terminal=terminal, **streams)


def _checked(result: Result) -> Result:
    assert b"Traceback" not in result.stderr, result.stderr.decode(errors="replace")
    assert result.code in (0, 1, 2), (result.code, result.stderr)
    return result


def shell(script: str, *, cwd: Path, env: Mapping[str, str] | None = None) -> Result:
    """Run a line of shell in which `$EVALCASE` is the command, and `$PYTHON` what runs it."""
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=cwd,
        env=environment(EVALCASE=" ".join(EVALCASE), PYTHON=sys.executable, **(env or {})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    return Result(done.returncode, done.stdout, done.stderr)


def unprivileged(*arguments: str | Path, cwd: Path | None = None) -> Result:
    """Run the command so that permissions hold even for root."""
    return evalcase_process(*arguments, cwd=cwd, prefix=(sys.executable, "-c", _WITHOUT_PRIVILEGE))


def check(path: Path) -> list[dict[str, Any]]:
    """The problems of a file, as `check --format json` tells them; its exit code must fit."""
    return _problems(evalcase("check", "--format", "json", path))


def check_limited(paths: Sequence[Path], kibibytes: int) -> list[dict[str, Any]]:
    """The same of several, by a process of its own that gets no more memory than this."""
    prefix = ("bash", "-c", f'ulimit -v {kibibytes}; exec "$0" "$@"')
    return _problems(evalcase_process("check", "--format", "json", *paths, prefix=prefix))


def _problems(result: Result) -> list[dict[str, Any]]:
    assert result.stderr == b""
    problems: list[dict[str, Any]] = json.loads(result.stdout)
    failed = any(problem["severity"] == "error" for problem in problems)
    assert result.code == (2 if failed else 0)
    return problems
