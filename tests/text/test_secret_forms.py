from __future__ import annotations

from evalcase.text.secret_forms import pieces_of


def test_pieces_without_digits_tell_of_a_key_too() -> None:
    value = "sk-Super/Secret+Value/98765432"
    pieces = set(pieces_of(value))
    for size in range(8, len(value) + 1):
        cut = value[:size]
        assert any(cut[at : at + 8] in pieces for at in range(len(cut) - 7)), cut
    assert not pieces & set(pieces_of("https://example.com/a/long/path/to/things"))
