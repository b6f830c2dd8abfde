"""What is read without libyaml is what libyaml would have read."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from evalcase.model.finding import NO_DOUBTS, KeyPath
from evalcase.model.problem import Span
from evalcase.read.document import parse_document
from evalcase.read.yaml import parse_yaml
from evalcase.read.yaml_plain import read_plain_suite
from tests.for_each import for_each

ODD = frozenset({"input_messages"})

_PIECES = (
    "a", "No", "null", "true", "~", "0", "7", "1.5", "1e3", "0x1F", "12:30", "9" * 30, "ß", "語",
    " ", "  ", ":", ": ", " :", "#", " #", "# ", "'", '"', "''", '""', "\\", "\\n", ",", "[", "]",
    "{", "}", "-", "- ", "--- ", "?", "? ", "&a", "*a", "!", "!!str", "|", ">", "%", "@", "`", "<<",
    "\t", "\x07", "\x7f", "\x85", "\u00a0", "\u00ad", "\u200b", "\u2028", "\u201c", "\ufeff",
    "\ue000", "😀",
)  # fmt: skip
values = st.one_of(
    st.lists(st.sampled_from(_PIECES), max_size=5).map("".join),
    st.lists(st.sampled_from(_PIECES), max_size=5).map(lambda each: f'"{"".join(each)}"'),
    st.lists(st.sampled_from(_PIECES), max_size=5).map(lambda each: f"'{''.join(each)}'"),
    st.sampled_from(["What is 1+2?", "http://x.y/#z", '"3"', "'it is'", "4", "", "two words"]),
)
keys = st.sampled_from(["id", "input", "expected_output", "tags", "x", "cases", "y" * 60, "a b"])
starts = st.sampled_from(["", "", "", "- ", "- ", "  ", "  ", "    ", "  - ", "  - ", "    - "])
others = st.sampled_from(
    ["", "  ", "# why", "  # so,#and", "cases:", "---", "...", "x", "- x", "-"]
)
lines = st.one_of(st.tuples(starts, keys, st.just(": "), values).map("".join), others)
heads = st.sampled_from(["", "", "cases:\n", "cases:\n", "name: sums\n# of two\n\ncases:\n"])


@given(st.tuples(heads, st.lists(lines, max_size=6).map("\n".join), st.sampled_from(["", "\n"])))
@example(("", "- id: a\n  input: b\n- input: c", "\n"))
@example(("name: sums\n", "cases:\n  - input: a\n    id: 'b'", ""))
@example(("cases:\n", "- input: a\n  input_messages: b", "\n"))
def test_what_is_read_without_libyaml_is_what_libyaml_reads(parts: tuple[str, str, str]) -> None:
    text = "".join(parts)
    plain = read_plain_suite(text, ODD)
    if plain is not None:
        places: dict[KeyPath, Span] = {}
        value, faults, doubts = parse_yaml(text, ODD, places)
        assert repr(plain) == repr(value)
        assert (list(faults), doubts, places) == ([], NO_DOUBTS, {})
        assert parse_document(text, "yaml", "x.yaml", ODD).lints == []


@for_each(
    "text",
    [
        '- id: sum-1\n  input: What is 1+2?\n  expected_output: "3"\n',
        "cases:\n- input: a\n- input: b",
        "# all of them\nname: sums\nrepeat: 2\n\ncases:\n  # one\n  - id: x\n    input: 'a: #b'\n",
        "- input: a:b#c\n  expected_output: 1.5\n\n- input: Wie groß ist 語?\n  skip: true\n",
    ],
)  # fmt: skip
def test_a_list_of_texts_needs_no_libyaml(text: str) -> None:
    assert read_plain_suite(text, ODD) == parse_yaml(text)[0]
    assert read_plain_suite(text.encode(), ODD) == parse_yaml(text)[0]


@for_each(
    "text",
    [
        "",
        "cases:\n",
        "- a\n",
        "- id: a\n  id: b\n",
        "- id: a\n  input_messages: b\n",
        "- id: a\n  input:\n    b\n",
        "- id: a\n   b\n",
        "- id: a # b\n",
        "- id: a: b\n",
        '- id: "a\\n"\n',
        "- id: 1e3\n",
        "- id: 0x1F\n",
        "- id: &a b\n",
        "cases: 1\ncases:\n- id: a\n",
        "- id: a\n...\n",
        "- id: a\u2028b\n",
        "- id: a\r\n",
        "- id: a\n- id: \ud800\n",
    ],
)  # fmt: skip
def test_any_other_text_is_left_to_libyaml(text: str) -> None:
    assert read_plain_suite(text, ODD) is None


def test_a_long_list_is_read_in_blocks() -> None:
    text = "cases:\n" + "".join(f"- id: c{n}\n  input: {'long ' * 20}{n}\n" for n in range(2_000))
    assert read_plain_suite(text, ODD) == parse_yaml(text)[0]
    assert read_plain_suite(text + "  id: again\n", ODD) is None
