from __future__ import annotations

import pytest

from evalcase.types.value import JSON
from evalcase.util.text import Template

NAMES = ("prompt", "case_id", "messages")
VALUES: dict[str, JSON] = {"prompt": "Hi", "case_id": "{prompt}", "messages": [{"role": "user"}]}


def filled(template: JSON, *, strict: bool) -> JSON:
    made = Template(template, NAMES, strict=strict)
    return made.fill({name: VALUES[name] for name in made.used})


@pytest.mark.parametrize("strict", [False, True])
def test_names_in_braces_are_replaced_once(strict: bool) -> None:
    assert filled(["a {prompt}{prompt}", "{case_id} {case_id}"], strict=strict) == [
        "a HiHi",
        "{prompt} {prompt}",
    ]


@pytest.mark.parametrize("strict", [False, True])
def test_a_text_that_is_one_placeholder_becomes_the_value_itself(strict: bool) -> None:
    assert filled({"m": "{messages}", "n": [1, None]}, strict=strict) == {
        "m": [{"role": "user"}],
        "n": [1, None],
    }
    assert filled("as text: {messages}", strict=strict) == 'as text: [{"role": "user"}]'
    assert Template("x{messages}y", NAMES).fill({"messages": None}) == "xy"


@pytest.mark.parametrize("strict", [False, True])
def test_doubled_braces_are_literal_and_other_braces_stay(strict: bool) -> None:
    assert filled("{{prompt}} {} {1} { prompt } {a b}", strict=strict) == (
        "{prompt} {} {1} { prompt } {a b}"
    )


def test_a_command_line_keeps_the_braces_that_are_its_own() -> None:
    line = 'echo ${HOME} ${prompt} {other} {{other}} {"a": 1} {promt}'
    template = Template([line], NAMES)
    assert template.used == set()
    assert template.fill_texts({}) == [line]
    ((_, message),) = template.faults()
    assert message == (
        "there is no placeholder {promt}: did you mean {prompt}? "
        "Write {{promt}} if it is meant literally"
    )
    assert Template(["{{promt}} {prompt}"], NAMES).fill_texts({"prompt": "x"}) == ["{promt} x"]


def test_a_strict_template_has_known_names_only() -> None:
    template = Template({"a": "{other}", "b": ["{promt} {{anything}}", 3]}, NAMES, strict=True)
    assert list(template.faults()) == [
        (
            ("a",),
            (
                "there is no placeholder {other}: there are {prompt}, {case_id}, {messages}; "
                "write {{other}} if it is meant literally"
            ),
        ),
        (
            ("b", 0),
            (
                "there is no placeholder {promt}: did you mean {prompt}? "
                "Write {{promt}} if it is meant literally"
            ),
        ),
    ]
    assert template.texts == ["{other}", "{promt} {{anything}}"]
    assert Template("{{anything}}", NAMES, strict=True).fill({}) == "{anything}"
    assert Template("${prompt}", NAMES, strict=True).fill({"prompt": "3"}) == "$3"
