"""Assertions of promptfoo, each to graders that say the same, or to the reason why none do.

A grader is never weaker than its assertion. If ours forgives more, such as a fence around JSON, a
second grader makes up for it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from json import dumps
from typing import NamedTuple

from msgspec import Struct, structs

from evalcase.format.document import parse_document
from evalcase.importers.draft import (
    NoCounterpartError,
    add_options,
    combine,
    write_grader,
)
from evalcase.importers.javascript import (
    Variables,
    grade_expression,
    javascript_text,
    translate_pattern,
)
from evalcase.importers.source import FILE, Folder, Item
from evalcase.types.problem import did_you_mean
from evalcase.types.value import JSON, describe_kind

Grader = dict[str, JSON]
NEGATION, SET = "not-", "assert-set"
_LISTS = ("contains-any", "icontains-any", "contains-all", "icontains-all")
_CONTAINS = ("contains", "icontains", *_LISTS)
_SIMILAR = ("similar", "similar:cosine")
JUDGED = (
    "llm-rubric", "model-graded-closedqa", "factuality", "model-graded-factuality", "g-eval",
)  # fmt: skip
TOOL_USE = (
    "trajectory:tool-used", "trajectory:tool-sequence", "trajectory:step-count",
    "trajectory:tool-args-match",
)  # fmt: skip
_NOT_HERE = (
    "python", "ruby", "webhook", "levenshtein", "similar:dot", "similar:euclidean", "bleu", "gleu",
    "meteor", "rouge-n", "perplexity", "perplexity-score", "classifier", "pi", "guardrails",
    "human", "is-html", "contains-html", "is-xml", "contains-xml", "is-sql", "contains-sql",
    "contains-json", "select-best", "max-score", "skill-used", "trace-span-count",
    "trace-span-duration", "trace-error-spans", "moderation", "is-refusal", "answer-relevance",
    "conversation-relevance", "context-recall", "context-relevance", "context-faithfulness",
    "search-rubric", "agent-rubric", "trajectory:goal-success", "is-valid-function-call",
    "is-valid-openai-function-call", "is-valid-openai-tools-call", "tool-call-f1",
)  # fmt: skip
"""Types that no grader says the same as."""
ASSERTION_TYPES = frozenset({
    *_CONTAINS, *_SIMILAR, *JUDGED, *TOOL_USE, *_NOT_HERE, SET, "equals", "starts-with", "regex",
    "word-count", "javascript", "is-json", "latency", "cost", "finish-reason",
})  # fmt: skip
"""All that promptfoo documents."""
_HINT = "a `judge`, or a function as `python: checks:function`, may grade it"
_NEAR = {"skill-used": "skill_used", "skill-trigger": "skill_used", "levenshtein": "similarity"}
_CELL = re.compile(
    rf"(not-)?({'|'.join(map(re.escape, ASSERTION_TYPES))})(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?"
)
"""`contains(0.5): Paris`"""
_TRIM = re.compile(r"\s*output\.trim\(\);?\s*")
_STRICT = write_grader("json", strict=True)
_SHARED = ("value", "weight", "metric", "assert", "transform", "id", "reason")
_OPTIONS = {
    **dict.fromkeys(("latency", "cost", SET), ("threshold",)),
    **dict.fromkeys(_SIMILAR, ("threshold", "provider")),
}
_OF_JUDGES = {
    "provider": "`provider` of a judge: [judge] of the configuration says who judges",
    "rubricPrompt": "`rubricPrompt`: evalcase asks a judge in words of its own",
    "threshold": "`threshold` of a judge, who says yes or no",
}
_FINISH_REASONS: dict[str, JSON] = {
    "stop": ["stop", "end_turn"], "length": ["length", "max_tokens"],
    "tool_calls": ["tool_calls", "tool_use"], "content_filter": ["content_filter", "refusal"],
}  # fmt: skip
"""promptfoo's names, and those of the services."""


