"""The seal of a run: by it a user knows later that what `run.json` says is what they asked for.

A record is data, and may come from anyone. What it names is executed, opened and connected to only
if its seal is whole: a hash of all that `run.json` says and of the project's folder, with a key
that only this user of this machine has. What was edited, sent, cloned or moved has no such seal.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evalcase.model.value import Value
from evalcase.system.user_key import make_key, read_key
from evalcase.text.quick_json import compact_encoder

if TYPE_CHECKING:
    from evalcase.record.folder import Run

_to_json = compact_encoder(sort_keys=True)


class Sealer(Value, frozen=True):
    """Seals what a user asks for in one project, and knows such seals again.

    Only what this user typed just now may be sealed, never what was read from another record.
    """

    key: bytes
    root: str
    """The project's folder, links followed: relative paths mean other files elsewhere."""

    def seal(self, facts: dict[str, Any]) -> str:
        """The seal of what `run.json` says, but for the seal itself."""
        # A lone surrogate, as odd file names have, is an escape here: all of it is ASCII.
        text = _to_json({"root": self.root, "run": facts})
        return hmac.digest(self.key, text.encode("ascii"), "sha256").hex()

    def knows(self, run: Run) -> bool:
        """Whether a run has the seal that it would be given here."""
        if run.seal is None:
            return False
        # As bytes: what a stranger wrote there may be any text.
        given = run.seal.encode("utf-8", "backslashreplace")
        return hmac.compare_digest(given, self.seal(run.facts).encode())


def make_sealer(state: str | None, root: str, entropy: Callable[[int], bytes]) -> Sealer | None:
    """What seals the runs of a user whose state is kept in a folder. None where no key can be kept:
    they can be run all the same, and be told apart from others' by nobody."""
    try:
        return Sealer(make_key(state, entropy), root) if state is not None else None
    except OSError:
        return None


def is_own(run: Run, state: str | None, root: str) -> bool:
    """Whether a user whose state is kept in a folder made this run, as it stands, in a project."""
    sealer = find_sealer(state, root)
    return sealer is not None and sealer.knows(run)


def find_sealer(state: str | None, root: str) -> Sealer | None:
    """What knows the runs of a user again, for who has many to look at; None if there is no key."""
    try:
        return Sealer(read_key(state), root) if state is not None else None
    except OSError:
        return None
