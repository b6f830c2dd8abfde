from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.util.json import compact_encoder
from tests.for_each import for_each

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)  # fmt: skip


@given(VALUES, st.booleans(), st.booleans())
def test_it_is_what_json_would_write(value: Any, sort_keys: bool, ascii_only: bool) -> None:
    expected = json.dumps(
        value, sort_keys=sort_keys, ensure_ascii=ascii_only, separators=(",", ":")
    )
    assert compact_encoder(sort_keys=sort_keys, ascii_only=ascii_only)(value) == expected


@for_each("value", [{1, 2}, float("nan"), [float("inf")], {"a": object()}])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        compact_encoder()(value)
