"""Programs as graders: what they are given, how they reply, and how they end."""

import asyncio
import json
import os
import sys
from pathlib import Path
from textwrap import dedent
from time import time
from typing import Any

import pytest

from evalcase.config.graders import make_grader
from evalcase.errors import ConfigError, SuiteError
from evalcase.graders.base import Context
from evalcase.runner.grading import grade_answer
from evalcase.types.grade import Grade
from evalcase.types.target import Surroundings
from evalcase.util.user_calls import UserCalls
from tests.graders.expectation import answer_of, calls, context_of
from tests.graders.rows import messages_of
from tests.targets.bell import is_there

START = "import json, os, sys, time\n"


def script(tmp_path: Path, body: str, **options: Any) -> dict[str, Any]:
    """A grader whose program is some Python."""
    (tmp_path / "grade.py").write_text(START + dedent(body))
    return {"type": "script", "value": [sys.executable, "-I", "-S", "grade.py"], **options}


def grade_all(root: Path, spec: dict[str, Any], *contexts: Context) -> list[Grade]:
    async def grade() -> list[Grade]:
        named = make_grader(spec)
        named.grader.load(Surroundings(str(root), dict(os.environ), print, time))
        try:
            return [
                (await grade_answer(context, [named], UserCalls())).grades[0]
                for context in contexts
            ]
        finally:
            await named.grader.close()

    return asyncio.run(grade())


def grade(root: Path, spec: dict[str, Any], context: Context | None = None) -> Grade:
    return grade_all(root, spec, context or context_of(answer_of("four")))[0]


NOT_JSON = (
    "what the script printed is not JSON (Expecting value at line 1, column 1); logs go to stderr"
)


def printing(reply: Any) -> str:
    return f"print({(reply if isinstance(reply, str) else json.dumps(reply))!r})"


@pytest.mark.parametrize(
    ("reply", "score", "passed", "reason"),
    [
        ({"score": 1}, 1.0, True, "score 1"),
        ({"score": 0.5, "reason": "half"}, 0.5, False, "half (score 0.5, needs 1)"),
        ({"score": 0.5, "passed": True, "reason": "enough"}, 0.5, True, "enough"),
        ({"passed": False, "reason": "no", "error": None}, 0.0, False, "no"),
        # AgentV, January: hits, misses and reasoning.
        ({"score": 1, "hits": ["a"], "misses": [], "reasoning": "fine"}, 1.0, True, "fine"),
        ({"score": 0, "hits": [], "misses": ["no price", "no name"]}, 0.0, False,
         "no price; no name"),
        # AgentV later: assertions, then pass and checks.
        ({"assertions": [{"text": "short", "passed": True}, {"text": "kind", "passed": False}]},
         0.5, False, "kind (score 0.5, needs 1)"),
        ({"pass": True, "score": 1, "reason": "ok", "checks": [{"text": "a", "pass": True}]},
         1.0, True, "ok"),
    ],
)  # fmt: skip
def test_replies(tmp_path: Path, reply: Any, score: float, passed: bool, reason: str) -> None:
    found = grade(tmp_path, script(tmp_path, printing(reply)))
    assert (found.score, found.passed, found.reason) == (score, passed, reason)


def test_whatever_else_a_reply_says_is_kept(tmp_path: Path) -> None:
    reply = {"score": 1, "details": {"a": 1}, "hits": ["x"], "model": "m"}
    found = grade(tmp_path, script(tmp_path, printing(reply)))
    assert found.details == {"a": 1, "hits": ["x"], "model": "m"}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (printing({}), "the reply has no `score`: {}"),
        (printing({"score": 1.5}),
         'the reply is no score: Expected `float` <= 1.0 - at `$.score`: {"score": 1.5}'),
        (printing({"score": True}),
         ('the reply is no score: Expected `float | null`, got `bool` - at `$.score`: '
         '{"score": true}')),
        (printing({"score": 1, "passed": 5}),
         ('the reply is no score: Expected `bool | null`, got `int` - at `$.passed`: '
         '{"score": 1, "passed": 5}')),
        (printing({"score": 1, "error": "model down"}),
         """the reply says 'model down' as its `error`: {"score": 1, "error": "model down"}"""),
        (printing({"passed": True, "pass": False}), ("the reply has `passed` and `pass`, and they "
         'differ: {"passed": true, "pass": false}')),
        (printing({"score": 0, "passed": True}), ("the reply says that it passed, with a score of "
         '0: {"score": 0, "passed": true}')),
        (printing({"score": 1, "passed": False}), ("the reply says that it did not pass, with a "
         'score of 1: {"score": 1, "passed": false}')),
        (printing({"score": 1, "checks": [{"text": "kind", "passed": False}]}),
         ("the reply has a score of 1, and a check that failed: kind: "
         '{"score": 1, "checks": [{"text": "kind", "passed": false}]}')),
        (printing("[1]"), "the reply is not an object: [1]"),
        (printing('looking…\n{"score": 0.0}'), f"{NOT_JSON}: looking…"),
        ("pass", NOT_JSON),
        ("sys.exit('no such model')", "the script exited with code 1: no such model"),
        ("print('{\"score\": 1}'); sys.exit(3)", "the script exited with code 3"),
    ],
)  # fmt: skip
def test_what_is_no_score_is_errored_with_what_was_printed(
    tmp_path: Path, body: str, reason: str
) -> None:
    found = grade(tmp_path, script(tmp_path, body))
    assert found.failure is not None
    assert (found.score, found.reason) == (None, reason)
    if "print" in body:
        assert found.failure.details.get("output") or found.failure.details.get("stdout")


