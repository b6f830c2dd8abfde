"""Code of a user's that writes into all it is given; it remembers what it saw before that."""

import json
from typing import Any, ClassVar

from evalcase import Answer, Context, Grader, Question, Result, Score, Target, TargetError
from evalcase.types.message import Step
from evalcase.types.target import Traits

SPOILT = "spoilt"
_DEPTH = 7


class Watch:
    """What was seen by whom; and whether it is then spoilt."""

    spoils = False
    seen: ClassVar[list[str]] = []

    @classmethod
    def look(cls, who: str, *values: object) -> None:
        cls.seen += [
            f"{who}: {json.dumps(_told(value, _DEPTH), sort_keys=True)}" for value in values
        ]
        if cls.spoils:
            for value in values:
                spoil(value)


def spoil(value: object, depth: int = _DEPTH) -> None:
    """Write into every dict and list that can be reached, by public names."""
    if depth == 0 or value is None or isinstance(value, str | int | float):
        return
    for each in _parts(value).values():
        spoil(each, depth - 1)
    if type(value) is dict:
        value.clear()
        value[SPOILT] = SPOILT
    elif type(value) is list:
        value[:] = [SPOILT]


def _parts(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return {**value}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return {str(number): each for number, each in enumerate(value)}
    found = {}
    for name in dir(value):
        if not name.startswith("_") and name not in ("asker", "grading"):
            each = getattr(value, name)
            if not callable(each):
                found[name] = each
    return found


def _told(value: object, depth: int) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    # Neither is the same in two runs.
    hidden = ("session", "started_at", "duration_s", "asking_s", "asked_at")
    parts = _parts(value) if depth else {}
    return {name: _told(each, depth - 1) for name, each in parts.items() if name not in hidden}


ANSWER = {"city": {"name": "Oslo", "tags": ["a", "b"]}, "n": [1, {"x": 2}]}


def answer_now() -> dict[str, Any]:
    fresh: dict[str, Any] = json.loads(json.dumps(ANSWER))
    return fresh


def by_names(text: Any, messages: Any, files: Any, metadata: Any) -> Any:
    Watch.look("names", text, messages, files, metadata)
    return answer_now()


def by_question(question: Question) -> Any:
    Watch.look("question", question)
    return answer_now()


class Own(Target):
    """Is asked as the engine asks, fails the first time, and keeps writing into old answers."""

    traits = Traits(caching="keyed")

    def __init__(self) -> None:
        self.given: list[Answer] = []

    def cache_key(self, question: Question) -> Any:
        Watch.look("key", question)
        return ["own", question.case, question.repeat]

    async def answer(self, question: Question) -> Answer:
        Watch.look("target", question)
        if question.attempt == 1:
            raise TargetError("not yet", may_succeed_later=True, retry_after_s=0.001)
        for each in self.given if Watch.spoils else ():
            spoil(each)
        message = evalcase_message(answer_now())
        steps = (Step("call", tool="find", input={"city": {"name": "Oslo"}}),)
        self.given.append(Answer((message,), steps=steps))
        return self.given[-1]


class User(Target):
    async def answer(self, question: Question) -> Answer:
        Watch.look("user", question)
        return Answer.of_text("And then?" if question.turn < 2 else "DONE")


def evalcase_message(content: Any) -> Any:
    from evalcase import Message

    return Message({"role": "assistant", "content": content})


def grade_by_names(
    *,
    answer: Any, output: Any, messages: Any, tool_calls: Any, case: Any, input: Any, expected: Any,
    metadata: Any, question: Any, context: Any,
) -> Any:  # fmt: skip
    for each in (answer, output, messages, tool_calls, case, input, expected, metadata, question):
        Watch.look("names", each)
    Watch.look("context", context)
    return {"score": 1, "reason": "fine", "details": {"a": {"b": [1]}}}


def grade_inside(context: Context) -> bool:
    Watch.look("inside", context)
    return True


class OwnGrader(Grader):
    name = "own"
    description = "Always."
    reads = "either"

    async def grade(self, context: Context) -> Score:
        Watch.look("grader", context)
        return Score(1.0, "good", {"kept": {"of": ["it"]}})


class Asks(Grader):
    name = "asks"
    description = "Always."

    async def grade(self, context: Context) -> Score:
        def use(answer: Answer) -> bool:
            Watch.look("usable", answer)
            return True

        said = await context.ask("critic", [evalcase_message({"a": [1]})], {"type": "object"}, use)
        Watch.look("asked", said)
        return Score(1.0, "asked", {"said": [1, 2]})


def on_result(result: Result) -> None:
    Watch.look("result", result)
