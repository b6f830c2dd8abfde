"""Values to compact JSON, quickly: for what is written once for each of a million trials.

`JSONEncoder.encode` makes another C encoder at each call, which takes as long as a small value
does. Here it is made once; where an interpreter has none, the usual way is taken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

WriteJson = Callable[[Any], str]


def compact_encoder(*, sort_keys: bool = False, ascii_only: bool = True) -> WriteJson:
    """A function from a JSON value to its text. It raises TypeError, ValueError, RecursionError."""
    encoder = json.JSONEncoder(
        sort_keys=sort_keys, ensure_ascii=ascii_only, separators=(",", ":"),
        check_circular=False, allow_nan=False,
    )  # fmt: skip
    make: Callable[..., Callable[[Any, int], Iterable[str]]] | None
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    quote = text_quoter(ascii_only=ascii_only)
    to_chunks = make(None, encoder.default, quote, None, ":", ",", sort_keys, False, False)

    def encode(value: Any) -> str:  # noqa: ANN401 - any JSON value
        return "".join(to_chunks(value, 0))

    return encode


def text_quoter(*, ascii_only: bool = True) -> Callable[[str], str]:
    """A function from a text to its JSON. It raises TypeError for all else."""
    return json.encoder.encode_basestring_ascii if ascii_only else json.encoder.encode_basestring
