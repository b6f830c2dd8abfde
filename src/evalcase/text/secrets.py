"""Keep secrets out of all that is written or shown: whoever writes or shows something asks here,
and gets it back with `***NAME***` where the value of a variable was.

The variables are looked at each time, so that a key which an agent loads itself is found, too; and
a value that was seen once stays a secret, whatever becomes of its variable.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import reduce
from typing import NamedTuple

from evalcase.model.json_value import JSON
from evalcase.text.secret_forms import is_common
from evalcase.text.secret_search import NO_SECRETS, KnownSecrets

_PROXIES = tuple(f"{scheme}_proxy" for scheme in ("http", "https", "all"))
_PROXY_NAMES = (*_PROXIES, *map(str.upper, _PROXIES))
_USER = re.compile(r"(?:[A-Za-z0-9]+://)?([^/?#\s]+)@")
_SCHEMES = frozenset(("basic", "bearer", "bot", "token", "apikey", "api-key", "key", "dpop"))
_PAIRS = re.compile(r"[^=;\s]+=[^;\s]+(;\s*[^=;\s]+=[^;\s]+)*;?")
"""Cookies, as a header has them."""

_MOST_VALUES = 100
"""An agent may have another token for each call: to look for all of them would take ever longer."""


class Scrubber:
    """Knows the values of secrets by the names of their variables, as those are now.

    Passwords of proxies are secrets that nobody has to name. It may be asked in any thread.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        names: Iterable[str] = (),
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._environment = environment
        self._warn = warn
        self._names = frozenset(names)
        self._seen: dict[str, str | None] = {}
        """What the variables had when they were last looked at; of proxies, those that are set."""
        self._count = -1
        self._known = NO_SECRETS
        self._warned: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        """The variables that are looked at."""
        return self._names

    def watch(self, names: Iterable[str]) -> None:
        """Look at some more variables from now on."""
        self._names |= frozenset(names)
        self._count = -1

    def add(self, name: str, value: str) -> None:
        """Take a value that no variable of this process has."""
        secret = _Secret(name, value.strip())
        self._learn([secret, *_parts_of(secret)])

    def look(self) -> KnownSecrets:
        """All that is known by now. It costs little where nothing has changed."""
        # Whether a proxy was set is told by the count: to ask for six more names each time would
        # cost more.
        if len(self._environment) != self._count or (self._seen and self._is_changed()):
            self._learn_all()
        return self._known

    def finds(self, text: str) -> bool:
        """Whether some string or number in this JSON text may hold a secret."""
        return self.look().finds(text)

    def text(self, text: str) -> str:
        """What a person is told, without secrets and pieces of them."""
        return self.look().told_text(text)

    def data(self, value: JSON) -> JSON:
        """A copy of a value without secrets in its keys, texts and numbers."""
        return self.look().data(value)

    def _is_changed(self) -> bool:
        get = self._environment.get
        return any(get(name) != before for name, before in self._seen.items())

    def _learn_all(self) -> None:
        get, count = self._environment.get, len(self._environment)
        seen = {name: get(name) for name in self._names}
        proxies = {name: address for name in _PROXY_NAMES if (address := get(name))}
        secrets = [_Secret(name, value.strip()) for name, value in seen.items() if value]
        secrets += [part for secret in secrets for part in _parts_of(secret)]
        for name, address in proxies.items():
            secrets += _secrets_in(name, address)
        # Known first: who sees no change must know what was changed.
        self._learn(secrets)
        self._seen, self._count = {**seen, **proxies}, count

    def _learn(self, secrets: Iterable[_Secret]) -> None:
        known, common = self._known, set()
        for name, value, is_sure, is_part in secrets:
            if not is_sure and is_common(value):
                common.add(name if value and not is_part else "")
            elif value not in known.values:
                known = known.with_value(value, name)
        if len(known.values) > _MOST_VALUES:
            newest = list(known.values.items())[-_MOST_VALUES // 2 :]
            known = reduce(lambda some, pair: some.with_value(*pair), newest, NO_SECRETS)
            self._warn_once(f"secrets have changed often: the last {len(newest)} are looked for")
        self._known = known
        for name in sorted(common.difference(_PROXY_NAMES, [""])):
            self._warn_once(
                f"the value of {name} is too short or too common to be recognised in other "
                "text: it is not redacted from records and output"
            )

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._warn(text)


class _Secret(NamedTuple):
    name: str
    value: str
    is_sure: bool = False
    """Whether it is one however short it is."""
    is_part: bool = False
    """Whether it is found in another one, so that nobody need be told if it is too short."""


def _parts_of(secret: _Secret) -> Iterator[_Secret]:
    """What is secret by itself in the value of a header or an address, by which an agent that
    tells it gives all of it away: a token after its scheme, passwords, values of cookies."""
    name, value, *_ = secret
    scheme, _, token = value.partition(" ")
    if scheme.casefold() in _SCHEMES and token.strip():
        yield _Secret(name, token.strip(), is_part=True)
        if scheme.casefold() == "basic":
            yield from _password_in(name, token.strip())
    elif "://" in value:
        for part in _secrets_in(name, value):
            yield _Secret(name, part.value, is_part=True)
    elif _PAIRS.fullmatch(value):
        for pair in value.split(";"):
            yield _Secret(name, pair.partition("=")[2].strip(), is_part=True)


def _password_in(name: str, token: str) -> Iterator[_Secret]:
    with suppress(ValueError):
        _, colon, password = a2b_base64(token).decode().partition(":")
        if colon:
            yield _Secret(name, password, is_part=True)


def _secrets_in(name: str, address: str) -> list[_Secret]:
    """What is secret in the address of a proxy: who asks, as the address and as a header has it,
    and the password alone."""
    found = _USER.match(address.strip())
    if found is None:
        return []
    from urllib.parse import unquote

    user, _, password = found[1].partition(":")
    given = f"{unquote(user)}:{unquote(password)}".encode()
    header = f"Basic {b2a_base64(given, newline=False).decode()}"
    told = [_Secret(name, f"{found[1]}@", is_sure=True), _Secret(name, header, is_sure=True)]
    return [*told, _Secret(name, password or user), _Secret(name, unquote(password or user))]