# Assertions as they are written


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

    def is_beyond(self, *types: str) -> bool:
        """Whether it, or one inside of it, is of another type."""
        if self.type == SET:
            return any(each.is_beyond(*types) for each in self.inner)
        return self.type not in types

    def render(self, variables: Variables) -> Assertion:
        is_template = isinstance(self.value, str | list) or self.type == TOOL_USE[-1]
        names = ("value", "metric") if is_template else ("metric",)
        fields = {
            name: variables.render_all(held) if name in names else held
            for name, held in self.fields.items()
        }
        inner = tuple(each.render(variables) for each in self.inner)
        return self._replace(fields=fields, inner=inner)

    def judges(self) -> Iterator[Item]:
        if self.type in JUDGED and self.fields.get("provider") is not None:
            yield self.item.at("provider")
        for each in self.inner:
            yield from each.judges()


def read_assertions(several: Item, root: Item) -> tuple[Assertion, ...]:
    """The assertions of a list. `$ref: "#/assertionTemplates/polite"` is replaced."""
    found = []
    for each in several.several():
        named = str(each.at("$ref").value)
        referenced = root.at(*named[2:].split("/")) if named.startswith("#/") else each
        item = each if referenced.value is None else referenced
        name = item.at("type").value
        kind = name if isinstance(name, str) else ""
        fields: dict[str, JSON] = {
            key: held for key, held in item.mapping().items()
            if kind and key != "type" and held is not None
        }  # fmt: skip
        inner = read_assertions(item.at("assert"), root) if kind == SET else ()
        bare = kind.removeprefix(NEGATION)
        if item.value is not None:
            found.append(Assertion(item, bare, bare != kind, fields, inner))
    return tuple(found)


def read_cell(text: str) -> dict[str, JSON]:
    """An assertion in a cell: `contains: Paris`, `not-regex: \\d`, or a text to be equal to."""
    if text.startswith(("javascript:", "fn:", "eval:")):
        return {"type": "javascript", "value": text.partition(":")[2].strip()}
    if text.startswith("grade:"):
        return {"type": "llm-rubric", "value": text.removeprefix("grade:").strip()}
    if text.startswith(FILE):
        return {"type": "python" if ".py" in text else "javascript", "value": text}
    found = _CELL.fullmatch(text)
    if found is None:
        return {"type": "equals", "value": text}
    check: dict[str, JSON] = {"type": f"{found[1] or ''}{found[2]}"}
    if held := (found[4] or "").strip():
        check["value"] = _split_commas(held) if found[2] in _LISTS else held
    if found[3] is not None:
        check["threshold"] = float(found[3])
    return check


def _split_commas(text: str) -> list[JSON]:
    """Texts between commas; in quotes they may have commas."""
    rows = list(csv.reader([text.replace("\n", " ")], skipinitialspace=True))
    return [each.strip() for each in (rows[0] if rows else [])]


# Graders that say the same


