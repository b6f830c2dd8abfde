"""Assertions of promptfoo as they are written: in a configuration, or in a cell of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from evalcase.importing.source import Item
from evalcase.importing.templates import Variables, has_tags
from evalcase.types.problem import find_nearest
from evalcase.types.value import JSON

NEGATION, SET = "not-", "assert-set"
_CELL = re.compile(r"(not-)?([a-z][a-z0-9-]*)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?")
_CELL_OF_TWO = re.compile(r"(not-)?([a-z]+:[a-z][a-z0-9-]*)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?")
"""The same for a type that has a colon itself: `trajectory:tool-used: search`."""
_MISSPELT = 0.8
"""How alike a known type an unknown one has to be, to be no text."""
_MEASURES = ("cost", "latency")
_BY_COMMAS = ("contains-all", "contains-any", "icontains-all", "icontains-any")
_CODE_IN_CELLS = ("javascript:", "fn:", "eval:")
_RENDERED_DEEPLY = ("trajectory:tool-args-match",)


class Assertion(NamedTuple):
    """What is checked, and where that is written."""

    item: Item
    type: str
    """Without `not-`."""
    is_negated: bool
    fields: dict[str, JSON]
    """All else that is said of it."""
    inner: tuple[Assertion, ...] = ()
    """What a set is made of."""

    @property
    def name(self) -> str:
        return f"{NEGATION if self.is_negated else ''}{self.type}"

    @property
    def value(self) -> JSON:
        return self.fields.get("value")

    @property
    def is_of_output(self) -> bool:
        """Whether it looks at the answer, and not only at what it took."""
        if self.type == SET:
            return any(each.is_of_output for each in self.inner)
        return self.type not in _MEASURES

    @property
    def has_tags(self) -> bool:
        """Whether it is another one for each test."""
        own = has_tags(self.value) or has_tags(self.fields.get("metric"))
        return own or any(each.has_tags for each in self.inner)

    def field(self, name: str) -> Item:
        """Where a field of it stands; the whole, in a cell."""
        held = self.item.value
        return self.item.at(name) if isinstance(held, dict) and name in held else self.item

    def render(self, variables: Variables) -> Assertion:
        """The same for one test. Raise UnrenderableError for what can't be written out."""
        if not self.has_tags:
            return self
        fields = dict(self.fields)
        value = fields.get("value")
        is_list = isinstance(value, list) or self.type in _RENDERED_DEEPLY
        if isinstance(value, str) or is_list:
            fields["value"] = variables.render_all(value)
        if isinstance(fields.get("metric"), str):
            fields["metric"] = variables.render(str(fields["metric"]))
        inner = tuple(each.render(variables) for each in self.inner)
        return self._replace(fields=fields, inner=inner)


def read_assertions(several: Item, root: Item) -> Iterator[Assertion]:
    """Each assertion of a list. What is no assertion has an empty type."""
    for item in several.items() if isinstance(several.value, list) else [several]:
        if item.value is not None:
            yield read_assertion(_follow_reference(item, root), root)


def read_assertion(item: Item, root: Item) -> Assertion:
    value = item.value
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return Assertion(item, "", False, {})
    name = str(value["type"])
    bare = name.removeprefix(NEGATION)
    fields: dict[str, JSON] = {
        key: held for key, held in value.items() if key != "type" and held is not None
    }
    inner = tuple(read_assertions(item.at("assert"), root)) if name == SET else ()
    return Assertion(item, bare, bare != name, fields, inner)


def _follow_reference(item: Item, root: Item) -> Item:
    """What `$ref: "#/assertionTemplates/polite"` leads to, if it is all that is there."""
    value = item.value
    named = value.get("$ref") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(named, str) or not named.startswith("#/"):
        return item
    found = root.at(*named.removeprefix("#/").split("/"))
    return item if found.value is None else found


def read_cell(item: Item) -> Assertion:
    """An assertion in a cell: `contains: Paris`, `not-regex: \\d`, or a text to be equal to."""
    text = str(item.value)
    if text.startswith(_CODE_IN_CELLS):
        return Assertion(item, "javascript", False, {"value": text.partition(":")[2].strip()})
    if text.startswith("grade:"):
        return Assertion(item, "llm-rubric", False, {"value": text.removeprefix("grade:").strip()})
    if text.startswith("file://"):
        kind = "python" if ".py" in text else "javascript"
        return Assertion(item, kind, False, {"value": text})
    found = _match_cell(text)
    if found is None:
        return Assertion(item, "equals", False, {"value": text})
    fields: dict[str, JSON] = {}
    if found[4] is not None and found[4].strip():
        fields["value"] = found[4].strip()
    if found[3] is not None:
        fields["threshold"] = float(found[3])
    if found[2] in _BY_COMMAS and "value" in fields:
        fields["value"] = split_commas(str(fields["value"]))
    return Assertion(item, found[2], found[1] is not None, fields)


def _match_cell(text: str) -> re.Match[str] | None:
    """What a cell asserts, also if its type is misspelt; None for a text."""
    for pattern in (_CELL_OF_TWO, _CELL):
        found = pattern.fullmatch(text)
        if found is not None and found[2] in ASSERTION_TYPES:
            return found
    # The last one tells what an unknown type would be.
    return found if found is not None and _is_misspelt(found) else None


def _is_misspelt(found: re.Match[str]) -> bool:
    if found[4] is None:
        return False
    is_marked = found[1] is not None or found[3] is not None
    return is_marked or find_nearest(found[2], ASSERTION_TYPES, _MISSPELT) is not None


def split_commas(text: str) -> list[JSON]:
    """Texts between commas; in quotes they may have commas."""
    import csv

    rows = list(csv.reader([text.replace("\n", " ")], skipinitialspace=True))
    return [each.strip() for each in (rows[0] if rows else [])]


ASSERTION_TYPES = frozenset({
    "agent-rubric", "answer-relevance", "assert-set", "bleu", "classifier", "contains",
    "contains-all", "contains-any", "contains-html", "contains-json", "contains-sql",
    "contains-xml", "context-faithfulness", "context-recall", "context-relevance",
    "conversation-relevance", "cost", "equals", "factuality", "finish-reason", "g-eval", "gleu",
    "guardrails", "human", "icontains", "icontains-all", "icontains-any", "is-html", "is-json",
    "is-refusal", "is-sql", "is-valid-function-call", "is-valid-openai-function-call",
    "is-valid-openai-tools-call", "is-xml", "javascript", "latency", "levenshtein", "llm-rubric",
    "max-score", "meteor", "model-graded-closedqa", "model-graded-factuality", "moderation",
    "perplexity", "perplexity-score", "pi", "python", "regex", "rouge-n", "ruby", "search-rubric",
    "select-best", "similar", "similar:cosine", "similar:dot", "similar:euclidean", "skill-used",
    "starts-with", "tool-call-f1", "trace-error-spans", "trace-span-count", "trace-span-duration",
    "trajectory:goal-success", "trajectory:step-count", "trajectory:tool-args-match",
    "trajectory:tool-sequence", "trajectory:tool-used", "webhook", "word-count",
})  # fmt: skip
"""All that promptfoo documents."""
