"""What can be written at a cursor: fields, roles, graders and their options, listed values, targets
of the project, and tags in use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from evalcase.config.config import Config
from evalcase.config.registry import find_target_kind, list_names
from evalcase.editor.cursor import Cursor
from evalcase.editor.schema import Offer, SchemaWalk
from evalcase.errors import ConfigError
from evalcase.format.positions import Format
from evalcase.format.writer import quoted_text, scalar_text
from evalcase.types.value import JSON


def find_tags(values: Iterable[JSON]) -> list[str]:
    """The tags of suites and cases, the most frequent first."""
    counts: Counter[str] = Counter()
    left = [*values]
    while left:
        each = left.pop()
        if isinstance(each, list):
            left += each
        elif isinstance(each, dict):
            tags = each.get("tags")
            several = tags if isinstance(tags, list) else []
            counts.update(tag for tag in several if type(tag) is str)
            left += [held for held in each.values() if isinstance(held, list)]
    return [tag for tag, _ in counts.most_common()]


def offer_targets(config: Config) -> dict[str, str]:
    """Each name with a sentence."""
    kinds = {}
    for kind in list_names("targets"):
        with suppress(ConfigError):
            kinds[kind] = find_target_kind(kind)
    offers = {}
    for name, table in config.targets.items():
        kind = str(table.get("kind"))
        offers[name] = f"{kind}: {kinds[kind].about}" if kind in kinds else ""
    for kind, found in kinds.items():
        offers.setdefault(f"{kind}:" if found.value_needed else kind, found.about)
    return offers


CompletionKind = Literal["field", "value", "target", "tag"]
_SCALARS = frozenset({"string", "number", "integer", "boolean", "null"})


class Completion(NamedTuple):
    """Something to insert in place of what is written, between two columns of the cursor's line."""

    label: str
    kind: CompletionKind
    about: str
    insert: str
    start: int
    end: int


def find_completions(
    cursor: Cursor, format: Format, line: str, walk: SchemaWalk,
    targets: Mapping[str, str], tags: Sequence[str],
) -> list[Completion]:  # fmt: skip
    """All that can be written at a cursor of a line, in the order of the declarations."""
    if cursor.slot == "text":
        return []
    write = _Spelling(cursor, format, line)
    found: list[Completion] = []
    if cursor.slot in ("value", "item"):
        found += _offer_values(cursor, walk, targets, tags, write)
    if cursor.slot in ("key", "item"):
        others = {name: each for name, each in cursor.fields.items() if name != write.token_name}
        fields = walk.fields(walk.parts_at(cursor, others))
        offers = [each for each in fields if each.name not in others]
        # A name that takes an argument is of little use alone; one that takes none, of no other.
        longer = {each.name for each in offers if each.takes or cursor.token.has_colon}
        found = [each for each in found if each.label not in longer]
        known = {each.label for each in found}
        found += [write.field(each) for each in offers if each.name not in known]
    return found


def _offer_values(
    cursor: Cursor, walk: SchemaWalk, targets: Mapping[str, str], tags: Sequence[str],
    write: _Spelling,
) -> Iterator[Completion]:  # fmt: skip
    parts, path = walk.parts_at(cursor, write.token_name), cursor.path
    list_of = path[-2] if len(path) > 1 and isinstance(path[-1], int) else ""
    if parts and (path[-1:] == ("target",) or list_of == "targets"):
        for name, about in targets.items():
            yield write.value(name, "target", about)
    elif parts and list_of == "tags":
        for name in tags:
            yield write.value(name, "tag", "")
    for offer in walk.values(parts):
        if offer.name is not None and not isinstance(offer.name, list | dict):
            yield write.value(offer.name, "value", offer.about)


class _Spelling:
    """How names and values are written where the cursor stands."""

    def __init__(self, cursor: Cursor, format: Format, line: str) -> None:
        self.cursor = cursor
        self.format = format
        self.line = line

    @property
    def token_name(self) -> str:
        """What is written already, without its quotes."""
        return self.cursor.token.text.strip("\"'")

    def field(self, offer: Offer) -> Completion:
        name, token = str(offer.name), self.cursor.token
        sign = ": "
        if self.format in ("json", "jsonl") or token.quote:
            written = json.dumps(name, ensure_ascii=False)
        else:
            written = scalar_text(name)
        takes = {each for each in offer.takes if each != "null"}
        if token.has_colon:
            sign = ""
        elif self.format == "yaml" and not self.cursor.in_flow and takes and not _SCALARS & takes:
            sign = ":"  # what it holds stands on the lines below it
        return Completion(name, "field", offer.about, written + sign, token.start, token.end)

    def value(self, value: JSON, kind: CompletionKind, about: str) -> Completion:
        token = self.cursor.token
        label = value if isinstance(value, str) else json.dumps(value)
        return Completion(label, kind, about, self._spelt(value), token.start, token.end)

    def _spelt(self, value: JSON) -> str:
        token = self.cursor.token
        if self.format != "yaml":
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, str) and token.quote == '"':
            return quoted_text(value)
        space = " " if self.line[token.start - 1 : token.start] in (":", "-") else ""
        return space + scalar_text(value, in_flow=self.cursor.in_flow)
