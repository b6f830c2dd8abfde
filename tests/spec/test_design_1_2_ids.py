"""The format, part 1.2: the `id` of a case. One test for each thing it says."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from itertools import permutations

import pytest

import evalcase
from evalcase.format.positions import Format
from tests.for_each import for_each
from tests.spec.found import only_problem, places
from tests.spec.reading import case_of


def ids_of(text: str, format: Format = "yaml") -> list[str]:
    return [case.id for case in evalcase.loads(text, format)]


@for_each("id", ["a", "A b/c", "ünïcode", "7", " a "])
def test_id_is_a_string_kept_as_it_is(id: str) -> None:
    """Any text will do, and none is changed."""
    assert case_of(json.dumps({"id": id, "input": "hi"}))["id"] == id


def test_id_is_unique_in_the_suite() -> None:
    """Two cases can't have the same id."""
    text = "- {id: a, input: x}\n- {id: b, input: x}\n- {id: a, input: y}\n"
    assert places(text) == [("duplicate-id", 3, 8, 3, 9)]
    assert only_problem(text).severity == "error"


def test_id_given_may_not_be_one_that_was_made_for_another_case() -> None:
    """A made id is taken as well, and the case that has it is named."""
    (made,) = ids_of("- input: hi\n")
    problem = only_problem(f"- input: hi\n- {{id: {made}, input: ho}}\n")
    assert (problem.code, problem.span) == ("duplicate-id", (2, 8, 2, 8 + len(made)))
    assert "line 1" in problem.message


def test_id_made_is_a_slug_of_the_first_user_text_and_six_hex_digits() -> None:
    """Words of the text in lower case, then a piece of a hash."""
    (id,) = ids_of("input: What is  2+2, exactly?")
    assert re.fullmatch(r"what-is-2-2-exactly-[0-9a-f]{6}", id)


@for_each("text", ["a" * 500, "word " * 100, "a" * 39 + " b", "ü" * 41, "x" * 40])
def test_id_made_has_a_slug_of_at_most_40_characters(text: str) -> None:
    """Long texts are cut, and never end in a dash because of it."""
    (id,) = ids_of(json.dumps({"input": text}), "json")
    slug, digits = id[:-7], id[-7:]
    assert re.fullmatch("-[0-9a-f]{6}", digits)
    assert 30 < len(slug) <= 40
    assert not slug.endswith("-")


def test_id_made_depends_on_the_canonical_input_and_not_on_its_spelling() -> None:
    """Short form, long form, alias; YAML, JSON, JSONL: one input, one id."""
    spellings: list[tuple[str, Format]] = [
        ("input: hi", "yaml"),
        ("- input_messages: hi", "yaml"),
        ("cases: [{input: [{content: hi, role: user}]}]", "yaml"),
        ('{"input": {"role": "user", "content": "hi"}}', "json"),
        ('{"input": "hi"}', "jsonl"),
    ]
    assert len({ids_of(text, format)[0] for text, format in spellings}) == 1


def test_id_made_does_not_change_between_versions() -> None:
    """Results are kept under these ids, so they are part of the format."""
    assert ids_of('input: "What is 2+2?"') == ["what-is-2-2-0bd13b"]
    digits = sha256(b'[{"content":"What is 2+2?","role":"user"}]').hexdigest()[:6]
    assert digits == "0bd13b"


def test_id_made_survives_reordering() -> None:
    """Wherever a case stands, its id is the same."""
    cases = ["- input: a\n", "- input: b\n", "- {id: x, input: c}\n"]
    by_order = [ids_of("".join(order)) for order in permutations(cases)]
    assert {frozenset(ids) for ids in by_order} == {frozenset(by_order[0])}


def test_id_made_survives_edits_elsewhere() -> None:
    """Other fields, other cases, the suite's fields: none of them touches it."""
    (id,) = ids_of("- input: a\n")
    assert (
        ids_of("- {input: new}\n- {input: a, expected_output: x, tags: [t], criteria: c}\n")[1]
        == id
    )
    assert ids_of("name: s\ngraders: [g]\ntarget: t\ntests: [{input: a}]\n") == [id]


@pytest.mark.parametrize("format", ["yaml", "jsonl"])
def test_only_identical_inputs_get_a_number(format: Format) -> None:
    """The first keeps the plain id, copies are counted from 2."""
    lines = ['{"input": "a"}', '{"input": "b"}', '{"input": [{"content": "a", "role": "user"}]}',
             '{"input": "a", "tags": ["t"]}']  # fmt: skip
    text = "\n".join(lines) if format == "jsonl" else f"[{', '.join(lines)}]"
    first, other, second, third = ids_of(text, format)
    assert (second, third) == (f"{first}-2", f"{first}-3")
    assert not re.search("-[23]$", other)


@for_each("value", ["7", "1.5", "true", "0x10"])
def test_id_number_is_an_error_that_says_quote_it(value: str) -> None:
    """Is 007 the text or the number? Quotes tell."""
    problem = only_problem(f"- id: {value}\n  input: hi\n")
    assert (problem.code, problem.span) == ("wrong-type", (1, 7, 1, 7 + len(value)))
    assert problem.hint == f'write it in quotes: "{value}"'


@for_each("id", ["", " ", " \t "])
def test_id_blank_is_an_error(id: str) -> None:
    """Nobody could name such a case."""
    problem = only_problem(json.dumps({"id": id, "input": "hi"}), "json")
    assert (problem.code, problem.line, problem.column) == ("bad-value", 1, 8)
