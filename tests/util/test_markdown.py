from __future__ import annotations

from evalcase.util.text import code_block, code_span, write_table


def test_code_is_code_whatever_it_holds() -> None:
    assert code_span("@all <b>") == "`@all <b>`"
    assert code_span("a`b``c") == "```a`b``c```"
    assert code_span("`") == "`` ` ``"
    assert code_span(" a") == "`  a `"
    assert code_span("") == code_span("  ") == "–"
    assert code_span("a\nb\u202e") == "`a<U+000A>b<U+202E>`"


def test_a_block_ends_where_it_should() -> None:
    assert list(code_block(["```", "x\x1b"], "diff")) == ["````diff", "```", "x<U+001B>", "````"]


def test_a_cell_ends_where_it_should() -> None:
    assert list(write_table([["", "n"], ["`a|b`", "1"]])) == [
        "|  | n |", "|---|---:|", "| `a\\|b` | 1 |"
    ]  # fmt: skip