class Mapper(Struct):
    """Maps assertions, and notes what is lost of those that are mapped in part."""

    folder: Folder
    root: str
    """The folder that code is named from."""
    embed: Callable[[Item], str] | None = None
    """Gives the target for the embeddings of a provider."""
    judge: JSON = None
    """The provider that became the judge of the configuration."""
    counts_scores: bool = False
    """Whether a weighted mean decides: then no grader may give half a point where promptfoo gives
    all or nothing."""
    notes: list[tuple[Item, str]] = []

    def map(self, assertion: Assertion, transform: JSON = None) -> list[Grader]:
        """Graders of the answer. Raise NoCounterpartError if none say the same."""
        of_answer = transform if assertion.is_beyond("cost", "latency") else None
        for code in (assertion.fields.get("transform"), of_answer):
            if code is None:
                continue
            if not is_trim(code):
                raise NoCounterpartError(f"`{assertion.name}` of what `transform` makes")
            if assertion.type == "regex":
                why = "`transform`: a pattern finds white space around the answer, too"
                self.notes.append((assertion.item, why))
        self._refuse_unlike(assertion)
        graders = _MAPPERS[assertion.type](self, assertion)
        if assertion.is_negated and assertion.type not in TOOL_USE:
            graders = [combine("any", [{**each, "not": True} for each in graders])]
        if self.counts_scores:
            graders = [combine("all", graders)]
        fields = assertion.fields
        if "reason" in fields:
            self.notes.append((assertion.item.at("reason"), "`reason` of an assertion"))
        weight, id = fields.get("weight"), fields.get("id")
        name = fields.get("metric") or (str(id) if id else None)
        given = {"weight": None if weight == 1 else weight, "name": name}
        return [add_options(each, given) for each in graders]

    def _refuse_unlike(self, assertion: Assertion) -> None:
        kind, name = assertion.type, f"`{assertion.name}`"
        if not kind:
            raise NoCounterpartError("this assertion, which has no type")
        if kind not in _MAPPERS:
            near = _NEAR.get(kind)
            hint = f"`{near}` is near, and not the same" if near else _HINT
            if near is None and kind not in ASSERTION_TYPES:
                hint = did_you_mean(kind, ASSERTION_TYPES) or hint
            raise NoCounterpartError(f"{name}: no grader says the same", hint)
        if assertion.fields.get("weight") == 0:
            hint = "give it a weight, if the test should fail by it"
            raise NoCounterpartError(f"{name} with weight 0: it can't fail", hint)
        known = (*_SHARED, *(_OF_JUDGES if kind in JUDGED else _OPTIONS.get(kind, ())))
        other = next((field for field in assertion.fields if field not in known), None)
        if other is not None:
            raise NoCounterpartError(f"{name} with `{other}`")

    def value(self, assertion: Assertion) -> JSON:
        """The value of an assertion, or of the files that it names."""
        value = assertion.value
        return [*map(self._read, value)] if isinstance(value, list) else self._read(value)

    def _read(self, value: JSON) -> JSON:
        if not isinstance(value, str) or not value.startswith(FILE):
            return value
        is_data = value.lower().endswith((".json", ".yaml", ".yml"))
        try:
            return self.folder.value(value) if is_data else self.folder.read(value)
        except ValueError as error:
            raise NoCounterpartError(f"what is in {value}: {error}") from None

    def text(self, assertion: Assertion) -> str:
        (text,) = self.texts(assertion, [self.value(assertion)])
        return text

    def texts(self, assertion: Assertion, several: JSON) -> list[str]:
        """Texts, none of them empty."""
        if not isinstance(several, list) or not several:
            raise _unlike(assertion, several, "a list")
        for each in several:
            if isinstance(each, bool | dict | list) or each in (None, ""):
                raise _unlike(assertion, each, "a text")
        return [javascript_text(each) for each in several]


