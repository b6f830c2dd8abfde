"""Each assertion of promptfoo to graders that say the same, or to the reason why none do.

A grader is never weaker than its assertion. If ours forgives more, such as a fence around JSON, a
second grader makes up for it.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from json import dumps

from evalcase.format.document import parse_document
from evalcase.importers.draft import NO_ARGUMENT, add_options, write_grader, write_not
from evalcase.importers.javascript import (
    grade_expression,
    javascript_text,
    read_path,
    translate_pattern,
)
from evalcase.importers.promptfoo_assertions import (
    CODE,
    FUNCTION,
    JUDGED,
    MAPPED,
    SET,
    TOOL_USE,
    WITHOUT_COUNTERPART,
    Assertion,
    NoCounterpartError,
    split_commas,
)
from evalcase.importers.promptfoo_providers import Providers
from evalcase.importers.source import FILE, Folder, Item, read_referenced
from evalcase.types.value import JSON, describe_kind

_STRICT: JSON = {"json": {"strict": True}}
_SHARED = frozenset({"value", "weight", "metric", "assert"})
_WITH_PATH = frozenset({
    "contains", "icontains", "contains-any", "icontains-any", "contains-all", "icontains-all",
    "equals", "starts-with", "regex", "word-count", "javascript",
})  # fmt: skip
_SIMILAR = ("similar", "similar:cosine")
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
_PYTHON_HINT = (
    "a grader is a function of `output` (or `case`, `expected`, `metadata`, …) that returns True "
    "or False, or {score, passed, reason}: then write `python: {}`"
)
_BOOLEAN_CALLS = frozenset({
    "bool", "isinstance", "any", "all", "callable", "startswith", "endswith", "isdigit",
    "isnumeric", "isalpha", "isalnum", "isupper", "islower",
})  # fmt: skip
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Mapper:
    """Maps assertions, and notes what is lost of those that are mapped in part."""

    def __init__(
        self, folder: Folder, root: str, providers: Providers | None = None, *, counts_scores: bool
    ) -> None:
        self.providers = providers
        """Where targets for embeddings are added."""
        self.folder = folder
        self.root = root
        """The folder that code is named from."""
        self.counts_scores = counts_scores
        """Whether a weighted mean decides: then no grader may give half a point where promptfoo
        gives all or nothing."""
        self.notes: list[tuple[Item, str]] = []

    def map(self, assertion: Assertion, transform: JSON = None) -> list[JSON]:
        """Graders of the answer, or of the part that a transform leads to. Raise
        NoCounterpartError if none say the same."""
        own = assertion.fields.get("transform")
        codes = [] if transform is None or not assertion.is_of_output else [transform]
        codes += [] if own is None else [own]
        if not codes:
            return self._map(assertion)
        paths = [read_path(str(code)) for code in codes]
        if None in paths or assertion.type not in _WITH_PATH:
            what = f"`{assertion.name}` with `transform`"
            raise NoCounterpartError(
                what if own is not None else f"`{assertion.name}` of what `transform` makes"
            )
        if self.counts_scores:  # a second grader for JSON would count as well
            raise NoCounterpartError(f"`{assertion.name}` with `transform`, where points count")
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
        kind = assertion.type
        if kind in TOOL_USE:
            grader = _map_tool_use(assertion, counts_scores=self.counts_scores)
            return [_share(assertion._replace(is_negated=False), grader)]
        graders = (_map_judge if kind in JUDGED else _MAPPINGS[kind])(self, assertion)
        if len(graders) > 1 and assertion.is_negated:
            several: JSON = {"any": [write_not(each) for each in graders]}
            return [_share(assertion._replace(is_negated=False), several)]
        if len(graders) > 1 and self.counts_scores:
            graders = [{"all": graders}]
        return [_share(assertion, each) for each in graders]

    def _refuse_unlike(self, assertion: Assertion) -> None:
        if not assertion.type:
            raise NoCounterpartError("this assertion, which has no type")
        if assertion.type in WITHOUT_COUNTERPART:
            why, hint = WITHOUT_COUNTERPART[assertion.type]
            raise NoCounterpartError(f"`{assertion.name}`: {why}", hint)
        if assertion.type not in MAPPED:
            raise NoCounterpartError(f"`{assertion.name}`, which evalcase doesn't know")
        if assertion.fields.get("weight") == 0:
            hint = "give it a weight, if the test should fail by it"
            raise NoCounterpartError(f"`{assertion.name}` with weight 0: it can't fail", hint)
        known = {*_SHARED, *(_OF_JUDGES if assertion.type in JUDGED else ())}
        if assertion.type in ("latency", "cost", SET, *_SIMILAR):
            known.add("threshold")
        if assertion.type in _SIMILAR:
            known.add("provider")
        for name in assertion.fields:
            if name not in known:
                raise NoCounterpartError(f"`{assertion.name}` with `{name}`")

    def value(self, assertion: Assertion) -> JSON:
        """The value of an assertion, or of the file that it names."""
        value = assertion.value
        if isinstance(value, list):
            return [self._read(each) for each in value]
        return self._read(value)

    def _read(self, value: JSON) -> JSON:
        if not isinstance(value, str) or not value.startswith(FILE):
            return value
        try:
            if value.lower().endswith((".json", ".yaml", ".yml")):
                return self.folder.value(value)
            return self.folder.read(value)
        except ValueError as error:
            raise NoCounterpartError(f"what is in {value}: {error}") from None

    def text(self, assertion: Assertion) -> str:
        value = self.value(assertion)
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
            what = _describe_value(value)
            raise NoCounterpartError(f"`{assertion.name}` with {what} in place of a text")
        return javascript_text(value)

    def texts(self, assertion: Assertion) -> list[JSON]:
        value = self.value(assertion)
        several = split_commas(value) if isinstance(value, str) else value
        if not isinstance(several, list) or not several:
            what = _describe_value(value)
            raise NoCounterpartError(f"`{assertion.name}` with {what} in place of a list")
        if any(isinstance(each, bool | dict | list) or each in (None, "") for each in several):
            raise NoCounterpartError(f"`{assertion.name}` with other things than texts")
        return [javascript_text(each) for each in several]


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
    return add_options(
        grader, {"path": ".".join(str(each) for each in (path, own) if each) or None}
    )


def _describe_value(value: JSON) -> str:
    return "nothing" if value is None else describe_kind(value) if value != "" else "an empty text"


def to_seconds(milliseconds: float) -> float:
    """Seconds, as a person would write them."""
    seconds = round(milliseconds / 1000, 6)
    return int(seconds) if seconds == int(seconds) else seconds


def _ignore_case(assertion: Assertion) -> dict[str, JSON]:
    return {"ignore_case": True} if assertion.type.startswith("i") else {}


def _map_contains(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    return [write_grader("contains", mapper.text(assertion), **_ignore_case(assertion))]


def _map_contains_any(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    return [{"contains": {"any": mapper.texts(assertion), **_ignore_case(assertion)}}]


def _map_contains_all(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    texts, options = mapper.texts(assertion), _ignore_case(assertion)
    if not mapper.counts_scores or len(texts) == 1:
        return [write_grader("contains", texts if len(texts) > 1 else texts[0], **options)]
    return [{"all": [write_grader("contains", each, **options) for each in texts]}]


def _map_equals(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    value = mapper.value(assertion)
    if isinstance(value, dict | list):
        return [write_grader("equals", value), _STRICT]
    if value is None or value == "":
        raise NoCounterpartError(f"`{assertion.name}` with {_describe_value(value)} to be equal to")
    return [write_grader("equals", javascript_text(value))]


def _map_starts_with(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    return [write_grader("starts_with", mapper.text(assertion))]


def _map_regex(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    try:
        return [write_grader("regex", translate_pattern(mapper.text(assertion)))]
    except ValueError as error:
        raise NoCounterpartError(f"`{assertion.name}`: {error}") from None


def _map_json(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    schema = mapper.value(assertion)
    if schema is None or schema == "":
        return [_STRICT]
    if isinstance(schema, str):
        document = parse_document(schema, "yaml", "schema")
        if document.problems:
            raise NoCounterpartError(f"`{assertion.name}`: its schema can't be read")
        schema = document.value
    if not isinstance(schema, dict | bool):
        raise NoCounterpartError(f"`{assertion.name}` with {describe_kind(schema)} as its schema")
    return [_STRICT, write_grader("json_schema", schema)]


def _limit(assertion: Assertion) -> float:
    limit = assertion.fields.get("threshold")
    if not isinstance(limit, int | float) or isinstance(limit, bool):
        raise NoCounterpartError(f"`{assertion.name}` without a threshold, which only measures")
    if assertion.value is not None:
        raise NoCounterpartError(f"`{assertion.name}` with a value")
    return limit


def _map_latency(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    del mapper
    return [{"latency": to_seconds(_limit(assertion))}]


def _map_cost(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    del mapper
    return [{"cost": _limit(assertion)}]


def _map_similar(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    """The cosine of two embeddings, of the answer and of a text, or of the nearest of several."""
    if assertion.is_negated or mapper.providers is None:
        raise NoCounterpartError(f"`{assertion.name}`: it compares embeddings")
    value = mapper.value(assertion)
    texts = value if isinstance(value, list) and value else [mapper.text(assertion)]
    if not all(isinstance(each, str) and each.strip() for each in texts):
        raise NoCounterpartError(f"`{assertion.name}` with other things than texts")
    named = assertion.field("provider")
    provider = named if "provider" in assertion.fields else named.without_value()
    options: dict[str, JSON] = {
        "embedding": mapper.providers.embeddings(provider),
        "threshold": assertion.fields.get("threshold", 0.75),
    }
    graders = [write_grader("similarity", each, **options) for each in texts]
    return graders if len(graders) == 1 else [{"any": graders}]


def _map_word_count(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    value = mapper.value(assertion)
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"min": value, "max": value}
    if not isinstance(value, dict) or not value or not set(value) <= {"min", "max"}:
        what = _describe_value(value)
        raise NoCounterpartError(f"`{assertion.name}` with {what} in place of a number")
    return [write_grader("length", NO_ARGUMENT, **value, unit="words")]


def _map_finish_reason(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    if assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}`, which is not turned round there")
    reason = mapper.text(assertion).lower()
    return [write_grader("finish", _FINISH_REASONS.get(reason, reason))]


def _map_set(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    if not assertion.inner:
        raise NoCounterpartError("a set with nothing in it")
    inside = Mapper(mapper.folder, mapper.root, mapper.providers, counts_scores=True)
    try:
        several = [grader for each in assertion.inner for grader in inside.map(each)]
    except NoCounterpartError as error:
        raise NoCounterpartError(f"this set: {error}", error.hint) from None
    mapper.notes += inside.notes
    threshold = assertion.fields.get("threshold")
    if threshold is None and not mapper.counts_scores:
        return [{"all": several}]
    return [{"weighted": {"value": several, "threshold": 1 if threshold is None else threshold}}]


def _map_judge(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    """A statement for the judge; what is lost of it is noted."""
    text = assertion.value
    several = text if isinstance(text, list) and len(text) > 1 else [text]
    if not all(isinstance(each, str) and each.strip() for each in several):
        raise NoCounterpartError(f"`{assertion.name}` without a text to judge by")
    if any(str(each).startswith(FILE) for each in several):
        raise NoCounterpartError(f"`{assertion.name}`, whose text is in a file")
    if len(several) > 1 and assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}` with several criteria")
    for name, why in _OF_JUDGES.items():
        if name in assertion.fields:
            mapper.notes.append((assertion.field(name), why))
    if assertion.type == "g-eval" and "threshold" not in assertion.fields:
        mapper.notes.append((assertion.item, "the score of `g-eval`: a judge says yes or no"))
    statements: list[JSON] = [str(each).strip() for each in several]
    if assertion.type.endswith("factuality"):
        before = "Agrees with the facts of this reference, and contradicts none of them: "
        statements = [f"{before}{each}" for each in statements]
    return [{"judge": {"rubrics": statements} if len(statements) > 1 else statements[0]}]


def _map_python(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    """`python: ./file.py:function`, if evalcase can call the function as it is. Its file is parsed
    and not run."""
    value = assertion.value
    if not isinstance(value, str) or not value.startswith(FILE):
        hint = "make a function of it, in a file, and write `python: checks:function`"
        raise NoCounterpartError("`python` with code in it", hint)
    name, _, wanted = value.removeprefix(FILE).partition(":")
    wanted = wanted or "get_assert"
    try:
        path, data = read_referenced(name, mapper.folder.path)
        functions = [each for each in ast.parse(data).body if isinstance(each, _Function)]
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise NoCounterpartError(f"`python` of {name}: {error}") from None
    found = next((each for each in functions if each.name == wanted), None)
    named = f"./{os.path.relpath(path, mapper.root)}:{wanted}"
    why = "it isn't there" if found is None else _object_to(found)
    if why is None and named.startswith("./.."):
        why = "it lies outside the project"
    if why is not None:
        raise NoCounterpartError(f"`{wanted}` of {name}: {why}", _PYTHON_HINT.replace("{}", named))
    return [write_grader("python", named)]


def _object_to(function: _Function) -> str | None:
    """Why evalcase can't call a function with the same result."""
    arguments = function.args
    names = {each.arg for each in (*arguments.posonlyargs, *arguments.args)}
    if arguments.vararg or arguments.kwarg or not names or not names <= {"output", "context"}:
        return "its parameters are others than `output` and `context`"
    if function.decorator_list:
        return "it is decorated"
    nodes = [node for each in function.body for node in ast.walk(each)]
    if any(isinstance(node, ast.Name) and node.id == "context" for node in nodes):
        return "it reads `context`, which is promptfoo's"
    if any(isinstance(node, ast.Yield | ast.YieldFrom | _Function | ast.Lambda) for node in nodes):
        return "what it returns can't be seen from outside"
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    if not returned or not all(map(_is_boolean, returned)):
        return "it may return something else than True or False"
    return None


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


