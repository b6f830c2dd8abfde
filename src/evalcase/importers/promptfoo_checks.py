"""Assertions of promptfoo, each to graders that say the same, or to the reason why none do.

A grader is never weaker than its assertion. If ours forgives more, such as a fence around JSON, a
second grader makes up for it.
"""

from __future__ import annotations

import ast
import csv
import os
import re
from collections.abc import Callable, Iterator
from json import dumps
from typing import NamedTuple

from evalcase.format.document import parse_document
from evalcase.importers.draft import (
    NO_ARGUMENT,
    NoCounterpartError,
    add_options,
    write_grader,
    write_not,
)
from evalcase.importers.javascript import (
    Variables,
    grade_expression,
    has_tags,
    javascript_text,
    read_path,
    translate_pattern,
)
from evalcase.importers.source import FILE, Folder, Item, read_referenced
from evalcase.types.problem import find_nearest
from evalcase.types.value import JSON, describe_kind

NEGATION, SET = "not-", "assert-set"
_CONTAINS = (
    "contains", "icontains", "contains-any", "icontains-any", "contains-all", "icontains-all",
)  # fmt: skip
_SIMILAR = ("similar", "similar:cosine")
JUDGED = (
    "llm-rubric", "model-graded-closedqa", "factuality", "model-graded-factuality", "g-eval",
)  # fmt: skip
TOOL_USE = (
    "trajectory:tool-used", "trajectory:tool-sequence", "trajectory:tool-args-match",
    "trajectory:step-count",
)  # fmt: skip
_WITH_PATH = frozenset({*_CONTAINS, "equals", "starts-with", "regex", "word-count", "javascript"})
_MAPPED = frozenset({
    *_WITH_PATH, *_SIMILAR, *JUDGED, *TOOL_USE, "is-json", "latency", "cost", "finish-reason",
    "python", SET,
})  # fmt: skip
_FUNCTION = "write a function, and name it as `python: checks:function`"
_CODE = "code in another language is not carried over"
_RUBRIC = "`judge: {{rubric: {}}}` asks a judge about that"
_TABLE: tuple[tuple[str, str | None], ...] = (
    ("ruby is-html contains-html is-xml contains-xml is-sql contains-sql", _FUNCTION),
    ("bleu gleu meteor rouge-n perplexity perplexity-score classifier pi guardrails human", None),
    ("trace-span-count trace-span-duration trace-error-spans", None),
    ("skill-used", "`skill_used` looks at the calls of an agent in a workspace"),
    ("similar:dot similar:euclidean", "`similarity` compares embeddings by their cosine"),
    ("search-rubric agent-rubric", "`judge` judges by what it is shown"),
    ("select-best max-score", "`evalcase compare` compares two runs"),
    ("is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call",
     "`trajectory` grades calls"),
    ("webhook", "`script` runs a program, which may ask an address"),
    ("contains-json", "`json` reads the whole answer"),
    ("levenshtein",
     "`similarity` with a threshold of 1 minus the edits divided by the length is near"),
    ("moderation", _RUBRIC.format("harmless")),
    ("is-refusal", _RUBRIC.format("refuses")),
    ("answer-relevance conversation-relevance", _RUBRIC.format("relevant")),
    ("context-recall", _RUBRIC.format("context_recall")),
    ("context-relevance", _RUBRIC.format("context_precision")),
    ("context-faithfulness", _RUBRIC.format("faithful")),
    ("trajectory:goal-success", _RUBRIC.format("task_completed")),
    ("tool-call-f1", "`trajectory` with `order: any_order` and `extra: forbid` is near"),
)  # fmt: skip
WITHOUT_COUNTERPART = {name: hint for names, hint in _TABLE for name in names.split()}
"""Types that no grader says the same as, each with a hint."""
ASSERTION_TYPES = frozenset({*_MAPPED, *WITHOUT_COUNTERPART})
"""All that promptfoo documents."""

