"""What came back from a service, once all of it is here."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.system.processes.pipes import Output


class WholeReply(NamedTuple):
    """A body, and what it says it is, without parameters."""

    content_type: str
    output: Output
