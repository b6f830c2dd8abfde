from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from evalcase.report.problems import problem_lines, underline_span
from evalcase.types.problem import Excerpt, Problem, Span


def on_line(column: int, end_column: int, line: int = 7) -> Span:
    return Span(line, column, line, end_column)


def drawn(span: Span, text: str) -> str:
    problem = Problem("syntax", "no", "x.yaml", span=span, excerpt=Excerpt(text))
    return "\n".join(list(problem_lines(problem))[1:])


def test_the_exact_span_is_underlined() -> None:
    assert drawn(on_line(3, 6), "  abc: 1") == "  7 |   abc: 1\n    |   ^^^"


def test_the_gutter_grows_with_the_line_number() -> None:
    assert drawn(on_line(1, 2, line=1234), "abc") == "  1234 | abc\n       | ^"


def test_wide_characters_take_two_cells() -> None:
    assert underline_span(on_line(3, 5), Excerpt("日本語: x")) == ("日本語: x", "    ^^^")
    assert underline_span(on_line(2, 3), Excerpt("a😀b")) == ("a😀b", " ^^")


def test_combining_characters_take_none() -> None:
    assert underline_span(on_line(3, 4), Excerpt("e\u0301x")) == ("e\u0301x", " ^")
    assert underline_span(on_line(1, 3), Excerpt("e\u0301x")) == ("e\u0301x", "^")


def test_a_lone_combining_character_still_has_a_caret() -> None:
    assert underline_span(on_line(2, 3), Excerpt("e\u0301x")) == ("e\u0301x", " ^")


def test_tabs_are_the_same_in_line_and_underline() -> None:
    assert underline_span(on_line(2, 4), Excerpt("\tab\tc")) == ("    ab  c", "    ^^")
    assert underline_span(on_line(1, 2), Excerpt("\tab")) == ("    ab", "^^^^")
    assert underline_span(on_line(5, 6), Excerpt("\tab\tc")) == ("    ab  c", "        ^")


def test_escape_sequences_never_reach_the_terminal() -> None:
    source, carets = underline_span(on_line(2, 3), Excerpt("a\x1b[31mb"))
    assert (source, carets) == ("a<U+001B>[31mb", " ^^^^^^^^")


def test_a_long_line_is_cut_to_a_window_around_the_span() -> None:
    text = "0123456789" * 30
    source, carets = underline_span(on_line(101, 106), Excerpt(text), width=40)
    assert source == "…6789012345678901234567890123456789012345…"
    assert source[len(carets) - 5 : len(carets)] == "01234"
    assert carets.endswith(" ^^^^^")


def test_a_long_line_is_not_cut_where_it_need_not_be() -> None:
    assert underline_span(on_line(1, 3), Excerpt("a" * 50), width=10) == ("a" * 10 + "…", "^^")
    assert underline_span(on_line(49, 51), Excerpt("a" * 50), width=10) == (
        "…" + "a" * 10,
        " " * 9 + "^^",
    )
    assert underline_span(on_line(1, 3), Excerpt("a" * 10), width=10) == ("a" * 10, "^^")


def test_a_span_longer_than_the_window_keeps_what_leads_up_to_it() -> None:
    source, carets = underline_span(on_line(7, 200), Excerpt("input: " + "x" * 500), width=20)
    assert (source, carets) == ("…nput: xxxxxxxxxxxxxx…", "      " + "^" * 15)


def test_an_excerpt_that_starts_inside_the_line_says_so() -> None:
    assert underline_span(on_line(903, 905), Excerpt("abcdef", 901)) == ("…abcdef", "   ^^")


def test_a_span_over_several_lines_is_underlined_to_the_end_of_the_first() -> None:
    assert underline_span(Span(3, 3, 5, 2), Excerpt("a: [1,  ")) == ("a: [1,  ", "  ^^^^")


def test_a_span_of_no_width_has_one_caret() -> None:
    assert underline_span(on_line(2, 2), Excerpt("abc")) == ("abc", " ^")


def test_a_span_at_the_end_of_the_line_has_one_caret_after_it() -> None:
    assert underline_span(on_line(4, 4), Excerpt("abc\n")) == ("abc", "   ^")
    assert underline_span(on_line(4, 9), Excerpt("abc\r\n")) == ("abc", "   ^")
    assert underline_span(on_line(99, 100), Excerpt("abc")) == ("abc", "   ^")
    assert drawn(on_line(1, 1), "") == "  7 |\n    | ^"


@given(
    st.text(st.one_of(st.characters(), st.sampled_from("\t\x1b日e\u0301😀 "))),
    st.integers(1, 300),
    st.integers(0, 300),
    st.integers(1, 5),
    st.integers(4, 120),
)
def test_any_line_gives_two_harmless_lines_of_bounded_width(
    text: str, column: int, length: int, first: int, width: int
) -> None:
    source, carets = underline_span(
        on_line(column, column + length), Excerpt(text * 9, first), width
    )
    assert not {unicodedata.category(char) for char in source} & {"Cc", "Cs", "Zl", "Zp"}
    assert set(carets) <= {" ", "^"}
    assert 1 <= carets.count("^") <= width
    assert len(carets) <= width + 2
