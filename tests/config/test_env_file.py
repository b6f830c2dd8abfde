from pathlib import Path

import pytest

from evalcase.config.config import read_env_file
from evalcase.errors import ConfigError
from tests.for_each import for_each


def read(folder: Path, text: str | bytes) -> dict[str, str]:
    path = folder / "keys.env"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_env_file(str(path))


@for_each(
    ("text", "value"),
    [
        ("NAME=value", "value"),
        ("NAME=value\n", "value"),
        ("  export NAME = value \t\n", "value"),
        ("NAME=", ""),
        ("NAME=a b", "a b"),
        ("NAME=a=b", "a=b"),
        ("NAME=a#b", "a#b"),
        ("NAME=a # comment", "a"),
        ("NAME=$HOME/x", "$HOME/x"),
        ("NAME=a'b", "a'b"),
        ("NAME='a # \"b\" \\n'  # comment", 'a # "b" \\n'),
        ("NAME=''", ""),
        ('NAME="a \\"b\\" \\\\ \\n \\t \\r \\$ \\d"', 'a "b" \\ \n \t \r $ \\d'),
        ("NAME=\xfcml\xe4ut", "\xfcml\xe4ut"),
        ("# NAME=no\n\n   # nor here\nNAME=yes", "yes"),
        ("NAME=windows\r\n", "windows"),
    ],
)
def test_a_value(tmp_path: Path, text: str, value: str) -> None:
    assert read(tmp_path, text) == {"NAME": value}


def test_several_in_order_after_a_byte_order_mark(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfA=1\nB='2'\n#\nC=3") == {"A": "1", "B": "2", "C": "3"}


@for_each(
    ("text", "fault"),
    [
        ("A=1\nsecret", r":2: this is not NAME=value"),
        ("A=1\n\n1B=secret", r":3: this is not NAME=value"),
        ("=secret", r":1: this is not NAME=value"),
        ("A='secret", r":1: .*a quote closed in its line$"),
        ('A="secret" x', r":1: .*a quote closed in its line$"),
        ("A=x\nB=1\nA=secret", r":3: A is given before$"),
        ("A=sec\0ret", r":1: this is not NAME=value"),
        (b"A=\xff\xfe", r": is not UTF-8$"),
    ],
)
def test_a_fault_names_the_line_and_no_value(tmp_path: Path, text: str | bytes, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault) as caught:
        read(tmp_path, text)
    assert "secret" not in str(caught.value)