_CELL = r"(not-)?({})(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?"
_KNOWN_CELL = re.compile(_CELL.format("|".join(map(re.escape, ASSERTION_TYPES))))
"""`contains(0.5): Paris`"""
_OTHER_CELL = re.compile(_CELL.format("[a-z][a-z0-9-]*"))
_MISSPELT = 0.8
"""How similar to a known type an unknown one is, if it is no text."""
_CONTEXT = re.compile(r"\bcontext\.vars\.(\w+)\b")
_STRICT: JSON = {"json": {"strict": True}}
_SHARED = frozenset({"value", "weight", "metric", "assert"})
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
        inner = tuple(each.render(variables) for each in self.inner)
        return self._replace(fields=fields, inner=inner)

    def judges(self) -> Iterator[Item]:
        """The judges that it names, at any depth."""
        if self.type in JUDGED and self.fields.get("provider") is not None:
            yield self.item.at("provider")
        for each in self.inner:
            yield from each.judges()


def read_assertions(several: Item, root: Item) -> tuple[Assertion, ...]:
    """The assertions of a list. `$ref: "#/assertionTemplates/polite"` is replaced."""
    found = []
    for item in several.several():
        named = item.mapping().get("$ref")
        if isinstance(named, str) and named.startswith("#/"):
            referenced = root.at(*named.removeprefix("#/").split("/"))
            item = item if referenced.value is None else referenced  # noqa: PLW2901
        if item.value is None:
            continue
        name = item.mapping().get("type")
        kind = name if isinstance(name, str) else ""
        fields: dict[str, JSON] = {
            key: held for key, held in item.mapping().items()
            if kind and key != "type" and held is not None
        }  # fmt: skip
        inner = read_assertions(item.at("assert"), root) if kind == SET else ()
        bare = kind.removeprefix(NEGATION)
        found.append(Assertion(item, bare, bare != kind, fields, inner))
    return tuple(found)


def _write_variable(name: str, variables: Variables) -> str:
    """`context.vars.NAME` as a literal, if its value is a scalar."""
    variables.used.add(name)
    value = variables.values.get(name)
    is_scalar = isinstance(value, str | int | float) and not has_tags(value)
    return dumps(value) if is_scalar else f"context.vars.{name}"


def read_cell(text: str) -> dict[str, JSON]:
    """An assertion in a cell: `contains: Paris`, `not-regex: \\d`, or a text to be equal to."""
    if text.startswith(("javascript:", "fn:", "eval:")):
        return {"type": "javascript", "value": text.partition(":")[2].strip()}
    if text.startswith("grade:"):
        return {"type": "llm-rubric", "value": text.removeprefix("grade:").strip()}
    if text.startswith(FILE):
        return {"type": "python" if ".py" in text else "javascript", "value": text}
    found = _KNOWN_CELL.fullmatch(text)
    if found is None:
        other = _OTHER_CELL.fullmatch(text)
        if other is None or other[4] is None:
            return {"type": "equals", "value": text}
        # A type that is misspelt, or a text with a colon.
        is_marked = other[1] is not None or other[3] is not None
        if not is_marked and find_nearest(other[2], ASSERTION_TYPES, _MISSPELT) is None:
            return {"type": "equals", "value": text}
        found = other
    check: dict[str, JSON] = {"type": f"{found[1] or ''}{found[2]}"}
    if held := (found[4] or "").strip():
        check["value"] = _split_commas(held) if found[2] in _CONTAINS[2:] else held
    if found[3] is not None:
        check["threshold"] = float(found[3])
    return check


def _split_commas(text: str) -> list[JSON]:
    """Texts between commas; in quotes they may have commas."""
    rows = list(csv.reader([text.replace("\n", " ")], skipinitialspace=True))
    return [each.strip() for each in (rows[0] if rows else [])]


# Graders that say the same


