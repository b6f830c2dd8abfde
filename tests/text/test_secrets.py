"""Fault 14: secrets in logs, reports and the record."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.model.trial import TrialKey
from evalcase.text.journal_row import decode_row, encode_row
from evalcase.text.secrets import _VOCABULARY, Scrubber
from tests.record.samples import row, rows_of, write

SECRET = 'sk-é"/+\\ <&>\n😀=key'
SCRUBBER = Scrubber({"API_KEY": SECRET})


def scrubbed(value: Any, scrubber: Scrubber = SCRUBBER) -> Any:
    return decode_row(encode_row({"type": "result", "value": value}, scrubber))["value"]


FORMS = {
    "as it is": SECRET,
    "as JSON": json.dumps(SECRET)[1:-1],
    "as JSON with its characters": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "as JSON with its slashes escaped": json.dumps(SECRET)[1:-1].replace("/", "\\/"),
    "in a path": quote(SECRET),
    "in a query": quote(SECRET, safe=""),
    "in a form": quote_plus(SECRET),
    "in lower case": quote(SECRET, safe="").replace("%C3%A9", "%c3%a9").lower(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_fault_14_every_form_is_found(form: str) -> None:
    assert scrubbed(f"before {form} after") == "before ***API_KEY*** after"
    assert scrubbed({form: [form]}) == {"***API_KEY***": ["***API_KEY***"]}
    assert SCRUBBER.text(f"{form}{form}") == "***API_KEY******API_KEY***"


@pytest.mark.parametrize("user", ["", "u", "us", "use", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xy", "xyz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_fault_14_base64_is_found_wherever_it_begins(user: str, after: str, encode: Any) -> None:
    header = encode((user + SECRET + after).encode()).decode()
    found = scrubbed(f"Basic {header}")
    assert "***API_KEY***" in found
    assert len(found) < len("Basic ***API_KEY***") + 4 + 2 * (len(user) + len(after))


@given(
    st.text(st.characters(codec=None, exclude_categories=()), min_size=4).filter(
        lambda text: (
            len(text.strip()) >= 4
            and not set(text) & set("*KEY")
            and text.strip() not in _VOCABULARY
        )
    ),
    st.text(),
    st.text(),
)
def test_fault_14_no_secret_reaches_a_line(secret: str, before: str, after: str) -> None:
    value = {before + secret + after: [before, (secret, after + secret)]}
    [(key, [first, rest])] = scrubbed(value, Scrubber({"KEY": secret})).items()
    assert [text for text in (key, first, *rest) if secret.strip() in text] == []


def test_a_row_without_secrets_is_left_alone() -> None:
    assert decode_row(encode_row(row(1), SCRUBBER)) == row(1)
    assert decode_row(encode_row(row(1), Scrubber({}))) == row(1)
    assert Scrubber({}).text("any") == "any"


def test_short_values_and_outer_white_space_are_no_secret() -> None:
    scrubber = Scrubber({"SHORT": "abc", "EMPTY": "", "PADDED": " secret\n"})
    assert scrubber.text("abc is no secret.") == "abc is no ***PADDED***."


def test_secrets_that_overlap_hide_each_other_whole() -> None:
    scrubber = Scrubber({"A": "abcdef", "B": "defghi", "C": "abcdefghijkl"})
    assert scrubber.text("abcdefghi") == "***A***"
    assert scrubber.text("-abcdefghijkl-") == "***C***-".rjust(9, "-")
    assert scrubber.text("abcdef defghi") == "***A*** ***B***"


def test_keys_that_become_equal_are_both_kept() -> None:
    scrubber = Scrubber({"A": "secret"})
    assert scrubbed({"secret": 1, "***A***": 2}, scrubber) == {"***A***": 1, "***A***-2": 2}


@pytest.mark.parametrize("word", ["passed", "content", "assistant", "result", "2026", "0000"])
def test_a_secret_that_is_a_word_of_the_record_does_not_break_it(tmp_path: Path, word: str) -> None:
    from evalcase.record.reader import read_results

    path = tmp_path / "journal.jsonl"
    write(path, [row(5, text=f"It {word}.")], scrubber=Scrubber({"WORD": word}))
    [found] = read_results(str(path))
    assert found.verdict == "passed"
    assert found.started_at == row(5)["started_at"]
    assert found.question_hash == row(5)["question_hash"]
    assert found.answer is not None
    assert found.answer.text == "It ***WORD***."


def test_the_journal_scrubs_what_it_writes_and_knows_trials_by_their_scrubbed_names(
    tmp_path: Path,
) -> None:
    from evalcase.record.index import read_index

    path = tmp_path / "journal.jsonl"
    scrubber = Scrubber({"KEY": "sk-123456"})
    key = TrialKey("a.eval.yaml", "case", "command:curl sk-123456", 1)
    write(path, [row(1, key=key, text="sk-123456")], scrubber=scrubber)
    assert b"sk-123456" not in path.read_bytes()
    assert rows_of(path)[0]["answer"]["messages"][0]["content"] == "***KEY***"
    assert read_index(str(path)).find(scrubber.key(key)) is not None


LONG = "sk-proj-0123456789abcdefghijklmnop"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"key {LONG[:25]} [9 more characters were cut]", "key ***K*** [9 more"),
        (f"{LONG[-20:]} is wrong", "***K*** is wrong"),
        (f"HTTP 401: {LONG[:12]}, from host", "HTTP 401: ***K***, from host"),
        (f"{LONG} and {LONG[:10]}", "***K*** and ***K***"),
        ("nothing of it", "nothing of it"),
        (LONG[:5], LONG[:5]),
    ],
)
def test_pieces_of_a_secret_that_was_cut_are_found(text: str, left: str) -> None:
    scrubber = Scrubber({"K": LONG})
    assert scrubber.torn({"message": [text]})["message"][0].startswith(left)


def test_lines_of_a_secret_of_several_lines_are_found_one_by_one() -> None:
    key = "-----BEGIN KEY-----\nMIIBVwIBADANBgkqhkiG\n9w0BAQEFAASCAUEwggE9\n-----END KEY-----"
    scrubber = Scrubber({"K": key})
    said = scrubber.text("line 1: MIIBVwIBADANBgkqhkiG\nline 2: 9w0BAQEFAASCAUEwggE9")
    assert said == "line 1: ***K***\nline 2: ***K***"
