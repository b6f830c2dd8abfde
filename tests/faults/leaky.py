"""A project in which the value of a variable, in whichever form, turns up in every place that a
target, a grader or a suite can bring it to."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.run.project import Project
from tests.targets.server import Reply, serving


class Form(NamedTuple):
    secret: str
    planted: Any
    """What turns up; a value of JSON."""
    traces: list[str]
    """What must not be seen anywhere."""
    before: str = ""
    """What the agent does first, in Python."""
    is_given: bool = True
    """Whether the variable is there from the beginning."""
    is_cut_off: bool = False
    """Whether it is so far behind that most places show nothing of it."""


AGENT = """
import json

PLANTED = json.loads(os.environ["PLANTED"])
TEXT = PLANTED if isinstance(PLANTED, str) else json.dumps(PLANTED, ensure_ascii=False)


def leak(question: Question):
    BEFORE
    case = question.case
    if case == "answer text":
        return f"it is {TEXT}"
    if case == "answer data":
        return {"found": [PLANTED], "more": {"deep": PLANTED}}
    if case == "tool call":
        call = {"tool": "get", "input": {"key": PLANTED}, "output": TEXT}
        return [{"role": "assistant", "content": "x", "tool_calls": [call]}]
    if case == "message":
        return [{"role": "assistant", "content": "x", "note": PLANTED, "name": TEXT}]
    if case == "usage":
        message = {"role": "assistant", "content": TEXT}
        return {"messages": [message], "usage": {"input_tokens": PLANTED}, "cost_usd": TEXT}
    if case == "exception":
        raise ValueError(f"401 for {TEXT}")
    if case == "note":
        error = ValueError("no luck")
        error.add_note(TEXT)
        raise error
    if case == "details":
        raise TargetError("no", kind="http", details={"body": PLANTED, TEXT: [TEXT]})
    if case == "retries":
        raise TargetError(TEXT, may_succeed_later=True, retry_after_s=0.0)
    return TEXT if case == "grader" else "ok"


class Closing:
    def answer(self, question: Question):
        return "ok"

    def close(self):
        raise ValueError(f"can't log out as {TEXT}")


def judge_reason(text):
    return {"score": 0, "reason": f"it said {TEXT}"}


def judge_details(text):
    return {"score": 0, "reason": "see there", "details": {"seen": PLANTED, TEXT: [PLANTED]}}


def judge_raise(text):
    raise ValueError(f"can't judge {TEXT}")


def judge_cut(text):
    return {"score": 0, "reason": f"it said {TEXT[:40]}…"}


"""

WORKER = """
import json, os, sys
planted = os.environ["TEXT"]
for line in sys.stdin:
    asked = json.loads(line)
    if asked["case"] == "worker error":
        print(json.dumps({"id": asked["id"], "error": planted}), flush=True)
    elif asked["case"] == "worker garbage":
        print(planted.replace("\\n", " "), flush=True)
    else:
        print(json.dumps({"id": asked["id"], "answer": "ok"}), flush=True)
        print(planted.replace("\\n", " "), flush=True)
"""

CONFIG = """
secrets = ["TOKEN"]
target = "python:agent:leak"
retries = 1

[targets.closing]
kind = "python"
function = "agent:Closing"

[targets.stdout]
kind = "command"
command = ["sh", "-c", "printf %s \\"$TEXT\\""]
stdin = "none"

[targets.stderr]
kind = "command"
command = ["sh", "-c", "printf %s \\"$TEXT\\"; printf %s \\"$TEXT\\" >&2; exit 1"]
stdin = "none"

[targets.worker]
kind = "command"
mode = "worker"
command = [PYTHON, "-S", "-c", WORKER]

[targets.refused]
kind = "http"
url = "REFUSED"

[targets.served]
kind = "http"
url = "SERVED"
answer = "said"
usage = "usage"
"""

GRADERS = {
    "reason of a grader": "judge_reason", "details of a grader": "judge_details",
    "exception of a grader": "judge_raise", "excerpt of a grader": "judge_cut",
}  # fmt: skip
OF_AGENT = (
    "answer text", "answer data", "tool call", "message", "usage", "exception", "note", "details",
    "retries", "grader",
)  # fmt: skip
OF_OTHERS = {
    "closing": "closing", "output of a program": "stdout", "error of a program": "stderr",
    "worker error": "worker", "worker garbage": "worker", "worker says more": "worker",
    "after it": "worker", "http error": "refused", "http answer": "served",
}  # fmt: skip
UNSEEN = {"closing", "worker says more", "after it"}
"""Places that are in no row of their own."""
PLACES = {*OF_AGENT, *GRADERS, *OF_OTHERS, "case"}


def cases(form: Form) -> Iterator[dict[str, Any]]:
    plain = {"input": "x", "expected_output": "ok"}
    for place in OF_AGENT:
        yield {**plain, "id": place}
    for place, grader in GRADERS.items():
        yield {**plain, "id": place, "graders": [f"python:agent:{grader}"]}
    for place, target in OF_OTHERS.items():
        yield {**plain, "id": place, "target": target}
    text = form.planted if isinstance(form.planted, str) else json.dumps(form.planted)
    message = {"role": "assistant", "content": form.planted}
    yield {
        "id": "case", "input": text, "expected_output": [message], "metadata": {"m": form.planted},
        "graders": [{"type": "equals", "value": form.planted}], "description": text,
    }  # fmt: skip


@contextmanager
def leaky(project: Project, form: Form) -> Iterator[dict[str, str]]:
    """A project in which a form turns up everywhere; the environment to run it in."""
    text = form.planted if isinstance(form.planted, str) else json.dumps(form.planted)
    echo = {"x-request-id": text} if text.isascii() and text.isprintable() else {}
    said = {"error": {"message": text}, "said": form.planted, "usage": {"tokens": form.planted}}
    with serving(Reply.of(said, 401, **echo)) as refused, serving(Reply.of(said)) as served:
        config = CONFIG.replace("REFUSED", refused.url).replace("SERVED", served.url)
        config = config.replace("PYTHON", json.dumps(sys.executable))
        project.configure(config.replace("WORKER", json.dumps(WORKER)))
        project.add_to_agent(AGENT.replace("BEFORE", form.before or "pass"))
        project.suite(*cases(form))
        given = {"TOKEN": form.secret} if form.is_given else {}
        yield {**given, "PLANTED": json.dumps(form.planted), "TEXT": text}