class Mapper:
    """Maps assertions, and notes what is lost of those that are mapped in part."""

    def __init__(
        self, folder: Folder, root: str, embed: Callable[[Item], str] | None = None,
        judge: JSON = None, *, counts_scores: bool,
    ) -> None:  # fmt: skip
        self.folder = folder
        self.root = root
        """The folder that code is named from."""
        self.embed = embed
        """Gives the target for the embeddings of a provider."""
        self.judge = judge
        """The provider that became the judge of the configuration."""
        self.counts_scores = counts_scores
        """Whether a weighted mean decides: then no grader may give half a point where promptfoo
        gives all or nothing."""
        self.notes: list[tuple[Item, str]] = []

    def map(self, assertion: Assertion, transform: JSON = None) -> list[JSON]:
        """Graders of the answer, or of the part that a transform leads to. Raise
        NoCounterpartError if none say the same."""
        own = assertion.fields.get("transform")
        codes = [transform] if assertion.is_of_output else []
        paths = [read_path(str(code)) for code in (*codes, own) if code is not None]
        if not paths:
            return self._map(assertion)
        what = f"`{assertion.name}` with `transform`"
        if None in paths or assertion.type not in _WITH_PATH:
            changed = f"`{assertion.name}` of what `transform` makes"
            raise NoCounterpartError(what if own is not None else changed)
        if self.counts_scores:  # a second grader for JSON would count as well
            raise NoCounterpartError(f"{what}, where points count")
        fields = {name: each for name, each in assertion.fields.items() if name != "transform"}
        path = ".".join(filter(None, paths))
        is_data = assertion.type == "javascript" or isinstance(assertion.value, dict)
        if not path and not is_data:
            raise NoCounterpartError(f"`{assertion.name}` of an answer that is read as JSON")
        graders = self._map(assertion._replace(fields=fields))
        several = [_at_path(each, path) for each in graders if each != _STRICT]
        return several if assertion.is_negated else [*several, _STRICT]

    def _map(self, assertion: Assertion) -> list[JSON]:
        self._refuse_unlike(assertion)
        if assertion.type in TOOL_USE:
            grader = _map_tool_use(assertion, counts_scores=self.counts_scores)
            return [_share(assertion._replace(is_negated=False), grader)]
        graders = self._find_graders(assertion)
        if len(graders) > 1 and assertion.is_negated:
            several: JSON = {"any": [write_not(each) for each in graders]}
            return [_share(assertion._replace(is_negated=False), several)]
        if len(graders) > 1 and self.counts_scores:
            graders = [{"all": graders}]
        return [_share(assertion, each) for each in graders]

    def _refuse_unlike(self, assertion: Assertion) -> None:
        kind, name = assertion.type, f"`{assertion.name}`"
        if not kind:
            raise NoCounterpartError("this assertion, which has no type")
        if kind in WITHOUT_COUNTERPART:
            raise NoCounterpartError(f"{name}: no grader says the same", WITHOUT_COUNTERPART[kind])
        if kind not in _MAPPED:
            raise NoCounterpartError(f"{name}, which evalcase doesn't know")
        if assertion.fields.get("weight") == 0:
            hint = "give it a weight, if the test should fail by it"
            raise NoCounterpartError(f"{name} with weight 0: it can't fail", hint)
        known = {*_SHARED, *(_OF_JUDGES if kind in JUDGED else ())}
        known |= {"threshold"} if kind in ("latency", "cost", SET, *_SIMILAR) else set()
        known |= {"provider"} if kind in _SIMILAR else set()
        for field in assertion.fields:
            if field not in known:
                raise NoCounterpartError(f"{name} with `{field}`")

    def _find_graders(self, assertion: Assertion) -> list[JSON]:  # noqa: C901, PLR0912 - a table
        kind, name = assertion.type, f"`{assertion.name}`"
        for kinds, function in (
            (_CONTAINS, self._map_contains), (JUDGED, self._map_judge),
            (_SIMILAR, self._map_similar), (("is-json",), self._map_json), ((SET,), self._map_set),
        ):  # fmt: skip
            if kind in kinds:
                return function(assertion)
        match kind:
            case "equals":
                value = self._value(assertion)
                if isinstance(value, dict | list):
                    return [write_grader("equals", value), _STRICT]
                if value is None or value == "":
                    raise NoCounterpartError(f"{name} with {_describe(value)} to be equal to")
                return [write_grader("equals", javascript_text(value))]
            case "starts-with":
                return [write_grader("starts_with", self._text(assertion))]
            case "regex":
                try:
                    return [write_grader("regex", translate_pattern(self._text(assertion)))]
                except ValueError as error:
                    raise NoCounterpartError(f"{name}: {error}") from None
            case "latency" | "cost":
                limit = assertion.fields.get("threshold")
                if not isinstance(limit, int | float) or isinstance(limit, bool):
                    raise NoCounterpartError(f"{name} without a threshold, which only measures")
                return [{kind: to_seconds(limit) if kind == "latency" else limit}]
            case "word-count":
                value = self._value(assertion)
                if isinstance(value, str) and value.strip().isdecimal():
                    value = int(value)
                if isinstance(value, int) and not isinstance(value, bool):
                    value = {"min": value, "max": value}
                if not isinstance(value, dict) or not value or not set(value) <= {"min", "max"}:
                    raise _unlike(assertion, value, "a number")
                return [write_grader("length", NO_ARGUMENT, **value, unit="words")]
            case "finish-reason":
                if assertion.is_negated:
                    raise NoCounterpartError(f"{name}, which is not turned round there")
                reason = self._text(assertion).lower()
                return [write_grader("finish", _FINISH_REASONS.get(reason, reason))]
            case "javascript":
                try:
                    graders = grade_expression(str(assertion.value))
                except ValueError:
                    raise NoCounterpartError(f"{name}: {_CODE}", _FUNCTION) from None
                return [*graders, _STRICT] if '"path"' in dumps(graders) else graders
        return [write_grader("python", self._name_function(assertion.value))]

    def _value(self, assertion: Assertion) -> JSON:
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

    def _text(self, assertion: Assertion) -> str:
        value = self._value(assertion)
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
            raise _unlike(assertion, value, "a text")
        return javascript_text(value)

    def _texts(self, assertion: Assertion, several: JSON) -> list[JSON]:
        """A list of texts, none of them empty."""
        if not isinstance(several, list) or not several:
            raise _unlike(assertion, several, "a list")
        if any(isinstance(each, bool | dict | list) or each in (None, "") for each in several):
            raise NoCounterpartError(f"`{assertion.name}` with other things than texts")
        return [javascript_text(each) for each in several]

    def _map_contains(self, assertion: Assertion) -> list[JSON]:
        kind = assertion.type.removeprefix("i")
        options: dict[str, JSON] = {"ignore_case": True} if kind != assertion.type else {}
        if kind == "contains":
            return [write_grader("contains", self._text(assertion), **options)]
        value = self._value(assertion)
        texts = self._texts(assertion, _split_commas(value) if isinstance(value, str) else value)
        if kind == "contains-any":
            return [{"contains": {"any": texts, **options}}]
        if not self.counts_scores or len(texts) == 1:
            return [write_grader("contains", texts if len(texts) > 1 else texts[0], **options)]
        return [{"all": [write_grader("contains", each, **options) for each in texts]}]

    def _map_json(self, assertion: Assertion) -> list[JSON]:
        schema = self._value(assertion)
        if schema is None or schema == "":
            return [_STRICT]
        if isinstance(schema, str):
            document = parse_document(schema, "yaml", "schema")
            if document.problems:
                raise NoCounterpartError(f"`{assertion.name}`: its schema can't be read")
            schema = document.value
        if not isinstance(schema, dict | bool):
            raise _unlike(assertion, schema, "a schema")
        return [_STRICT, write_grader("json_schema", schema)]

    def _map_similar(self, assertion: Assertion) -> list[JSON]:
        """The cosine of the embeddings of the answer and of a text, or the nearest of several."""
        if assertion.is_negated or self.embed is None:
            raise NoCounterpartError(f"`{assertion.name}`: it compares embeddings")
        value = self._value(assertion)
        texts = self._texts(assertion, value if isinstance(value, list) else [value])
        options: dict[str, JSON] = {
            "embedding": self.embed(assertion.item.at("provider")),
            "threshold": assertion.fields.get("threshold", 0.75),
        }
        graders = [write_grader("similarity", each, **options) for each in texts]
        return graders if len(graders) == 1 else [{"any": graders}]

    def _map_judge(self, assertion: Assertion) -> list[JSON]:
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
            if held is not None and not (field == "provider" and held == self.judge):
                self.notes.append((assertion.item.at(field), why))
        if assertion.type == "g-eval" and "threshold" not in assertion.fields:
            self.notes.append((assertion.item, "the score of `g-eval`: a judge says yes or no"))
        before = ""
        if assertion.type.endswith("factuality"):
            before = "Agrees with the facts of this reference, and contradicts none of them: "
        statements: list[JSON] = [f"{before}{str(each).strip()}" for each in several]
        return [{"judge": {"rubrics": statements} if len(statements) > 1 else statements[0]}]

    def _map_set(self, assertion: Assertion) -> list[JSON]:
        if not assertion.inner:
            raise NoCounterpartError("a set with nothing in it")
        inside = Mapper(self.folder, self.root, self.embed, self.judge, counts_scores=True)
        try:
            several = [grader for each in assertion.inner for grader in inside.map(each)]
        except NoCounterpartError as error:
            raise NoCounterpartError(f"this set: {error}", error.hint) from None
        self.notes += inside.notes
        threshold = assertion.fields.get("threshold")
        if threshold is None and not self.counts_scores:
            return [{"all": several}]
        needed = 1 if threshold is None else threshold
        return [{"weighted": {"value": several, "threshold": needed}}]

    def _name_function(self, value: JSON) -> str:
        """`./file.py:function`, if evalcase can call it as it is. Its file is parsed, not run."""
        if not isinstance(value, str) or not value.startswith(FILE):
            raise NoCounterpartError("`python` with code in it", _FUNCTION)
        name, _, wanted = value.removeprefix(FILE).partition(":")
        wanted = wanted or "get_assert"
        try:
            path, data = read_referenced(name, self.folder.path)
            functions = [each for each in ast.parse(data).body if isinstance(each, _Function)]
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise NoCounterpartError(f"`python` of {name}: {error}") from None
        found = next((each for each in functions if each.name == wanted), None)
        named = f"./{os.path.relpath(path, self.root)}:{wanted}"
        why = "it isn't there" if found is None else _object_to(found)
        if why is None and named.startswith("./.."):
            why = "it lies outside the project"
        if why is not None:
            hint = (
                "a grader is a function of `output` (or `case`, `expected`, `metadata`, …) that "
                f"returns True or False, or {{score, passed, reason}}: then write `python: {named}`"
            )
            raise NoCounterpartError(f"`{wanted}` of {name}: {why}", hint)
        return named


