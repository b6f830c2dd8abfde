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


def test_wide_characters_take_two_cells() -> None:
    assert underline_span(on_line(3, 5), Excerpt("日本語: x")) == ("日本語: x", "    ^^^")
    assert underline_span(on_line(2, 3), Excerpt("a😀b")) == ("a😀b", " ^^")


def test_escape_sequences_never_reach_the_terminal() -> None:
    source, carets = underline_span(on_line(2, 3), Excerpt("a\x1b[31mb"))
    assert (source, carets) == ("a<U+001B>[31mb", " ^^^^^^^^")


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