def test_a_script_is_given_the_trial_and_no_key_is_renamed(tmp_path: Path) -> None:
    spec = script(
        tmp_path,
        "print(json.dumps({'score': 1, 'details': json.load(sys.stdin)}))",
        config={"maxWords": 3},
    )
    answer = answer_of(calls({"tool": "look", "input": {"deepKey": 1}}, content="Höh"))
    context = context_of(
        answer, expected_output={"riskLevel": "High"}, metadata={"camelCase": {"innerKey": 1}},
        criteria="Says high.",
    )  # fmt: skip
    given = grade(tmp_path, spec, context).details
    assert given["case"] == "a"
    assert given["answer"] == given["candidate_answer"] == given["actual_output"] == "Höh"
    assert given["output"] == "Höh"
    assert given["expected_output"] == given["expected_messages"]
    assert given["expected_output"][0]["content"] == {"riskLevel": "High"}
    assert given["input"] == given["input_messages"] == [{"role": "user", "content": "?"}]
    assert given["metadata"] == {"camelCase": {"innerKey": 1}}
    assert given["config"] == {"maxWords": 3}
    assert given["criteria"] == given["expected_outcome"] == "Says high."
    assert given["tool_calls"] == [{"tool": "look", "input": {"deepKey": 1}}]
    assert given["reference_answer"] == '{\n  "riskLevel": "High"\n}'
    assert given["trace_summary"]["tool_calls_by_name"] == {"look": 1}


# As a script in AgentV's repository reads and writes: snake_case in, a score with hits out.
AGENTV_JANUARY = """
given = json.load(sys.stdin)
wanted = json.loads(given["reference_answer"])
got = json.loads(given["candidate_answer"])
hits = [key for key in wanted if got.get(key) == wanted[key]]
misses = [key for key in wanted if key not in hits]
print(json.dumps({"score": len(hits) / len(wanted), "hits": hits, "misses": misses,
                  "reasoning": f"{len(hits)} of {len(wanted)}"}))
"""


def test_a_script_of_agentv_runs_unchanged(tmp_path: Path) -> None:
    context = context_of(answer_of('{"riskLevel": "High"}'), expected_output={"riskLevel": "High"})
    assert grade(tmp_path, script(tmp_path, AGENTV_JANUARY), context).passed


WORKER = """
started = os.getpid()
for line in sys.stdin:
    given = json.loads(line)
    if given["answer"] == "end":
        sys.exit("enough")
    if given["answer"] == "odd":
        print("hm", flush=True)
    if given["answer"] == "error":
        print(json.dumps({"id": given["id"], "error": "no model"}), flush=True)
    print(json.dumps({"id": given["id"], "score": 1, "details": {"pid": started}}), flush=True)
"""


def test_a_worker_grades_one_answer_after_the_other(tmp_path: Path) -> None:
    spec = script(tmp_path, WORKER, mode="worker")
    contexts = [context_of(answer_of(text)) for text in ("a", "b", "end", "c", "odd", "error", "d")]
    grades = grade_all(tmp_path, spec, *contexts)
    assert [each.passed for each in grades] == [True, True, False, True, False, False, True]
    pids = [each.details.get("pid") for each in grades]
    assert pids[0] == pids[1]
    assert pids[3] != pids[0]
    assert "enough" in grades[2].reason
    assert grades[4].reason.startswith("the worker's reply is not JSON")
    assert grades[5].reason.startswith("the worker's reply says 'no model'")


def test_a_line_that_a_worker_was_not_asked_for_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = script(tmp_path, WORKER + '    print("done", flush=True)\n', mode="worker")
    assert grade(tmp_path, spec).passed
    assert capsys.readouterr().out == "a worker wrote a line that it was not asked for: done\n"


def test_time_is_limited_and_the_whole_tree_is_ended(tmp_path: Path) -> None:
    spec = script(
        tmp_path,
        """
        import subprocess
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
        with open("pid", "w") as file:
            file.write(str(child.pid))
        os.rename("pid", "child")
        time.sleep(600)
        """,
        timeout_s=1.5,
    )
    found = grade(tmp_path, spec)
    assert found.failure is not None
    assert found.reason == "returned no grade within 1.5 s"
    if (tmp_path / "child").exists():  # on a very busy machine it may not have come so far
        assert not is_there(int((tmp_path / "child").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't limit memory so")
def test_memory_is_limited(tmp_path: Path) -> None:
    body = "x = bytearray(2_000_000_000); print(json.dumps({'score': 1}))"
    found = grade(tmp_path, script(tmp_path, body, memory_mb=500))
    assert found.failure is not None
    assert "MemoryError" in found.reason
    small = "print(json.dumps({'score': 1}))"
    assert grade(tmp_path, script(tmp_path, small, memory_mb=500)).passed


def test_a_program_that_is_not_there_is_told_before_the_run(tmp_path: Path) -> None:
    for name in ("nosuch-program", "./nosuch.py"):
        named = make_grader({"type": "script", "value": [name]})
        with pytest.raises(ConfigError, match=f"there is no program `{name}` to run"):
            named.grader.load(Surroundings(str(tmp_path), dict(os.environ), print, time))


def test_wrong_options_are_found_by_check() -> None:
    for value, message in [
        ("python3 grade.py", "the argument of `script` is a list of texts, not 'python3 grade.py'"),
        ([], "the argument of `script` is an empty list"),
        ([""], "the program has no name"),
    ]:
        with pytest.raises(SuiteError) as caught:
            context_of(answer_of("x"), graders=[{"script": value}])
        assert messages_of(caught.value) == [message]
