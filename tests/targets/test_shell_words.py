"""A command line has quotes as in a shell, and nothing else of one: what would need one is said."""

from __future__ import annotations

import pytest

from evalcase.errors import ConfigError
from evalcase.targets.command import CommandTarget
from tests.for_each import for_each

SPLIT = CommandTarget.kind.split_value


@for_each("line", ["echo {prompt} | tr a-z A-Z", "a && b", "a > b", "a 2>&1", "a ;"])
def test_what_only_a_shell_understands_is_refused(line: str) -> None:
    assert SPLIT is not None
    with pytest.raises(ConfigError, match="no shell is asked: write command:sh -c '…'"):
        SPLIT(line)


def test_in_quotes_it_is_an_argument() -> None:
    assert SPLIT is not None
    assert SPLIT("cut -d '|' \"a && b\"") == {"command": ["cut", "-d", "|", "a && b"]}