def _share(assertion: Assertion, grader: JSON) -> JSON:
    """A grader with the name, the weight and the negation of its assertion."""
    if assertion.is_negated:
        grader = write_not(grader)
    weight, metric = assertion.fields.get("weight"), assertion.fields.get("metric")
    return add_options(grader, {"weight": None if weight == 1 else weight, "name": metric or None})


def _at_path(grader: JSON, path: str) -> JSON:
    """The same grader of a part of the answer."""
    assert isinstance(grader, dict)
    for name in ("any", "all"):
        if isinstance(several := grader.get(name), list):
            return {name: [_at_path(each, path) for each in several]}
    held = grader if "type" in grader else next(iter(grader.values()))
    own = held.get("path") if isinstance(held, dict) and "equals" not in grader else None
    steps = [str(each) for each in (path, own) if each]
    return add_options(grader, {"path": ".".join(steps) or None})


def _describe(value: JSON) -> str:
    return "nothing" if value is None else describe_kind(value) if value != "" else "an empty text"


def _unlike(assertion: Assertion, value: JSON, wanted: str) -> NoCounterpartError:
    return NoCounterpartError(f"`{assertion.name}` with {_describe(value)} in place of {wanted}")


def to_seconds(milliseconds: float) -> float:
    """Seconds, as a person would write them."""
    seconds = round(milliseconds / 1000, 6)
    return int(seconds) if seconds == int(seconds) else seconds


