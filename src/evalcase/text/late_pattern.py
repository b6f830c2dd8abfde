"""Regular expressions that are compiled when they are first used: a module has many, a start of the
command uses few."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def late_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, as far as its attributes and methods go."""
    return cast("re.Pattern[AnyStr]", LatePattern(source, flags))


class LatePattern:
    """Stands for a pattern, and is one once something of it was asked for."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a pattern has
        """Only asked for what isn't there yet: then all of it is put there, and found at once."""
        compiled = re.compile(self._source, self._flags)
        self.__dict__.update({each: getattr(compiled, each) for each in _PUBLIC})
        return getattr(compiled, name)


_PUBLIC = [name for name in dir(re.Pattern) if not name.startswith("_")]
