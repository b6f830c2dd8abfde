"""Programs as graders: what they are given, how they reply, and how they end."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (printing({}), "the reply has no `score`: {}"),
        (printing({"score": 1.5}),
         'the reply has the score 1.5, which is not a number from 0 to 1: {"score": 1.5}'),
        (printing({"score": True}),
         'the reply has the score True, which is not a number from 0 to 1: {"score": true}'),
        (printing({"score": 1, "passed": 5}),
         'the reply has 5 as `passed`, which is true or false: {"score": 1, "passed": 5}'),
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
        (printing({"score": 1, "assertions": [{"text": "short", "passed": True}],
                   "checks": [{"text": "kind", "passed": False}]}),
         ("the reply has a score of 1, and a check that failed: kind: "
         '{"score": 1, "assertions": [{"text": "short", "passed": true}], '
         '"checks": [{"text": "kind", "passed": false}]}')),
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
