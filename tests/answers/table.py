"""The table of recorded answers: which files there are, where each is from, and what it says."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
TABLE = HERE / "table.yaml"
VIAS = ("python", "command", "http", "http_stream", "native")


@dataclass(frozen=True)
class Row:
    """A file, and what a person reads in it."""

    file: str
    source: str
    via: list[str]
    holds_calls: bool
    """Whether a tool was called, or asked for, anywhere in the file."""
    text: str | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    """Each is `{tool, input?, output?, failed?}`."""
    usage: dict[str, int] | None = None
    finish: str | None = None
    errored: str | None = None
    """A part of the message, where the reply is no answer: blocked, unfinished or failed."""
    data: bool = False
    """The file is data of the user's, and is the answer as it is."""
    stream: str | None = None
    """Where the text is in each event, for `http_stream`."""
    note: str = ""
    reads: dict[str, str] = field(default_factory=dict)
    """How well it is read today, by how it comes; `all` where nothing is said."""

    @property
    def path(self) -> Path:
        return HERE / self.file

    @property
    def value(self) -> Any:
        """What Python code would return."""
        text = self.path.read_text("utf-8")
        return json.loads(text) if self.path.suffix == ".json" else text.removesuffix("\n")

    @property
    def has_failed_call(self) -> bool:
        return any(call.get("failed") for call in self.calls)


@dataclass(frozen=True)
class Source:
    """Where files are from."""

    version: str
    made: str
    """`package`: the package returned or printed it. `documentation`: its shape was read there.
    `invented`: it is nobody's."""


def read_table() -> tuple[dict[str, Source], list[Row]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(TABLE.read_text("utf-8"), loader)
    sources = {name: Source(**about) for name, about in document["sources"].items()}
    return sources, [Row(**row) for row in document["rows"]]
