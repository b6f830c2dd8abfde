"""What code of a user's may do, and where: each pair is a cell of a table, with what must come of
it. A cell is a function, class or factory with a name of its own, in one module for many."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple


class Place(NamedTuple):
    """Where code stands: a source with NAME, and BODY on a line of its own."""

    source: str
    is_async: bool = False
    right: str = '"ok"'
    """What is returned where all is well."""

    def define(self, name: str, body: str) -> str:
        lines = textwrap.dedent(self.source).strip("\n").splitlines()
        filled = []
        for line in lines:
            indent = line[: len(line) - len(line.lstrip())]
            if line.strip() == "BODY":
                filled += textwrap.indent(textwrap.dedent(body).strip("\n"), indent).splitlines()
            else:
                filled.append(line.replace("NAME", name))
        return "\n".join(filled).replace("RIGHT", self.right) + "\n"


TARGETS: Mapping[str, Place] = {
    "function": Place("def NAME(question):\n    BODY"),
    "async_function": Place("async def NAME(question):\n    BODY", is_async=True),
    "class": Place("class NAME:\n    def answer(self, question):\n        BODY"),
    "async_class": Place("class NAME:\n    async def answer(self, question):\n        BODY", True),
    "callable_object": Place(
        "class NAME_:\n    def __call__(self, question):\n        BODY\nNAME = NAME_()"
    ),
    "factory": Place("def NAME():\n    def answer(question):\n        BODY\n    return answer"),
    "awaitable": Place(
        "def NAME(question):\n    async def answer():\n        BODY\n    return answer()", True
    ),
    "Target": Place(
        "class NAME(Target):\n    async def answer(self, question):\n        BODY",
        True,
        'Answer.of_text("ok")',
    ),
}
GRADERS: Mapping[str, Place] = {
    "grader": Place("def NAME(text):\n    BODY", right="True"),
    "async_grader": Place("async def NAME(text):\n    BODY", True, "True"),
}
PLACES = {**TARGETS, **GRADERS}


class Kind(NamedTuple):
    """One misbehaviour."""

    body: str
    verdict: str = "errored"
    word: str = ""
    """What the failure says."""

    @property
    def limit_s(self) -> float:
        """A short one for what has to be ended by it, and one that is never reached."""
        return 0.2 if "within" in self.word else 20.0


RAISED = {
    "error": Kind("raise ValueError('no')", word="ValueError: no"),
    "exit": Kind("sys.exit(0)", word="SystemExit: 0"),
    "interrupt": Kind("raise KeyboardInterrupt", word="KeyboardInterrupt"),
    "generator_exit": Kind("raise GeneratorExit", word="GeneratorExit"),
    "cancelled": Kind("raise asyncio.CancelledError", word="ancelled"),
    "no_memory": Kind("raise MemoryError", word="MemoryError"),
    "recursion": Kind("recurse()", word="RecursionError"),
    "stop_iteration": Kind("raise StopIteration", word="StopIteration"),
    "outcome": Kind("raise OutcomeError('x')", word="OutcomeError"),
    "group": Kind("raise BaseExceptionGroup('two', [SystemExit(0), ValueError()])", word="two"),
    "unspeakable": Kind("raise Unspeakable"),
    "timeout_of_its_own": Kind("raise TimeoutError('mine')", word="TimeoutError: mine"),
}
"""What any code may raise."""

AWAITED = {
    "answers_late": Kind(
        """
        try:
            await sleep_for_ever()
        except asyncio.CancelledError:
            return RIGHT
        """,
        word="within 0.2 s",
    ),
    "sleeps_in_finally": Kind(
        """
        try:
            await sleep_for_ever()
        finally:
            await sleep_for_ever()
        """,
        word="within 0.2 s",
    ),
    "never_listens": Kind(
        """
        while True:
            try:
                await sleep_for_ever()
            except asyncio.CancelledError:
                pass
        """,
        word="within 0.2 s",
    ),
    "says_something_else": Kind(
        """
        try:
            await sleep_for_ever()
        except asyncio.CancelledError:
            sys.exit(0)
        """,
        word="within 0.2 s",
    ),
    "cancels_itself": Kind(
        "asyncio.current_task().cancel()\nawait asyncio.sleep(0)\nreturn RIGHT", word="ancelled"
    ),
    "leaves_a_count": Kind(
        """
        asyncio.current_task().cancel()
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            return RIGHT
        """,
        "passed",
    ),
    "exits_in_a_callback": Kind(
        """
        asyncio.get_running_loop().call_soon(sys.exit, 0)
        await asyncio.sleep(0.01)
        return RIGHT
        """,
        "passed",
    ),
    "exits_in_a_task": Kind(
        "KEPT.append(asyncio.create_task(leave()))\nawait asyncio.sleep(0.01)\nreturn RIGHT",
        "passed",
    ),
    "waits_for_one_that_exits": Kind("await asyncio.gather(leave())", word="SystemExit"),
    "leaves_a_task": Kind(
        "KEPT.append(asyncio.create_task(sleep_for_ever()))\nreturn RIGHT", "passed"
    ),
    "closes_the_loop": Kind("asyncio.get_running_loop().close()", word="RuntimeError"),
    "handles_nothing": Kind(
        "asyncio.get_running_loop().set_exception_handler(lambda *_: sys.exit(0))\nreturn RIGHT",
        "passed",
    ),
}
"""What only async code may do."""

HOLDING = {"blocks": Kind("time.sleep(0.25)\nreturn RIGHT", word="within 0.2 s")}
"""What async code may do to everybody."""

BLOCKING = {
    "never_returns": Kind("threading.Event().wait()", word="within 0.2 s"),
    "returns_late": Kind("time.sleep(0.3)\nreturn RIGHT", word="within 0.2 s"),
}
"""What only plain code may do without holding up everybody."""

WRONG_ANSWERS = {
    "plain_dicts": Kind(
        "return Answer(({'role': 'assistant', 'content': 'ok'},))",
        word="is a tuple of Message, not",
    ),
    "a_list": Kind("return Answer([text_message()])", word="is a tuple of Message, not"),
    "a_usage_of_text": Kind("return Answer((text_message(),), usage=Usage('x'))", word="`usage`"),
    "a_cost_of_text": Kind("return Answer((text_message(),), cost_usd='x')", word="`cost_usd`"),
    "a_cost_of_nan": Kind("return Answer((text_message(),), cost_usd=math.nan)", word="`cost_usd`"),
    "odd_truncated": Kind("return Answer((text_message(),), truncated='x')", word="`truncated`"),
    "odd_model": Kind("return Answer((text_message(),), model=7)", word="`model`"),
}
"""An `Answer` of wrong inner types, whoever returns it."""

RETURNED = {
    "nothing": Kind("return None", word="None"),
    "an_object": Kind("return object()"),
    "a_set": Kind("return {1}"),
    "bytes": Kind("return b'ok'"),
    "not_a_number": Kind("return {'a': math.nan}"),
    "a_huge_number": Kind("return [10 ** 5000]"),
    "deep": Kind("return nested(200)"),
    "endless": Kind("return endless()"),
    "odd_keys": Kind("return {1: 'ok'}"),
    "no_messages": Kind("return Answer(None)"),
    "messages_of_numbers": Kind("return Answer((1,))"),
    "a_message_without_role": Kind("return Answer((Message({'content': 'ok'}),))"),
    "a_role_that_is_none": Kind("return Answer((text_message(role='boss'),))"),
    "calls_that_are_none": Kind("return Answer((text_message(tool_calls=[5]),))"),
    "a_call_without_name": Kind("return Answer((text_message(tool_calls=[{'input': 1}]),))"),
    "content_that_is_no_json": Kind("return Answer((text_message(content={1}),))"),
    "usage_that_is_text": Kind("return Answer((text_message(),), usage='x')"),
    "rude": Kind("return {'a': Rude('x')}", "failed"),
    "a_surrogate": Kind("return '\\ud800'", "failed"),
    **WRONG_ANSWERS,
}
"""What a target may return."""


GRADED = {
    "nothing": Kind("return None", word="returned nothing"),
    "an_object": Kind("return object()", word="returned a object"),
    "seven": Kind("return 7", word="returned 7"),
    "nan": Kind("return math.nan", word="returned nan"),
    "a_grade": Kind("return Grade('g', 1.0, True, 'ok', ['a'])", word="Grade"),
    "details_of_a_list": Kind("return Score(1.0, 'ok', ['a'])", word="the details of a Score"),
    "details_of_objects": Kind("return Score(1.0, 'ok', {'a': object()})", word="not JSON"),
    "deep_details": Kind("return Score(1.0, 'ok', {'a': nested(500)})"),
    "endless_details": Kind("return Score(1.0, 'ok', {'a': endless()})"),
    "a_reason_of_numbers": Kind("return Score(1.0, 3)", word="the reason of a Score"),
    "passed_as_text": Kind("return Score(1.0, 'ok', {}, 'yes')", word="`passed` of a Score"),
    "a_score_of_text": Kind("return Score('1')", word="the value of a Score"),
    "an_odd_mapping": Kind("return {'score': 1, 'colour': 'red'}", word="colour"),
    "rude": Kind("return Score(Rude('x'))", word="SystemExit"),
    "a_rude_reason": Kind("return Score(1.0, Rude('x'), {'a': Rude('x')})", "passed"),
    "a_huge_number": Kind("return Score(10 ** 5000)"),
    "an_odd_pair": Kind("return (1, 2, 3)", word="tuple"),
}
"""What a grader may return."""


class Cell(NamedTuple):
    name: str
    place: str
    kind: Kind

    @property
    def source(self) -> str:
        return PLACES[self.place].define(self.name, self.kind.body)


def cells(kinds: Mapping[str, Kind], places: Iterable[str]) -> Iterator[Cell]:
    """Every kind in every place."""
    for place in places:
        for name, kind in kinds.items():
            yield Cell(f"{name}_by_{place}", place, kind)


ASYNC = [name for name, place in PLACES.items() if place.is_async]
PLAIN = [name for name, place in PLACES.items() if not place.is_async]

TABLE: Mapping[str, list[Cell]] = {
    "raised": list(cells(RAISED, PLACES)),
    "awaited": list(cells(AWAITED, ASYNC)),
    "blocking": list(cells(BLOCKING, PLAIN)),
    "holding": list(cells(HOLDING, ["async_function", "async_class", "Target", "async_grader"])),
    "returned": list(cells(RETURNED, TARGETS)),
    "graded": list(cells(GRADED, GRADERS)),
}
"""Cells that can be done all in one run. The others spoil the process, or each other."""
