"""Assertions of promptfoo as they are written, in a configuration or in a cell of a table, and
those that no grader of evalcase stands for."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from json import dumps
from typing import NamedTuple

from evalcase.importers.javascript import Variables, has_tags
from evalcase.importers.source import Item
from evalcase.types.problem import find_nearest
from evalcase.types.value import JSON

NEGATION, SET = "not-", "assert-set"
JUDGED = (
    "llm-rubric", "model-graded-closedqa", "factuality", "model-graded-factuality", "g-eval",
)  # fmt: skip
TOOL_USE = (
    "trajectory:tool-used", "trajectory:tool-sequence", "trajectory:tool-args-match",
    "trajectory:step-count",
)  # fmt: skip
MAPPED = (
    "contains", "icontains", "contains-any", "icontains-any", "contains-all", "icontains-all",
    "equals", "starts-with", "regex", "is-json", "latency", "cost", "word-count", "finish-reason",
    "similar", "similar:cosine", "javascript", "python", SET, *JUDGED, *TOOL_USE,
)  # fmt: skip
_CELL = re.compile(r"(not-)?([a-z][a-z0-9-]*)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?")
_CELL_OF_TWO = re.compile(r"(not-)?([a-z]+:[a-z][a-z0-9-]*)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?")
"""The same for a type that has a colon itself: `trajectory:tool-used: search`."""
_MISSPELT = 0.8
"""How similar to a known type an unknown one is, if it is no text."""
_CONTEXT = re.compile(r"\bcontext\.vars\.(\w+)\b")
_BY_COMMAS = ("contains-all", "contains-any", "icontains-all", "icontains-any")

FUNCTION = "write a function, and name it as `python: checks:function`"
_COMPARE = "`evalcase compare` compares two runs"
CODE = "code in another language is not carried over"
_TEXTS = "no grader compares texts in this way"
_SPANS = "it looks at spans of a trace"
_TOOLS = "the tools are those of the provider"


def _rubric(name: str) -> str:
    return f"`judge: {{rubric: {name}}}` asks a judge about that"


WITHOUT_COUNTERPART: dict[str, tuple[str, str | None]] = {
    "ruby": (CODE, FUNCTION),
    **dict.fromkeys(("is-html", "contains-html"), ("no grader reads HTML", FUNCTION)),
    **dict.fromkeys(("is-xml", "contains-xml"), ("no grader reads XML", FUNCTION)),
    **dict.fromkeys(("is-sql", "contains-sql"), ("no grader reads SQL", FUNCTION)),
    **dict.fromkeys(("bleu", "gleu", "meteor", "rouge-n"), (_TEXTS, None)),
    **dict.fromkeys(("similar:dot", "similar:euclidean"),
                    ("`similarity` compares embeddings by their cosine", None)),
    **dict.fromkeys(("perplexity", "perplexity-score"), ("targets report no probabilities", None)),
    **dict.fromkeys(("classifier", "pi"), ("a model of its own scores it", None)),
    **dict.fromkeys(("search-rubric", "agent-rubric"),
                    ("its judge has tools", "`judge` judges by what it is shown")),
    **dict.fromkeys(("select-best", "max-score"),
                    ("it compares answers of several targets", _COMPARE)),
    **dict.fromkeys(("trace-span-count", "trace-span-duration", "trace-error-spans"),
                    (_SPANS, None)),
    **dict.fromkeys(("is-valid-function-call", "is-valid-openai-function-call",
                     "is-valid-openai-tools-call"), (_TOOLS, "`trajectory` grades calls")),
    "webhook": ("no grader asks an address", "`script` runs a program, which may ask one"),
    "contains-json": ("no grader looks for JSON within a text", "`json` reads the whole answer"),
    "levenshtein": (
        "it counts edits, and `similarity` is their share of the text",
        "`similarity` with a threshold of 1 minus the edits divided by the length is near",
    ),
    "moderation": ("a model of its own scores it", _rubric("harmless")),
    "guardrails": ("targets report no guardrails", None),
    "is-refusal": ("it looks for phrases", _rubric("refuses")),
    "answer-relevance": ("it compares embeddings of questions", _rubric("relevant")),
    "context-recall": ("its score is counted otherwise", _rubric("context_recall")),
    "context-relevance": ("its score is counted otherwise", _rubric("context_precision")),
    "context-faithfulness": ("its score is counted otherwise", _rubric("faithful")),
    "conversation-relevance": ("its score is counted otherwise", _rubric("relevant")),
    "trajectory:goal-success": ("it judges a trace", _rubric("task_completed")),
    "human": ("no person is asked during a run", None),
    "skill-used": ("targets report no skills", None),
    "tool-call-f1": (
        "it counts tools, however often they are called",
        "`trajectory` with `order: any_order` and `extra: forbid` is near",
    ),
}  # fmt: skip
ASSERTION_TYPES = frozenset({*MAPPED, *WITHOUT_COUNTERPART})
"""All that promptfoo documents."""


class NoCounterpartError(Exception):
    """Why no grader says the same."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