# Functions in Python

_BOOLEAN_CALLS = frozenset({
    "bool", "isinstance", "any", "all", "callable", "startswith", "endswith", "isdigit",
    "isnumeric", "isalpha", "isalnum", "isupper", "islower",
})  # fmt: skip
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _object_to(function: _Function) -> str | None:
    """Why evalcase can't call a function with the same result."""
    names = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    if not names or not names <= {"output", "context"} or function.decorator_list:
        return "it is decorated, or has other parameters than `output` and `context`"
    nodes = [node for each in function.body for node in ast.walk(each)]
    if any(isinstance(node, ast.Name) and node.id == "context" for node in nodes):
        return "it reads `context`, which is promptfoo's"
    is_plain = not any(isinstance(each, ast.Yield | ast.YieldFrom | _Function) for each in nodes)
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    if is_plain and returned and all(map(_is_boolean, returned)):
        return None
    return "it may return something else than True or False"


def _is_boolean(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, bool)
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return all(map(_is_boolean, values))
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in _BOOLEAN_CALLS
    return False


# Calls of tools, which promptfoo reads from a trace, and evalcase from the answer


def _map_tool_use(assertion: Assertion, *, counts_scores: bool) -> JSON:
    name, value = f"`{assertion.name}`", assertion.value
    kind = assertion.type.removeprefix("trajectory:")
    if kind == "tool-used":
        return _map_used(assertion)
    if assertion.is_negated:
        raise NoCounterpartError(f"{name}, which turns a sequence round")
    if kind == "tool-sequence":
        options = _options(assertion, "steps", "mode") if isinstance(value, dict) else {}
        steps, order = options.get("steps", value), options.get("mode", "in_order")
        if not isinstance(steps, list) or not steps or order not in ("in_order", "exact"):
            raise NoCounterpartError(f"{name} without steps that can be read")
        calls: list[JSON] = [_tool_name(each, assertion) for each in steps]
        if counts_scores:
            raise NoCounterpartError(f"{name} where points are counted: it is met by halves here")
        exact = None if order == "in_order" else order
        return write_grader("trajectory", calls, arguments="ignore", order=exact)
    if kind == "step-count":
        options = dict(_options(assertion, "type", "min", "max"))
        if options.pop("type", None) != "tool" or not options:
            raise NoCounterpartError(f"{name} of other steps than calls of tools")
        return {"tool_calls": options}
    options = _options(assertion, "name", "pattern", "args", "arguments", "mode")
    given, mode = options.get("args", options.get("arguments")), options.get("mode", "partial")
    if not isinstance(given, dict) or mode not in ("partial", "exact"):
        raise NoCounterpartError(f"{name} without arguments that can be read")
    call: JSON = {"tool": _tool_name(options, assertion), "input": given}
    return write_grader("trajectory", [call], arguments="exact" if mode == "exact" else None)


