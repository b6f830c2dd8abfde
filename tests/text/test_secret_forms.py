from __future__ import annotations

from evalcase.text.secret_forms import pieces_of
from evalcase.text.secrets import Scrubber
from tests.for_each import for_each


def test_pieces_without_digits_tell_of_a_key_too() -> None:
    value = "sk-Super/Secret+Value/98765432"
    pieces = set(pieces_of(value))
    for size in range(8, len(value) + 1):
        cut = value[:size]
        assert any(cut[at : at + 8] in pieces for at in range(len(cut) - 7)), cut
    assert not pieces & set(pieces_of("https://example.com/a/long/path/to/things"))


@for_each(
    "value",
    [
        "ключ-доступа-секретный-пароль",
        "пароль.доступа/секрет",
        "गुप्त_पासवर्ड_बहुत_लंबा",
        "秘密の合言葉は誰にも教えてはいけません",
        "clé-très-secrète-de-l-équipe",
    ],
)
def test_a_word_of_any_script_is_found_wherever_it_was_cut(value: str) -> None:
    scrubber = Scrubber({"KEY": value}, ["KEY"])
    for size in range(12, len(value)):
        assert value[4:size] not in scrubber.text(f"it was {value[:size]}…")
    prose = "Нет доступа. Секрет или пароль неверен: проверьте ключ-карту. Très secrète, 秘密の箱。"
    assert scrubber.text(prose) == prose