def _map_equals(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    value = mapper.value(assertion)
    if isinstance(value, dict | list):
        return [write_grader("equals", value), _STRICT]
    if value is None or value == "":
        raise _unlike(assertion, value, "something to be equal to")
    return [write_grader("equals", javascript_text(value))]


def _map_contains(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    kind = assertion.type.removeprefix("i")
    options: dict[str, JSON] = {"ignore_case": True} if kind != assertion.type else {}
    if kind == "contains":
        return [write_grader("contains", mapper.text(assertion), **options)]
    value = mapper.value(assertion)
    texts = mapper.texts(assertion, _split_commas(value) if isinstance(value, str) else value)
    if kind == "contains-any":
        return [write_grader("contains", any=[*texts], **options)]
    if mapper.counts_scores or len(texts) == 1:
        return [write_grader("contains", each, **options) for each in texts]
    return [write_grader("contains", texts, **options)]


def _map_pattern(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    try:
        return [write_grader("regex", translate_pattern(mapper.text(assertion)))]
    except ValueError as error:
        raise NoCounterpartError(f"`{assertion.name}`: {error}") from None


def _map_limit(_: Mapper, assertion: Assertion) -> list[Grader]:
    kind, limit = assertion.type, assertion.fields.get("threshold")
    if not isinstance(limit, int | float) or isinstance(limit, bool):
        raise NoCounterpartError(f"`{assertion.name}` without a threshold, which only measures")
    return [write_grader(kind, to_seconds(limit) if kind == "latency" else limit)]


def _map_count(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    value = mapper.value(assertion)
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"min": value, "max": value}
    if not isinstance(value, dict) or not value or not set(value) <= {"min", "max"}:
        raise _unlike(assertion, value, "a number")
    return [write_grader("length", **value, unit="words")]


def _map_finish(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    if assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}`, which is not turned round there")
    reason = mapper.text(assertion).lower()
    return [write_grader("finish", _FINISH_REASONS.get(reason, reason))]


def _map_code(_: Mapper, assertion: Assertion) -> list[Grader]:
    try:
        graders = grade_expression(str(assertion.value))
        if '"path"' not in dumps(graders):
            return graders
        if assertion.is_negated:
            raise ValueError  # an answer that is no JSON would pass
        return [*graders, _STRICT]
    except ValueError:
        what = f"`{assertion.name}`: code in another language is not carried over"
        raise NoCounterpartError(what, _HINT) from None


def _map_json(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    schema = mapper.value(assertion)
    if schema is None or schema == "":
        return [_STRICT]
    if isinstance(schema, str):
        document = parse_document(schema, "yaml", "schema")
        if not document.is_sound:
            raise NoCounterpartError(f"`{assertion.name}`: its schema can't be read")
        schema = document.value
    if not isinstance(schema, dict | bool):
        raise _unlike(assertion, schema, "a schema")
    return [_STRICT, write_grader("json_schema", schema)]


def _map_similar(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    """The cosine of the embeddings of the answer and of a text, or the nearest of several."""
    if assertion.is_negated or mapper.embed is None:
        raise NoCounterpartError(f"`{assertion.name}`: it compares embeddings")
    value = mapper.value(assertion)
    texts = mapper.texts(assertion, value if isinstance(value, list) else [value])
    options: dict[str, JSON] = {
        "embedding": mapper.embed(assertion.item.at("provider")),
        "threshold": assertion.fields.get("threshold", 0.75),
    }
    return [combine("any", [write_grader("similarity", each, **options) for each in texts])]


def _map_judge(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    """A statement for the judge; what is lost of it is noted."""
    text, name = assertion.value, f"`{assertion.name}`"
    several = text if isinstance(text, list) and len(text) > 1 else [text]
    if not all(isinstance(each, str) and each.strip() for each in several):
        raise NoCounterpartError(f"{name} without a text to judge by")
    if any(str(each).startswith(FILE) for each in several):
        raise NoCounterpartError(f"{name}, whose text is in a file")
    if len(several) > 1 and assertion.is_negated:
        raise NoCounterpartError(f"{name} with several criteria")
    for field, why in _OF_JUDGES.items():
        held = assertion.fields.get(field)
        if held is not None and not (field == "provider" and held == mapper.judge):
            mapper.notes.append((assertion.item.at(field), why))
    if assertion.type == "g-eval" and "threshold" not in assertion.fields:
        mapper.notes.append((assertion.item, "the score of `g-eval`: a judge says yes or no"))
    before = ""
    if assertion.type.endswith("factuality"):
        before = "Agrees with the facts of this reference, and contradicts none of them: "
    statements: list[JSON] = [f"{before}{str(each).strip()}" for each in several]
    if len(statements) > 1:
        return [write_grader("judge", rubrics=statements)]
    return [write_grader("judge", statements[0])]


def _map_set(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    if not assertion.inner:
        raise NoCounterpartError("a set with nothing in it")
    inside = structs.replace(mapper, counts_scores=True, notes=[])
    try:
        several = [grader for each in assertion.inner for grader in inside.map(each)]
    except NoCounterpartError as error:
        raise NoCounterpartError(f"this set: {error}", error.hint) from None
    mapper.notes += inside.notes
    threshold = assertion.fields.get("threshold")
    if threshold is None and not mapper.counts_scores:
        return [write_grader("all", several)]
    return [write_grader("weighted", several, threshold=1 if threshold is None else threshold)]


# Calls of tools, which promptfoo reads from a trace, and evalcase from the answer


def _map_used(_: Mapper, assertion: Assertion) -> list[Grader]:
    value = assertion.value
    least: JSON = 1
    if isinstance(value, dict):
        options = _options(assertion, "name", "min")
        value, least = options.get("name"), options.get("min", 1)
    if type(least) is not int or least < 1 or (least > 1 and assertion.is_negated):
        raise NoCounterpartError(f"`{assertion.name}` with `min: {least}`")
    tools = _tool_names(value if isinstance(value, list) else [value], assertion)
    if assertion.is_negated:
        return [write_grader("tool_calls", forbidden=tools)]
    return [write_grader("tool_calls", needed={str(each): least for each in tools})]


def _map_sequence(mapper: Mapper, assertion: Assertion) -> list[Grader]:
    name, value = f"`{assertion.name}`", assertion.value
    options = _options(assertion, "steps", "mode") if isinstance(value, dict) else {}
    calls = _tool_names(options.get("steps", value), assertion)
    order = options.get("mode", "in_order")
    if assertion.is_negated or mapper.counts_scores:
        raise NoCounterpartError(f"{name} that is negated, or where points are counted")
    if order not in ("in_order", "exact"):
        raise NoCounterpartError(f"{name} with the mode `{order}`")
    exact = None if order == "in_order" else order
    return [write_grader("trajectory", calls, arguments="ignore", order=exact)]


def _map_steps(_: Mapper, assertion: Assertion) -> list[Grader]:
    options = dict(_options(assertion, "type", "min", "max"))
    if assertion.is_negated or options.pop("type", None) != "tool" or not options:
        raise NoCounterpartError(f"`{assertion.name}` of other steps than calls of tools")
    return [write_grader("tool_calls", **options)]


def _map_arguments(_: Mapper, assertion: Assertion) -> list[Grader]:
    options = _options(assertion, "name", "args", "arguments", "mode")
    given, mode = options.get("args", options.get("arguments")), options.get("mode", "partial")
    if assertion.is_negated or not isinstance(given, dict) or mode not in ("partial", "exact"):
        raise NoCounterpartError(f"`{assertion.name}` without arguments that can be read")
    (tool,) = _tool_names([options.get("name")], assertion)
    call: JSON = {"tool": tool, "input": given}
    return [write_grader("trajectory", [call], arguments="exact" if mode == "exact" else None)]


_MAPPERS: dict[str, Callable[[Mapper, Assertion], list[Grader]]] = {
    **dict.fromkeys(_CONTAINS, _map_contains),
    **dict.fromkeys(_SIMILAR, _map_similar),
    **dict.fromkeys(JUDGED, _map_judge),
    **dict.fromkeys(("latency", "cost"), _map_limit),
    "equals": _map_equals,
    "starts-with": lambda mapper, each: [write_grader("starts_with", mapper.text(each))],
    "regex": _map_pattern,
    "word-count": _map_count,
    "finish-reason": _map_finish,
    "javascript": _map_code,
    "is-json": _map_json,
    SET: _map_set,
    "trajectory:tool-used": _map_used,
    "trajectory:tool-sequence": _map_sequence,
    "trajectory:step-count": _map_steps,
    "trajectory:tool-args-match": _map_arguments,
}


def is_trim(transform: JSON) -> bool:
    """Whether a transform changes nothing that graders of text look at."""
    return _TRIM.fullmatch(str(transform)) is not None


def _unlike(assertion: Assertion, value: JSON, wanted: str) -> NoCounterpartError:
    held = "nothing" if value in (None, "") else describe_kind(value)
    return NoCounterpartError(f"`{assertion.name}` with {held} in place of {wanted}")


def to_seconds(milliseconds: float) -> float:
    seconds = round(milliseconds / 1000, 6)
    return int(seconds) if seconds == int(seconds) else seconds


def _options(assertion: Assertion, *known: str) -> dict[str, JSON]:
    if not isinstance(assertion.value, dict):
        raise NoCounterpartError(f"`{assertion.name}` without a value that can be read")
    for name in assertion.value:
        if name not in known:
            raise NoCounterpartError(f"`{assertion.name}` with `{name}`")
    return assertion.value


def _tool_names(steps: JSON, assertion: Assertion) -> list[JSON]:
    """The names of tools, without wildcards."""
    several = steps if isinstance(steps, list) else []
    names = [each["name"] if isinstance(each, dict) and set(each) == {"name"} else each
             for each in several]  # fmt: skip
    if not names or any(not isinstance(each, str) or not each or "*" in each or "?" in each
                        for each in names):  # fmt: skip
        raise NoCounterpartError(f"`{assertion.name}` of tools that are not named")
    return names
