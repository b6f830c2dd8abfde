"""Each assertion of promptfoo to the grader that says the same, or to the reason why none does.

A grader is never weaker than what it stands for. So where ours forgive more, such as a fence
around JSON, a second grader says what they don't.
"""

from __future__ import annotations

from collections.abc import Callable

from evalcase.importing.graders import NO_ARGUMENT, add_options, write_grader, write_not
from evalcase.importing.javascript_pattern import translate_pattern
from evalcase.importing.promptfoo.assertions import SET, Assertion, split_commas
from evalcase.importing.promptfoo.folder import FILE, Folder
from evalcase.importing.promptfoo.judging import JUDGED, map_judged
from evalcase.importing.promptfoo.python_code import map_python
from evalcase.importing.promptfoo.tool_use import TOOL_USE, map_tool_use
from evalcase.importing.promptfoo.unmapped import WITHOUT_COUNTERPART, NoCounterpartError
from evalcase.importing.source import Item
from evalcase.importing.templates import javascript_text
from evalcase.types.value import JSON, describe_kind

_STRICT: JSON = {"json": {"strict": True}}
_SHARED = frozenset({"value", "weight", "metric", "threshold", "assert"})
_WITH_THRESHOLD = frozenset({"latency", "cost", SET})


class Mapper:
    """Maps assertions; notes what is lost of those that are mapped in part."""

    def __init__(self, folder: Folder, root: str, *, counts_scores: bool) -> None:
        self.folder = folder
        self.root = root
        """The folder that code is named from."""
        self.counts_scores = counts_scores
        """Whether a weighted mean decides, so that no grader may give half a point where there is
        all or nothing."""
        self.notes: list[tuple[Item, str]] = []

    def map(self, assertion: Assertion) -> list[JSON]:
        """The graders that say what an assertion says. Raise NoCounterpartError if none do."""
        self._refuse_unlike(assertion)
        kind_of_it = assertion.type
        if kind_of_it in JUDGED:
            return [self._share(assertion, map_judged(assertion, self.notes))]
        if kind_of_it in TOOL_USE:
            grader = map_tool_use(assertion, counts_scores=self.counts_scores)
            return [self._share(assertion._replace(is_negated=False), grader)]
        if kind_of_it == "python":
            return [self._share(assertion, map_python(assertion, self.folder, self.root))]
        if kind_of_it == SET:
            return [self._share(assertion, self._map_set(assertion))]
        graders = _MAPPINGS[kind_of_it](self, assertion)
        if len(graders) > 1 and (assertion.is_negated or self.counts_scores):
            raise_to = "any" if assertion.is_negated else "all"
            several = [write_not(each) for each in graders] if assertion.is_negated else graders
            return [self._share(assertion._replace(is_negated=False), {raise_to: several})]
        return [self._share(assertion, each) for each in graders]

    def _refuse_unlike(self, assertion: Assertion) -> None:
        if not assertion.type:
            raise NoCounterpartError("this assertion, which has no type")
        if assertion.type in WITHOUT_COUNTERPART:
            why, hint = WITHOUT_COUNTERPART[assertion.type]
            raise NoCounterpartError(f"`{assertion.name}`: {why}", hint)
        if assertion.type not in (*_MAPPINGS, *JUDGED, *TOOL_USE, "python", SET):
            raise NoCounterpartError(f"`{assertion.name}`, which evalcase doesn't know")
        if assertion.fields.get("weight") == 0:
            hint = "give it a weight, if the test should fail by it"
            raise NoCounterpartError(f"`{assertion.name}` with weight 0: it can't fail", hint)
        for name in assertion.fields:
            allowed = name in _SHARED or name in JUDGED.get(assertion.type, ())
            needless = name == "threshold" and assertion.type not in _WITH_THRESHOLD
            if not allowed or (needless and assertion.type not in JUDGED):
                raise NoCounterpartError(f"`{assertion.name}` with `{name}`")

    def _share(self, assertion: Assertion, grader: JSON) -> JSON:
        """A grader with what every assertion may say: its name, its weight, and `not-`."""
        if assertion.is_negated:
            grader = write_not(grader)
        weight, metric = assertion.fields.get("weight"), assertion.fields.get("metric")
        given = {"weight": None if weight == 1 else weight, "name": metric or None}
        return add_options(grader, {key: each for key, each in given.items() if each is not None})

    def _map_set(self, assertion: Assertion) -> JSON:
        if not assertion.inner:
            raise NoCounterpartError("a set with nothing in it")
        several: list[JSON] = []
        inside = Mapper(self.folder, self.root, counts_scores=True)
        for each in assertion.inner:
            try:
                several += inside.map(each)
            except NoCounterpartError as error:
                raise NoCounterpartError(f"this set: {error}", error.hint) from None
        self.notes += inside.notes
        threshold = assertion.fields.get("threshold")
        if threshold is None and not self.counts_scores:
            return {"all": several}
        return {"weighted": {"value": several, "threshold": 1 if threshold is None else threshold}}

    def read_value(self, assertion: Assertion) -> JSON:
        """The value of an assertion, or of the file that it names."""
        value = assertion.value
        if isinstance(value, str) and value.startswith(FILE):
            return self._read(value)
        if isinstance(value, list):
            return [self._read(each) if _is_file(each) else each for each in value]
        return value

    def _read(self, name: JSON) -> JSON:
        text = str(name)
        try:
            if text.lower().endswith((".json", ".yaml", ".yml")):
                return self.folder.value(text)
            return self.folder.read(text)
        except ValueError as error:
            raise NoCounterpartError(f"what is in {text}: {error}") from None


