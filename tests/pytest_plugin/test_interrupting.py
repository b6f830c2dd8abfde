import signal
import subprocess
import sys

import pytest

from tests.cli.command import LIMIT_S, environment, evalcase
from tests.pytest_plugin.project import records, verdicts, write

AGENT = """
import asyncio, os

async def answer(question):
    if question == "slow" and not os.path.exists("go"):
        await asyncio.Event().wait()
    return question
"""
SUITE = """
- {id: quick, input: quick, expected_output: quick}
- {id: slow, input: slow, expected_output: slow}
"""


def test_after_ctrl_c_what_is_finished_is_kept_and_resume_does_the_rest(
    evals: pytest.Pytester,
) -> None:
    write(evals, "agent.py", AGENT)
    write(evals, "evals/all.eval.yaml", SUITE)
    command = [sys.executable, "-m", "pytest", "--evals", "-v", "-p", "no:cacheprovider", "evals"]
    process = subprocess.Popen(
        command, cwd=evals.path, env=environment(), stdout=subprocess.PIPE, bufsize=0
    )
    assert process.stdout is not None
    seen = b""
    while b"::slow" not in seen:  # pytest waits for it
        chunk = process.stdout.read(1000)
        assert chunk, seen
        seen += chunk
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=LIMIT_S)
    said = (seen + rest).decode()
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "1 of 2 trials finished and stored" in said
    (run,) = records(evals)
    assert run.status == "interrupted"
    write(evals, "go", "")
    resumed = evalcase("resume", cwd=evals.path)
    assert resumed.code == 0, resumed.out + resumed.err
    (run,) = records(evals)
    assert set(verdicts(run).values()) == {"passed"}