def _map_javascript(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    """A condition that graders can say."""
    del mapper
    try:
        graders = grade_expression(str(assertion.value))
    except ValueError:
        raise NoCounterpartError(f"`{assertion.name}`: {CODE}", FUNCTION) from None
    has_path = '"path"' in dumps(graders)
    return [*graders, _STRICT] if has_path else graders


def _map_tool_use(assertion: Assertion, *, counts_scores: bool) -> JSON:
    """promptfoo reads calls of tools from a trace, evalcase from the answer."""
    if assertion.type == "trajectory:tool-used":
        return _map_used(assertion)
    if assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}`, which turns a sequence round")
    if assertion.type == "trajectory:tool-sequence":
        grader = _map_sequence(assertion)
        if counts_scores:
            why = "where points are counted: it is met by halves here"
            raise NoCounterpartError(f"`{assertion.name}` {why}")
        return grader
    if assertion.type == "trajectory:step-count":
        value = _options(assertion, "type", "min", "max")
        if value.get("type") != "tool":
            raise NoCounterpartError(f"`{assertion.name}` of other steps than calls of tools")
        limits: dict[str, JSON] = {name: value[name] for name in ("min", "max") if name in value}
        if not limits:
            raise NoCounterpartError(f"`{assertion.name}` without `min` and `max`")
        return {"tool_calls": limits}
    value = _options(assertion, "name", "pattern", "args", "arguments", "mode")
    given, mode = value.get("args", value.get("arguments")), value.get("mode", "partial")
    if not isinstance(given, dict) or mode not in ("partial", "exact"):
        raise NoCounterpartError(f"`{assertion.name}` without arguments that can be read")
    call: JSON = {"tool": _tool_name(value, assertion), "input": given}
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
    if not isinstance(least, int) or isinstance(least, bool) or least < 1:
        raise NoCounterpartError(f"`{assertion.name}` with `min: {least}`")
    if assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}` with `min`")
    return {"tool_calls": {"needed": {_tool_name(options, assertion): least}}}


