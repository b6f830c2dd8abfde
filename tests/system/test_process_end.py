"""Nobody ends this process but who may; a child of it may end as it likes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

START = """
import os, sys
end = os._exit
from evalcase.system.process_end import ProcessEndError, refuse_process_end
refuse_process_end()
"""
CALLS = {
    "_exit": "os._exit(0)",
    "posix": "import posix; posix._exit(0)",
    "execv": "os.execv('/bin/true', ['true'])",
    "execlp": "os.execlp('true', 'true')",
    "execvpe": "os.execvpe('true', ['true'], {'KEY': 'secret'})",
}


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START + code], check=False, capture_output=True, text=True
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system of another kind")
def test_whoever_ends_the_process_is_told_that_it_can_not() -> None:
    tries = "".join(
        f"try:\n    {call}\nexcept ProcessEndError as error:\n    print({name!r}, error)\n"
        for name, call in CALLS.items()
    )
    done = run(tries + "sys.stdout.flush()\nend(7)")
    assert done.returncode == 7
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(CALLS)
    assert "os._exit(0) would end evalcase" in done.stdout
    assert "secret" not in done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system of another kind")
def test_a_child_ends_as_it_likes() -> None:
    done = run(
        """
import multiprocessing, subprocess
def code_of(do):
    pid = os.fork()
    if not pid:
        do()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
worker = multiprocessing.get_context("fork").Process(target=sys.exit, args=(5,))
worker.start()
worker.join()
print(
    code_of(lambda: os._exit(4)), code_of(lambda: os.execvp("false", ["false"])), worker.exitcode,
    os.spawnlp(os.P_WAIT, "false", "false"), subprocess.call(["false"]),
)
"""
    )
    assert (done.stdout, done.stderr) == ("4 1 5 1 1\n", "")
