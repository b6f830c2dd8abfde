"""What a function is given, by its parameters: named, annotated, in every way Python has."""

from collections.abc import Callable
from functools import partial
from textwrap import dedent
from typing import Any

import pytest

from evalcase.errors import ConfigError
from evalcase.targets.python import BoundFunction
from evalcase.types.target import Question
from tests.for_each import for_each
from tests.targets.questions import question

GIVEN = question(
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
    id="greeting", metadata={"k": 1}, attempt=2, session="s7", conversation_id="c",
)  # fmt: skip
WITH_FILE = question([{"role": "user", "content": [{"type": "file", "path": "a.txt"}]}])


def define(source: str, **names: object) -> Callable[..., Any]:
    """The function `f` of some source, which sees some names."""
    scope: dict[str, Any] = {"__name__": "agent", **names}
    exec(dedent(source), scope)
    function: Callable[..., Any] = scope["f"]
    return function


def called(function: Callable[..., Any], given: Question = GIVEN) -> Any:
    bound = BoundFunction(function, "agent:f").checked()
    by_place, by_name = bound.arguments(given)
    return bound.function(*by_place, **by_name)


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


def test_files_are_a_list_of_absolute_paths() -> None:
    (path,) = called(define("def f(files): return files"), WITH_FILE)
    assert path == WITH_FILE.files["a.txt"]
    assert path.endswith("/a.txt")
    assert path.startswith("/")


QUESTIONS = [
    "Question", "evalcase.Question", "'Question'", "Question | None", "Optional['Question']",
]  # fmt: skip
SEEN = """
from typing import Optional
import evalcase
from evalcase import Case, Question
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


@for_each("annotation", ["Question", "evalcase.Question", "Question | None"])
def test_a_name_that_only_type_checkers_import_is_known_by_itself(annotation: str) -> None:
    source = f"from __future__ import annotations\ndef f(q: {annotation}): return q"
    assert called(define(source)) == GIVEN


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_a_class_of_ones_own_that_is_called_the_same_is_another(future: str) -> None:
    classes = "class Question: pass\nclass Case: pass\n"
    assert called(define(f"{future}{classes}def f(q: Question): return q")) == "Hi"
    assert called(define(f"{future}{classes}def f(q: Case): return q")) == "Hi"


CASES = ["case", "*, case", "case, /", "case=None", "prompt, case=None", "case: str"] + [
    f"it: {annotation.replace('Question', 'Case')}" for annotation in QUESTIONS
]


@for_each("parameter", CASES)
@for_each("future", ["", "from __future__ import annotations\n"])
def test_the_case_is_an_error_that_says_why(parameter: str, future: str) -> None:
    function = define(f"{future}{SEEN}def f({parameter}): pass")
    with pytest.raises(ConfigError) as caught:
        BoundFunction(function, "agent:f")
    name = "case" if "case" in parameter.replace("evalcase", "") else "it"
    said = (
        f"python target `agent:f`: its parameter `{name}` asks for the case, and what is expected"
    )
    assert str(caught.value).startswith(said)


def test_annotations_are_looked_up_through_what_stands_around_a_function() -> None:
    class Agent:
        def __call__(self, it: Question) -> Question:
            return it

        def method(self, it: Question) -> Question:
            return it

    def two(number: int, it: Question) -> Question:
        del number
        return it

    for function in (Agent(), Agent().method, partial(two, 1)):
        assert called(function) == GIVEN


def test_a_function_of_which_nothing_is_known_is_given_the_content() -> None:
    assert called(str.upper) == "HI"
    assert called(define("def f(*args): return args")) == ("Hi",)
    assert called(define("def f(*args, messages): return len(args), len(messages)")) == (0, 2)


@for_each("parameters", ["", "a, b", "a, b, messages", "k=1", "**options", "k=1, /"])
def test_what_can_not_be_asked_is_an_error(parameters: str) -> None:
    with pytest.raises(
        ConfigError, match=r"can't be asked a question.*; it takes one parameter for"
    ):
        BoundFunction(define(f"def f({parameters}): pass"), "agent:f").checked()


@for_each("first", ["messages", "given: Question"])
@for_each(
    "name",
    ["text", "question", "prompt", "input", "query", "q", "message", "user_message", "last_text"],
)
def test_a_text_may_be_asked_for_beside_the_messages(first: str, name: str) -> None:
    parameters = f"{first}, {name}"
    assert returning(parameters, name, Question=Question) == "Hi"


@for_each("first", ["messages", "given: Question"])
@for_each(
    "name",
    ["user_id", "question_id", "metdata", "topic: str"],
)
def test_what_is_no_text_is_not_given_one_beside_the_messages(first: str, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        returning(f"{first}, {name}", "1", Question=Question)
    wanted = name.partition(":")[0]
    assert f"can't be asked a question: there is nothing to give to `{wanted}`;" in str(
        caught.value
    )
