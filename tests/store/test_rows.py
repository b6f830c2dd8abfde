from __future__ import annotations

from typing import Any

import pytest

from evalcase.store.rows import decode_row, encode_struct, write_row
from evalcase.types.grade import Grade
from evalcase.types.result import Result
from evalcase.util.json import DEEPEST_ROW, body_of
from tests.for_each import for_each
from tests.store.samples import result


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


def with_details(value: Any) -> Result:
    return result(1, grades=(Grade("g", 1.0, True, "", {"a": value}),))


@for_each(
    "value",
    ["é😀", "\ud800", "\udcff\udc80", "\ud83d\ude00.", "\\ud83d", 10**30, -(10**400), 1.5e300],
)  # fmt: skip
def test_a_row_comes_back_as_it_was(value: Any) -> None:
    row = with_details(value)
    assert decode_row(body_of(write_row(row))) == row


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1, 2}, b"bytes", object(), {1: 2}, nested(DEEPEST_ROW),
     nested(100_000)],
    ids=["nan", "inf", "set", "bytes", "object", "key", "deep", "abysmal"],
)  # fmt: skip
def test_a_row_that_could_not_be_read_again_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON|nested"):
        encode_struct(with_details(value))
