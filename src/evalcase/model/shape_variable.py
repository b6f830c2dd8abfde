"""The name of an environment variable. What is no such name is never shown: people write the key
itself where its name is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.shape import OptionFault, Plain

NAME_IT = "export the value under a name such as MY_KEY, and write that name here"

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_LIKE_KEY = (
    r"(?:sk|pk|rk|gsk|hf|r8|gh[oprsu]|github_pat)_\w{16,}|AIza\w{35}|AKIA[0-9A-Z]{16}|xai_\w{16,}"
)


class VariableName(Plain, frozen=True):
    """The name of an environment variable."""

    @property
    def words(self) -> str:
        return "the name of an environment variable"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        said, name = f"`{path[-1]}` is {self.words}", path[-1]
        if value == "":
            yield OptionFault(path, f"`{name}` is empty")
        elif not isinstance(value, str):
            what = f"{said}, which is text"
            yield OptionFault(path, what, NAME_IT, code="wrong-type", unlike=True, hides=True)
        elif re.fullmatch(_LIKE_KEY, value):
            yield OptionFault(path, f"{said}, and this looks like a key", NAME_IT, hides=True)
        elif not re.fullmatch(_NAME, value):
            what = f"{said}, of letters, digits and underscores: what stands here is none"
            yield OptionFault(path, what, NAME_IT, hides=True)

    def schema(self) -> dict[str, JSON]:
        return {"type": "string", "pattern": f"^{_NAME}$"}


_OF_SECRETS = frozenset({
    "key", "apikey", "token", "secret", "password", "passwd", "pwd", "auth", "authorization",
    "credential", "credentials", "cookie", "signature", "sig", "jwt",
})  # fmt: skip
"""Words in the names that people give to what holds a secret."""


def may_hold_secret(name: str) -> bool:
    """Whether an option that nobody knows is named as if its value were a secret."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[-.]", "_", name).lower().split("_")
    return not _OF_SECRETS.isdisjoint(words)
