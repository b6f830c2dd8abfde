"""The value of a secret in, all that gives it away out: how it looks in JSON, in URLs, in base64,
and which pieces of it are telling. A value that is in every other text anyway gives nothing."""

from __future__ import annotations

import json
import re
from binascii import b2a_base64
from collections.abc import Iterator
from itertools import islice

SHORTEST = 8
"""Shorter values are found by chance, and protect nothing."""

PIECE = 8
"""How many characters in a row give a long secret away."""

_LONG = 2 * PIECE

_COMMON = frozenset(
    """
    12345678 123456789 1234567890 anonymous changeme default development disabled dummy-key
    dummy_key fake-key fake_key lm-studio localhost no-api-key no-key-needed no-key-required
    not-needed not-required not-set notneeded not_needed passw0rd password placeholder production
    sk-no-key-required something test-api-key test-key test_key testtest undefined username
    your-api-key your_api_key
    """.split()
)
"""What people write where a key is asked for and none is needed."""

_VOCABULARY = tuple(
    """
    question_hash grading_hash pass_rate started_at duration_s truncated scrubbed input_tokens
    output_tokens cached_tokens cost_usd grading_usd required expected expected_output metadata
    description conversation_id criteria threshold timeout_s tool_calls function arguments
    regraded errored ungraded completed interrupted incomplete failed_fast assistant developer
    exception connection protocol traceback exit_code request_id attempts messages suite_graders
    asked_as asking_s ends_conversation turn_failed max_turns persona stop_on_failure decision
    was_decided rests_on judge-unparseable judge-truncated judge-refused
    judge-unsure judge-split unreported unread-calls unread_calls steps_cut finished surveyed
    """.split()
)
"""The longer words of the record: without them a row could not be read again."""

_MOST_IN_FORMS = 500
"""Of longer values, such as certificates, pieces are looked for as they stand."""

_MOST_LINES = 100
_TELLING = re.compile(r"[^\W\d_].*\d|\d.*[^\W\d_]", re.DOTALL)
_TOKEN = re.compile(rf"(?:[A-Za-z0-9_-]|[^\x00-\x7f]){{{_LONG},}}")
"""Letters of all scripts, and whatever belongs to them: vowels and accents may be signs."""
_HEX_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")
_URL_ESCAPE = re.compile("%[0-9A-F]{2}")


def is_common(value: str) -> bool:
    """Whether a value is so short, or so ordinary, that it is found where no secret is."""
    text = value.casefold()
    return (
        len(text) < SHORTEST or len(set(text)) < 3 or text in _COMMON
        or any(text in word for word in _VOCABULARY)
    )  # fmt: skip


def forms_of(value: str) -> Iterator[str]:
    """A value as it stands, as others write it, and each of its longer lines."""
    data = value.encode("utf-8", "surrogatepass")
    yield value
    yield from _escaped_forms(value, data)
    yield from _in_url(data)
    yield from _in_base64(data)
    yield from _in_hex(data)
    yield from islice(_lines_of(value), _MOST_LINES)


def pieces_of(value: str) -> Iterator[str]:
    """All that tells of a value that was cut somewhere, each of eight characters.

    In a value of several words only those with letters and digits do: others are in every text. In
    one word also those with signs among letters of both cases, or of other scripts than ours.
    """
    if len(value) < _LONG:
        return
    tokens = [] if len(value.split()) > 1 else _TOKEN.findall(value)
    tokens += [line for line in _lines_of(value) if len(line.split()) == 1]
    forms = [value]
    if len(value) <= _MOST_IN_FORMS:
        data = value.encode("utf-8", "surrogatepass")
        tokens += dict.fromkeys((*_in_base64(data), *_in_hex(data)))
        forms += {*forms_of(value)}.difference(tokens)
    for token in tokens:
        yield from _cut_windows(token)
    for form in forms:
        yield from filter(_TELLING.search, _cut_windows(form))
    if len(value.split()) == 1:
        yield from filter(_is_mixed, _cut_windows(value))


def numbers_of(value: str) -> Iterator[int | float]:
    """The numbers that a value may be read as, if it is one with enough digits."""
    if not re.fullmatch(r"[+-]?[0-9]{1,300}(\.[0-9]{1,300})?", value):
        return
    if len(value.lstrip("+-0.").replace(".", "")) < SHORTEST:
        return
    yield float(value)
    if "." not in value:
        yield int(value)


def _lines_of(value: str) -> Iterator[str]:
    """The lines of a value, as tracebacks have them; but not the frame of a PEM file."""
    lines = [line.strip() for line in value.split("\n")]
    for line in lines if len(lines) > 1 else ():
        if len(line) >= _LONG and not line.startswith("-----"):
            yield line


def _escaped_forms(value: str, data: bytes) -> Iterator[str]:
    """As JSON, once or twice, as Python's `repr`, and as HTML."""
    for ascii_only in (True, False):
        escaped = in_json(value, ascii_only=ascii_only)
        yield escaped
        yield escaped.replace("/", "\\/")
        yield _HEX_ESCAPE.sub(lambda match: "\\u" + match[0][2:].upper(), escaped)
        yield in_json(escaped)
        yield in_json(escaped, ascii_only=True)
    yield repr(value)[1:-1]
    yield ascii(value)[1:-1]
    yield repr(data)[2:-1]
    html = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    yield html
    for apostrophe in ("&#x27;", "&#39;"):
        yield html.replace('"', "&quot;").replace("'", apostrophe)


def _in_url(data: bytes) -> Iterator[str]:
    from urllib.parse import quote, quote_from_bytes

    yield data.decode("utf-8", "surrogatepass").replace(" ", "+")
    for unescaped in ("", "/", "!'()*", "/!'()*"):
        quoted = quote_from_bytes(data, safe=unescaped)
        for form in (quoted, quoted.replace("%20", "+")):
            yield form
            yield _URL_ESCAPE.sub(lambda match: match[0].lower(), form)
        yield quote(quoted, safe=unescaped)


def _in_base64(data: bytes) -> Iterator[str]:
    """The characters that depend on the value alone, for each of the three places in a group at
    which it may begin: it need not stand at the start of what was encoded."""
    for before in range(3):
        text = b2a_base64(bytes(before) + data, newline=False).decode()
        form = text[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield form
        yield form.replace("+", "-").replace("/", "_")
        yield form.replace("/", "\\/")
        yield form.replace("+", "%2B").replace("/", "%2F")


def _in_hex(data: bytes) -> Iterator[str]:
    yield data.hex()
    yield data.hex().upper()


def in_json(value: str, *, ascii_only: bool = False) -> str:
    """A value as it stands between the quotes of JSON."""
    return json.dumps(value, ensure_ascii=ascii_only)[1:-1]


def _cut_windows(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(len(text) - PIECE + 1))


def _is_mixed(piece: str) -> bool:
    """Whether there is a sign in it among letters of both cases, or of a script whose letters
    aren't ASCII: hardly a part of a sentence."""
    if all(each.isalnum() or each.isspace() for each in piece):
        return False
    if any(map(str.islower, piece)) and any(map(str.isupper, piece)):
        return True
    return not piece.isascii() and piece[0].isalnum() and piece[-1].isalnum()