def _map_sequence(assertion: Assertion) -> JSON:
    steps, order = assertion.value, "in_order"
    if isinstance(steps, dict):
        options = _options(assertion, "steps", "mode")
        steps, order = options.get("steps"), str(options.get("mode", "in_order"))
    if not isinstance(steps, list) or not steps or order not in ("in_order", "exact"):
        raise NoCounterpartError(f"`{assertion.name}` without steps that can be read")
    calls: list[JSON] = [_tool_name(each, assertion) for each in steps]
    exact = None if order == "in_order" else order
    return write_grader("trajectory", calls, arguments="ignore", order=exact)


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


_MAPPINGS: dict[str, Callable[[Mapper, Assertion], list[JSON]]] = {
    "contains": _map_contains,
    "icontains": _map_contains,
    "contains-any": _map_contains_any,
    "icontains-any": _map_contains_any,
    "contains-all": _map_contains_all,
    "icontains-all": _map_contains_all,
    "equals": _map_equals,
    "starts-with": _map_starts_with,
    "regex": _map_regex,
    "is-json": _map_json,
    "latency": _map_latency,
    "cost": _map_cost,
    "word-count": _map_word_count,
    "finish-reason": _map_finish_reason,
    **dict.fromkeys(_SIMILAR, _map_similar),
    "javascript": _map_javascript,
    "python": _map_python,
    SET: _map_set,
}