class Assertion(NamedTuple):
    item: Item
    type: str
    """Without `not-`; empty for something that is no assertion."""
    is_negated: bool
    fields: dict[str, JSON]
    """All other fields."""
    inner: tuple[Assertion, ...] = ()
    """The assertions of a set."""

    @property
    def name(self) -> str:
        return f"{NEGATION if self.is_negated else ''}{self.type}"

    @property
    def value(self) -> JSON:
        return self.fields.get("value")

    @property
    def is_of_output(self) -> bool:
        """Whether it looks at the answer, and not only at its cost and duration."""
        if self.type == SET:
            return any(each.is_of_output for each in self.inner)
        return self.type not in ("cost", "latency")

    @property
    def has_tags(self) -> bool:
        """Whether it differs from test to test."""
        own = has_tags(self.value) or has_tags(self.fields.get("metric"))
        own = own or (self.type == "javascript" and _CONTEXT.search(str(self.value)) is not None)
        return own or any(each.has_tags for each in self.inner)

    def field(self, name: str) -> Item:
        """The place of a field; in a cell, the whole cell."""
        return self.item.at(name) if name in self.item.mapping() else self.item

    def render(self, variables: Variables) -> Assertion:
        """The same for one test. Raise UnrenderableError."""
        if not self.has_tags:
            return self
        fields = dict(self.fields)
        value = fields.get("value")
        if self.type == "javascript" and isinstance(value, str):
            value = _CONTEXT.sub(lambda name: _write_variable(name[1], variables), value)
            fields["value"] = variables.render(value)
        elif isinstance(value, str | list) or self.type == "trajectory:tool-args-match":
            fields["value"] = variables.render_all(value)
        if isinstance(fields.get("metric"), str):
            fields["metric"] = variables.render(str(fields["metric"]))
        return self._replace(
            fields=fields, inner=tuple(each.render(variables) for each in self.inner)
        )

    def judges(self) -> Iterator[Item]:
        """The judges that it names, at any depth."""
        if self.type in JUDGED and self.fields.get("provider") is not None:
            yield self.field("provider")
        for each in self.inner:
            yield from each.judges()

    def without_judge(self, judge: JSON) -> Assertion:
        """The same without the name of the judge of all tests."""
        fields = self.fields
        if self.type in JUDGED and fields.get("provider") == judge:
            fields = {name: each for name, each in fields.items() if name != "provider"}
        inner = tuple(each.without_judge(judge) for each in self.inner)
        return self._replace(fields=fields, inner=inner)


def read_assertions(several: Item, root: Item) -> tuple[Assertion, ...]:
    """The assertions of a list. `$ref: "#/assertionTemplates/polite"` is replaced."""
    found = []
    for item in several.several():
        value = item.value
        named = value.get("$ref") if isinstance(value, dict) and len(value) == 1 else None
        if isinstance(named, str) and named.startswith("#/"):
            referenced = root.at(*named.removeprefix("#/").split("/"))
            item = item if referenced.value is None else referenced  # noqa: PLW2901
        if item.value is not None:
            found.append(_read_assertion(item, root))
    return tuple(found)


def _read_assertion(item: Item, root: Item) -> Assertion:
    value = item.mapping()
    if not isinstance(value.get("type"), str):
        return Assertion(item, "", False, {})
    name = str(value["type"])
    bare = name.removeprefix(NEGATION)
    fields: dict[str, JSON] = {
        key: held for key, held in value.items() if key != "type" and held is not None
    }
    inner = read_assertions(item.at("assert"), root) if name == SET else ()
    return Assertion(item, bare, bare != name, fields, inner)


def _write_variable(name: str, variables: Variables) -> str:
    """`context.vars.NAME` as a literal, if its value is a scalar."""
    variables.used.add(name)
    value = variables.values.get(name)
    is_scalar = isinstance(value, str | int | float) and not has_tags(value)
    return dumps(value) if is_scalar else f"context.vars.{name}"


def read_cell(item: Item) -> Assertion:
    """An assertion in a cell: `contains: Paris`, `not-regex: \\d`, or a text to be equal to."""
    text = str(item.value)
    if text.startswith(("javascript:", "fn:", "eval:")):
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
        held = found[4].strip()
        fields["value"] = split_commas(held) if found[2] in _BY_COMMAS else held
    if found[3] is not None:
        fields["threshold"] = float(found[3])
    return Assertion(item, found[2], found[1] is not None, fields)


def _match_cell(text: str) -> re.Match[str] | None:
    """An assertion in a cell, also if its type is misspelt; None for a text."""
    for pattern in (_CELL_OF_TWO, _CELL):
        found = pattern.fullmatch(text)
        if found is not None and found[2] in ASSERTION_TYPES:
            return found
    if found is None or found[4] is None:
        return None
    is_marked = found[1] is not None or found[3] is not None
    is_misspelt = is_marked or find_nearest(found[2], ASSERTION_TYPES, _MISSPELT) is not None
    return found if is_misspelt else None


def split_commas(text: str) -> list[JSON]:
    """Texts between commas; in quotes they may have commas."""
    rows = list(csv.reader([text.replace("\n", " ")], skipinitialspace=True))
    return [each.strip() for each in (rows[0] if rows else [])]