def _map_used(assertion: Assertion) -> JSON:
    value = assertion.value
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list) and names:
        tools = [_tool_name(each, assertion) for each in names]
        if assertion.is_negated:
            return {"tool_calls": {"forbidden": [*tools]}}
        return {"tool_calls": {"needed": dict.fromkeys(tools, 1)}}
    options = _options(assertion, "name", "pattern", "min")
    least = options.get("min", 1)
    if not isinstance(least, int) or isinstance(least, bool) or least < 1 or assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}` with `min: {least}`")
    return {"tool_calls": {"needed": {_tool_name(options, assertion): least}}}


def _options(assertion: Assertion, *known: str) -> dict[str, JSON]:
    if not isinstance(assertion.value, dict):
        raise NoCounterpartError(f"`{assertion.name}` without a value that can be read")
    for name in assertion.value:
        if name not in known:
            raise NoCounterpartError(f"`{assertion.name}` with `{name}`")
    return assertion.value


def _tool_name(step: JSON, assertion: Assertion) -> str:
    """The name of one tool, without wildcards."""
    if isinstance(step, dict):
        known = {"name", "pattern", "min", "args", "arguments", "mode", "type"}
        step = step.get("name", step.get("pattern")) if set(step) <= known else None
    if not isinstance(step, str) or not step or "*" in step or "?" in step:
        raise NoCounterpartError(f"`{assertion.name}` of tools that are not named")
    return step
