"""What a function is given, by its parameters: named, annotated, in every way Python has."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

from evalcase.errors import ConfigError
from evalcase.targets.signatures import bind_function
from evalcase.types.question import Question
from tests.for_each import for_each
from tests.targets.questions import question

GIVEN = question(
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
    id="greeting", metadata={"k": 1}, attempt=2, session="s7", conversation_id="c",
)  # fmt: skip


def define(source: str, **names: object) -> Callable[..., Any]:
    """The function `f` of some source, which sees some names."""
    scope: dict[str, Any] = dict(names)
    exec(dedent(source), scope)
    function: Callable[..., Any] = scope["f"]
    return function


def called(function: Callable[..., Any], given: Question = GIVEN) -> Any:
    by_place, by_name = bind_function(function, "agent:f").arguments(given)
    return function(*by_place, **by_name)


def returning(parameters: str, value: str, **names: object) -> Any:
    return called(define(f"def f({parameters}): return {value}", **names))


@for_each(
    ("name", "value"),
    [
        ("messages", list(GIVEN.messages)), ("metadata", {"k": 1}), ("attempt", 2),
        ("session", "s7"), ("files", []),
        ("question", "Hi"), ("text", "Hi"), ("prompt", "Hi"), ("x", "Hi"), ("self", "Hi"),
    ],
)  # fmt: skip
@for_each("form", ["{}", "{}, /", "*, {}", "{}: str", "{}, temperature=0", "{}, **_"])
def test_a_parameter_is_given_what_its_name_asks_for(name: str, value: Any, form: str) -> None:
    assert returning(form.format(name), name) == value


@for_each("name", ["messages", "metadata", "attempt", "session", "files"])
@for_each("form", ["{}=None", "{}=None, /", "*, {}=None", "x=1, /, {}=None"])
def test_one_with_a_known_name_is_given_that_in_place_of_its_default(name: str, form: str) -> None:
    assert returning(form.format(name), name) is not None


QUESTIONS = [
    "Question", "evalcase.Question", "'Question'", "'evalcase.Question'", "Question | None",
    "'Question | None'", "Optional[Question]", "'Optional[Question]'", "'Optional[\\'Question\\']'",
    "Optional['Question']", "Annotated[Question, 1]",
]  # fmt: skip
SEEN = """
from typing import Annotated, Optional
import evalcase
from evalcase import Case, Message, Question
"""


@for_each("annotation", QUESTIONS)
@for_each("form", ["q: {}", "q: {}, /", "*, q: {}", "q: {} = None", "messages: {}"])
@for_each("future", ["", "from __future__ import annotations\n"])
def test_the_annotation_question_is_given_all_of_it(
    annotation: str, form: str, future: str
) -> None:
    parameter = form.format(annotation)
    name = "messages" if "messages" in form else "q"
    given = called(define(f"{future}{SEEN}def f({parameter}): return {name}"))
    assert given == GIVEN
    assert given.metadata is not GIVEN.metadata


CASES = ["case", "*, case", "case, /", "case=None", "prompt, case=None", "case: str"] + [
    f"it: {annotation.replace('Question', 'Case')}" for annotation in QUESTIONS
]


@for_each("parameter", CASES)
@for_each("future", ["", "from __future__ import annotations\n"])
def test_the_case_is_an_error_that_says_why(parameter: str, future: str) -> None:
    function = define(f"{future}{SEEN}def f({parameter}): pass")
    with pytest.raises(ConfigError) as caught:
        bind_function(function, "agent:f")
    name = "case" if "case" in parameter.replace("evalcase", "") else "it"
    assert str(caught.value) == (
        f"python target `agent:f`: its parameter `{name}` asks for the case, and what is expected "
        "must not be seen by what is tested: the annotation `Question` gives all the rest, and so "
        "do `messages`, `files`, `metadata`, `attempt`, `session` and `turn`, each a part of it"
    )


@for_each("parameters", ["", "a, b", "a, b, messages", "k=1", "**options", "k=1, /"])
def test_what_can_not_be_asked_is_an_error(parameters: str) -> None:
    with pytest.raises(
        ConfigError, match=r"can't be asked a question.*; it takes one parameter for"
    ):
        bind_function(define(f"def f({parameters}): pass"), "agent:f")


class Support:
    def answer(self, text: str) -> str:
        return text

    @staticmethod
    def plainly(text: str) -> str:
        return text

    @classmethod
    def of_class(cls, text: str) -> str:
        return text


def test_a_method_that_is_named_by_its_class_is_told_to_be_one() -> None:
    with pytest.raises(ConfigError) as caught:
        bind_function(Support.answer, "m:Support.answer")
    said = "`answer` is a method: name the class, `m:Support`, or an instance of it"
    assert said in str(caught.value)
