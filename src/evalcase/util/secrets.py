"""Secrets are taken out of everything that evalcase writes or shows, and personal data out of the
suites that it drafts.

A secret is the value of an environment variable. It is found as it stands, and as JSON, URLs,
base64 and hex write it; in messages that may be cut, also by pieces of these forms.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import NamedTuple
from urllib.parse import quote, unquote

from evalcase.types.options import may_hold_secret
from evalcase.types.value import JSON

_SHORTEST = 8
"""A shorter value occurs in other texts by chance. A piece of a secret has as many characters."""
_LONG = 16
"""A line or a word of this length is recognised alone, and by its pieces."""
_MOST_LINES = 100
_MOST_VALUES = 100
"""Agents may set a new token for each call: the search knows the last values only."""

_COMMON = frozenset(
    """
    12345678 123456789 1234567890 anonymous changeme default development disabled dummy-key
    dummy_key fake-key fake_key lm-studio localhost no-api-key no-key-needed no-key-required
    not-needed not-required not-set notneeded not_needed passw0rd password placeholder production
    sk-no-key-required something test-api-key test-key test_key testtest undefined username
    your-api-key your_api_key
    assistant developer tool_calls function arguments metadata description messages truncated
    """.split()
)
"""Values that people write where no key is needed, and words that messages are made of."""


def is_common(value: str) -> bool:
    """Whether a value is so short or so ordinary that it occurs where no secret is."""
    text = value.casefold()
    return len(text) < _SHORTEST or len(set(text)) < 3 or text in _COMMON


def _forms_of(value: str) -> Iterator[str]:
    yield value
    lines = [line.strip() for line in value.split("\n")]
    if len(lines) > 1:
        long = [each for each in lines if len(each) >= _LONG and each[:5] != "-----"]
        yield from long[:_MOST_LINES]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield json.dumps(value)[1:-1]
    data = value.encode("utf-8", "surrogatepass")
    for safe in ("", "/"):
        quoted = quote(data, safe=safe)
        for form in (quoted, quoted.replace("%20", "+")):
            yield form
            yield re.sub("%..", lambda found: found[0].lower(), form)
    yield data.hex()
    yield data.hex().upper()
    # The secret may begin at any of the three bytes of a group of base64: each form has the
    # characters that depend on the secret alone.
    for before in range(3):
        text = b64encode(bytes(before) + data).decode()
        form = text[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield form
        yield form.replace("+", "-").replace("/", "_")


_TELLING = re.compile(r"[^\W\d_].*\d|\d.*[^\W\d_]", re.DOTALL)
"""A letter and a digit."""


def _pieces_of(form: str) -> Iterator[str]:
    """Eight characters in a row: any of a long word, and those with a letter and a digit. Words of
    a sentence are shorter, and have no digits."""
    for word in form.split():
        if len(word) >= _LONG:
            yield from _windows(word)
    if len(form) >= _LONG:
        yield from filter(_TELLING.search, _windows(form))


def _windows(text: str) -> Iterator[str]:
    return (text[at : at + _SHORTEST] for at in range(len(text) - _SHORTEST + 1))


class KnownSecrets:
    """The values of secrets at one time, each with the name that takes its place."""

    def __init__(self, values: Mapping[str, str]) -> None:
        """`values` has the name of each value."""
        self.values = values
        names: dict[str, str] = {}
        self._pieces: dict[str, str] = {}
        for value, name in values.items():
            for form in _forms_of(value):
                # The password of a proxy is one even if it is short.
                if len(form) >= _SHORTEST or form in values:
                    names[form] = name
                self._pieces |= dict.fromkeys(_pieces_of(form), name)
        self._names = dict(sorted(names.items(), key=lambda each: len(each[0]), reverse=True))

    def data(self, value: JSON) -> JSON:
        """A copy of a value without secrets in its keys, texts and numbers."""
        return _clean_value(value, self.data_text)

    def told(self, value: JSON) -> JSON:
        """The same for messages that may quote a part of a secret: without its pieces, too."""
        return _clean_value(value, self.told_text)

    def data_text(self, text: str) -> str:
        for form, name in self._names.items():
            if form in text:
                text = text.replace(form, f"***{name}***")
        return text

    def told_text(self, text: str) -> str:
        text = self.data_text(text)
        if not self._pieces or self._pieces.keys().isdisjoint(_windows(text)):
            return text
        told, end = "", 0
        for at, piece in enumerate(_windows(text)):
            if piece in self._pieces:
                if at >= end:
                    told += f"{text[end:at]}***{self._pieces[piece]}***"
                end = at + _SHORTEST
        return told + text[end:]


def _clean_value(value: JSON, clean_text: Callable[[str], str]) -> JSON:
    """A copy of a value whose keys, texts and numbers went through `clean_text`."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list | tuple):
        return [_clean_value(item, clean_text) for item in value]
    if isinstance(value, Mapping):
        copy: dict[str, JSON] = {}
        for key, item in value.items():
            clean, numbers = clean_text(key), count(2)
            free = clean
            while free in copy:  # two keys may differ in their secrets only
                free = f"{clean}-{next(numbers)}"
            copy[free] = _clean_value(item, clean_text)
        return copy
    if isinstance(value, int | float) and not isinstance(value, bool):
        clean = clean_text(repr(value))
        return value if clean == repr(value) else clean
    return value


_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_PROXY_NAMES = (*_PROXIES, *map(str.upper, _PROXIES))
_USER = re.compile(r"(?:[A-Za-z0-9]+://)?([^/?#\s]+)@")
_SCHEMES = frozenset(("basic", "bearer", "bot", "token", "apikey", "api-key", "key", "dpop"))


