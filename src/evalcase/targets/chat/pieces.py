"""A mapping that a stream gives in pieces: its texts are joined once, when it is whole.

There may be very many pieces, and to join each to what came before would copy all of that again.
"""

from __future__ import annotations

from collections.abc import Mapping

from evalcase.types.value import JSON


class Pieces:
    """Texts grow with each piece; of anything else, and of what is `whole`, the last one counts."""

    def __init__(self, whole: frozenset[str] = frozenset()) -> None:
        self._whole = whole
        self._given: dict[str, list[JSON]] = {}
        """What came under each key: several pieces only where all of them are texts."""

    def add(self, pieces: Mapping[str, JSON]) -> None:
        for key, piece in pieces.items():
            known = self._given.get(key)
            grows = known is not None and isinstance(known[0], str) and isinstance(piece, str)
            if known is not None and grows and key not in self._whole:
                known.append(piece)
            else:
                self._given[key] = [piece]

    def find(self, key: str) -> JSON:
        """What there is under a key by now; None if there is nothing."""
        known = self._given.get(key)
        return None if known is None else _join_pieces(known)

    def joined(self) -> dict[str, JSON]:
        return {key: _join_pieces(given) for key, given in self._given.items()}


def _join_pieces(given: list[JSON]) -> JSON:
    return given[0] if len(given) == 1 else "".join(map(str, given))