def _is_file(value: JSON) -> bool:
    return isinstance(value, str) and value.startswith(FILE)


def _read_text(mapper: Mapper, assertion: Assertion) -> str:
    value = mapper.read_value(assertion)
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise NoCounterpartError(
            f"`{assertion.name}` with {_describe_value(value)} in place of a text"
        )
    return javascript_text(value)


def _describe_value(value: JSON) -> str:
    return "nothing" if value is None else describe_kind(value) if value != "" else "an empty text"


def _read_texts(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    value = mapper.read_value(assertion)
    several = split_commas(value) if isinstance(value, str) else value
    is_fine = isinstance(several, list) and several
    if not is_fine or not isinstance(several, list):
        raise NoCounterpartError(
            f"`{assertion.name}` with {_describe_value(value)} in place of a list"
        )
    if any(isinstance(each, bool | dict | list) or each in (None, "") for each in several):
        raise NoCounterpartError(f"`{assertion.name}` with other things than texts")
    return [javascript_text(each) for each in several]


def _map_contains(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    return [write_grader("contains", _read_text(mapper, assertion), **_read_case(assertion))]


def _contains_any(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    options: dict[str, JSON] = {"any": _read_texts(mapper, assertion), **_read_case(assertion)}
    return [write_grader("contains", NO_ARGUMENT, **options)]


def _contains_all(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    texts, options = _read_texts(mapper, assertion), _read_case(assertion)
    if not mapper.counts_scores or len(texts) == 1:
        return [write_grader("contains", texts if len(texts) > 1 else texts[0], **options)]
    return [{"all": [write_grader("contains", each, **options) for each in texts]}]


def _read_case(assertion: Assertion) -> dict[str, JSON]:
    return {"ignore_case": True} if assertion.type.startswith("i") else {}


def _map_equals(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    value = mapper.read_value(assertion)
    if isinstance(value, dict | list):
        return [write_grader("equals", value), _STRICT]
    if value is None or value == "":
        raise NoCounterpartError(f"`{assertion.name}` with {_describe_value(value)} to be equal to")
    return [write_grader("equals", javascript_text(value))]


def _starts_with(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    return [write_grader("starts_with", _read_text(mapper, assertion))]


def _map_regex(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    try:
        return [write_grader("regex", translate_pattern(_read_text(mapper, assertion)))]
    except ValueError as error:
        raise NoCounterpartError(f"`{assertion.name}`: {error}") from None


def _is_json(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    schema = mapper.read_value(assertion)
    if schema is None or schema == "":
        return [_STRICT]
    if isinstance(schema, str):
        schema = _read_schema(schema, assertion)
    if not isinstance(schema, dict | bool):
        raise NoCounterpartError(f"`{assertion.name}` with {describe_kind(schema)} as its schema")
    return [_STRICT, write_grader("json_schema", schema)]


def _read_schema(text: str, assertion: Assertion) -> JSON:
    from evalcase.format.document import parse_document

    document = parse_document(text.encode(), "yaml", "schema")
    if document.problems:
        raise NoCounterpartError(f"`{assertion.name}`: its schema can't be read")
    return document.value


def _map_latency(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    del mapper
    return [write_grader("latency", to_seconds(_read_limit(assertion)))]


def to_seconds(milliseconds: float) -> float:
    """Seconds, as a person would write them."""
    seconds = round(milliseconds / 1000, 6)
    return int(seconds) if seconds == int(seconds) else seconds


def _map_cost(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    del mapper
    return [write_grader("cost", _read_limit(assertion))]


def _read_limit(assertion: Assertion) -> float:
    limit = assertion.fields.get("threshold")
    if not isinstance(limit, int | float) or isinstance(limit, bool):
        raise NoCounterpartError(f"`{assertion.name}` without a threshold, which only measures")
    if assertion.value is not None:
        raise NoCounterpartError(f"`{assertion.name}` with a value")
    return limit


def _word_count(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    value = mapper.read_value(assertion)
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"min": value, "max": value}
    if not isinstance(value, dict) or not value or not set(value) <= {"min", "max"}:
        raise NoCounterpartError(
            f"`{assertion.name}` with {_describe_value(value)} in place of a number"
        )
    return [write_grader("length", NO_ARGUMENT, **value, unit="words")]


_REASONS: dict[str, JSON] = {
    "stop": ["stop", "end_turn"], "length": ["length", "max_tokens"],
    "tool_calls": ["tool_calls", "tool_use"], "content_filter": ["content_filter", "refusal"],
}  # fmt: skip
"""What promptfoo calls them, and what the services do."""


def _finish_reason(mapper: Mapper, assertion: Assertion) -> list[JSON]:
    if assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}`, which is not turned round there")
    reason = _read_text(mapper, assertion).lower()
    return [write_grader("finish", _REASONS.get(reason, reason))]


_MAPPINGS: dict[str, Callable[[Mapper, Assertion], list[JSON]]] = {
    "contains": _map_contains,
    "icontains": _map_contains,
    "contains-any": _contains_any,
    "icontains-any": _contains_any,
    "contains-all": _contains_all,
    "icontains-all": _contains_all,
    "equals": _map_equals,
    "starts-with": _starts_with,
    "regex": _map_regex,
    "is-json": _is_json,
    "latency": _map_latency,
    "cost": _map_cost,
    "word-count": _word_count,
    "finish-reason": _finish_reason,
}