class Scrubber:
    """Knows the values of secrets by the names of their variables, as those are now and were
    before. Passwords of proxies are always secrets. Any thread may use it."""

    def __init__(
        self,
        environment: Mapping[str, str],
        names: Iterable[str] = (),
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._environment = environment
        self._warn = warn
        self._warned: set[str] = set()
        self.names = frozenset(names)
        """The variables whose values are secrets."""
        self._seen: dict[str, str | None] = {}
        self._count = -1
        """How many variables there were: it changes when a proxy is set."""
        self._known = KnownSecrets({})

    def watch(self, names: Iterable[str]) -> None:
        """Treat some more variables as secrets."""
        self.names |= frozenset(names)

    def add(self, name: str, value: str) -> None:
        """Take the value of a variable, or one that no variable of this process has."""
        value = value.strip()
        found = [each for each in _parts_of(name, value) if not is_common(each)]
        if name in _PROXY_NAMES:
            user = _USER.match(value)
            found += [f"{user[1]}@"] if user is not None else []
        elif not is_common(value):
            found.append(value)
        elif value and name not in self._warned:
            self._warned.add(name)
            self._warn(
                f"the value of {name} is too short or too common to be recognised in other "
                "text: it is not redacted from records and output"
            )
        known = self._known.values
        new = {each: name for each in found if each not in known}
        if new:
            self._known = KnownSecrets(dict([*known.items(), *new.items()][-_MOST_VALUES:]))

    def look(self) -> KnownSecrets:
        """All secrets that are known by now."""
        get, count = self._environment.get, len(self._environment)
        seen = {name: get(name) for name in self.names}
        if seen != self._seen or count != self._count:
            for name in (*seen, *_PROXY_NAMES):
                if value := get(name):
                    self.add(name, value)
            self._seen, self._count = seen, count
        return self._known

    def text(self, text: str) -> str:
        """A message for a person, without secrets and pieces of them."""
        return self.look().told_text(text)

    def data(self, value: JSON) -> JSON:
        """A copy of a value without secrets in its keys, texts and numbers."""
        return self.look().data(value)


def _parts_of(name: str, value: str) -> Iterator[str]:
    """The password in an address, and the token after a scheme."""
    user = _USER.match(value) if "://" in value or name in _PROXY_NAMES else None
    if user is not None:
        who, _, password = user[1].partition(":")
        yield from {password or who, unquote(password or who)}
    scheme, _, token = value.partition(" ")
    if scheme.casefold() in _SCHEMES:
        yield token.strip()


# Each repeat is bounded, so that the time grows with the length of the text only.
_KEYS = (
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,200}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{35}"
    r"|\bgh[oprsu]_[A-Za-z0-9]{36,255}|\bgithub_pat_[A-Za-z0-9_]{22,255}"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,250}"
    r"|\beyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000}"
    r"|(?<=Bearer )[A-Za-z0-9._~+/-]{16,2000}=?=?"
)
"""The keys of well-known services, and what follows `Bearer`."""
_CREDENTIALS = (
    r"(?<=//)[^\s/?#\"'`]+(?=@)",
    r"\b[\w.%+-]{1,100}:[^\s/@:\"'`]{1,200}(?=@[\w.-]{1,255}:\d)",
    r"(?<=\bBearer )[^\s\"'`]+",
    _KEYS,
)
_PARAMETER = r"(?<=[?&;#])([\w.-]{1,100})=([^\s&#,\"'`]+)"


def mask_credentials(text: str) -> str:
    """The same text with asterisks for credentials, as long as it was."""
    for pattern in _CREDENTIALS:
        text = re.sub(pattern, lambda found: "*" * len(found[0]), text)

    def mask(found: re.Match[str]) -> str:
        name, value = found.groups()
        return f"{name}={'*' * len(value)}" if may_hold_secret(name) else found[0]

    return re.sub(_PARAMETER, mask, text)


def _is_card_number(text: str) -> bool:
    digits = [int(each) for each in text if each.isdecimal()]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


class Finder(NamedTuple):
    """A kind of personal data: its name and its pattern."""

    name: str
    pattern: str
    is_one: Callable[[str], bool] = bool
    """A last check of what the pattern found."""


PERSONAL = (
    Finder("private key", r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,10000}"
           r"(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"),
    Finder("key", _KEYS),
    Finder("password", r"(?<=://)[^\s/@:]{1,100}:[^\s/@]{1,100}(?=@)"),
    Finder("email", r"[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"),
    Finder("iban", r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"),
    Finder("card", r"\b[0-9](?:[ -]?[0-9]){12,18}\b", _is_card_number),
    Finder("phone", r"(?<![\w+])(?:\+|00)[1-9](?:[ ()/.-]{0,2}[0-9]){7,13}\b"),
)  # fmt: skip


class Redactor:
    """Replaces personal data by marks such as `[email 1]`: the same text gets the same number."""

    def __init__(self, finders: Iterable[Finder]) -> None:
        self._finders = [(each, re.compile(each.pattern)) for each in finders]
        self._numbers: dict[str, dict[str, int]] = {}
        self.counts: Counter[str] = Counter()
        """How often something was replaced, by the name of the finder."""

    def text(self, text: str) -> str:
        for finder, pattern in self._finders:
            text = pattern.sub(lambda found, finder=finder: self._mark(finder, found[0]), text)  # type: ignore[misc]
        return text

    def data(self, value: JSON) -> JSON:
        """A copy of a value without personal data in its keys, texts and numbers."""
        return _clean_value(value, self.text)

    def _mark(self, finder: Finder, found: str) -> str:
        if not finder.is_one(found):
            return found
        numbers = self._numbers.setdefault(finder.name, {})
        self.counts[finder.name] += 1
        return f"[{finder.name} {numbers.setdefault(found, len(numbers) + 1)}]"
