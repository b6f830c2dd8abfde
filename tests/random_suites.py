"""Random suites, values and texts, for tests of what holds for all of them."""

import json
import re
from typing import Any

import yaml
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

import evalcase
from evalcase.format.fields import NOT_SKIPPED
from evalcase.format.positions import Format
from evalcase.format.writer import write_yaml
from evalcase.types.problem import Span

Draw = st.DrawFn


Path_ = tuple[str | int, ...]


ROLES = ["system", "developer", "user", "assistant", "tool"]


ALIASES = {
    "input": ["input_messages"],
    "expected_output": ["expected_messages"],
    "criteria": ["expected_outcome", "outcome"],
    "graders": ["evaluators"],
    "name": ["dataset"],
    "cases": ["evalcases", "eval_cases", "tests"],
}


OLD_NAMES = [alias for aliases in ALIASES.values() for alias in aliases]


often = settings(suppress_health_check=list(HealthCheck))


# Data.

TRICKY = [
    "", " ", "~", "null", "true", "no", "1", "-1", "0o14", "0x1F", "1e3", ".inf", "1_0", "12:30",
    "2024-01-01", "<<", "- a", "a: b", "a #b", "#", "&a", "*a", "!a", "%", "@", "`", "{}", "[a]",
    "'", '"', "\\", "\\n", "a\nb", "a\n", "\na", "a\n\n", " a\n  b", "\t", "a\r\nb", "\x1b[31m",
    "\x85", "\u2028", "\ufeff", "\x7f", "\N{GRINNING FACE}", "{{x}}", "---", "...", "? a", ": a",
    "role", "content", "type", "input_messages", "tests",
]  # fmt: skip


characters = st.characters(exclude_categories=["Cs"])


texts = st.one_of(st.sampled_from(TRICKY), st.text(characters, max_size=12))


numbers = st.one_of(
    st.integers(), st.integers(-(10**40), 10**40), st.floats(allow_nan=False, allow_infinity=False)
)


scalars = st.one_of(st.none(), st.booleans(), numbers, texts)


values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


def exact(value: Any) -> str:
    """Equal only for values of the same types, with keys in the same order."""
    return json.dumps(value)


def names_a_file(value: Any) -> bool:
    """Whether there is what may be taken for a file part: that is looked for on the disk."""
    if isinstance(value, dict):
        return value.get("type") == "file" or any(map(names_a_file, value.values()))
    return isinstance(value, list) and any(map(names_a_file, value))


@st.composite
def messages(draw: Draw) -> dict[str, Any]:
    message: dict[str, Any] = {"role": draw(st.sampled_from(ROLES))}
    kind = draw(st.sampled_from(["content", "calls", "both"]))
    if kind != "calls":
        message["content"] = draw(values)
    if kind != "content":
        call = st.fixed_dictionaries({"tool": texts.filter(bool)}, optional={"input": values})
        function = st.fixed_dictionaries({"name": texts.filter(bool), "arguments": texts})
        calls = st.one_of(call, st.fixed_dictionaries({"function": function}))
        message["tool_calls"] = draw(st.lists(calls, min_size=1, max_size=2))
    for key in draw(st.lists(st.sampled_from(["name", "x", "tests", "0"]), max_size=2)):
        message[key] = draw(scalars)
    return message


message_lists = st.lists(messages(), min_size=1, max_size=3)


data = st.dictionaries(texts.filter(lambda key: key != "role"), values, max_size=3)


inputs = st.one_of(texts, messages(), message_lists, data)


names = st.text("abc/", min_size=1, max_size=5)


grader = st.one_of(
    names,
    st.dictionaries(names, st.one_of(texts, st.integers()), min_size=1, max_size=1),
    st.fixed_dictionaries({"type": names}, optional={"value": values, "weight": st.integers(1, 9)}),
)


CASE_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "expected_output": st.one_of(texts, numbers, st.booleans(), messages(), message_lists, data),
    "description": texts,
    "tags": st.lists(texts, max_size=3),
    "metadata": st.dictionaries(texts, values, max_size=3),
    "skip": st.one_of(st.booleans(), texts.filter(lambda text: text and text not in NOT_SKIPPED)),
    "conversation_id": texts,
    "criteria": texts.filter(str.strip),
    "rubrics": st.lists(
        st.one_of(
            texts.filter(str.strip), st.fixed_dictionaries({"text": texts.filter(str.strip)})
        ),
        min_size=1,
        max_size=2,
    ),
    "graders": st.lists(grader, max_size=3),
    "suite_graders": st.booleans(),
    "targets": st.lists(names, min_size=1, max_size=2),
    "repeat": st.one_of(st.integers(1, 9), st.just({"times": 3, "pass_rate": 0.5})),
    "threshold": st.floats(0, 1),
    "timeout_s": st.integers(1, 100),
    "x-note": values,
}


SUITE_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "name": texts.filter(bool),
    "description": texts,
    "metadata": st.dictionaries(texts, values, max_size=3),
    "input": inputs,
    "graders": CASE_FIELDS["graders"],
    "tags": CASE_FIELDS["tags"],
    "target": names,
    "repeat": CASE_FIELDS["repeat"],
    "threshold": CASE_FIELDS["threshold"],
    "x-note": values,
}


@st.composite
def fields(
    draw: Draw, strategies: dict[str, st.SearchStrategy[Any]], *, old: bool
) -> dict[str, Any]:
    """Some of the fields, in some order; with `old`, under older names here and there."""
    chosen = draw(st.lists(st.sampled_from(sorted(strategies)), unique=True, max_size=5))
    result = {}
    for name in chosen:
        aliases = ALIASES.get(name, []) if old else []
        result[draw(st.sampled_from([name, *aliases]))] = draw(strategies[name])
    return result


@st.composite
def cases(draw: Draw, *, old: bool = False) -> dict[str, Any]:
    case = draw(fields(CASE_FIELDS, old=old))
    name = draw(st.sampled_from(["input", "input_messages"])) if old else "input"
    case = {**case, name: draw(inputs)} if draw(st.booleans()) else {name: draw(inputs), **case}
    assume(not names_a_file(case))
    return case


@st.composite
def suites(draw: Draw, *, old: bool = False) -> Any:
    """A valid suite as it may be written, in any of its shapes."""
    some = draw(st.lists(cases(old=old), min_size=1, max_size=3))
    shape = draw(st.sampled_from(["suite", "suite", "list", "case"]))
    if shape == "case":
        return some[0]
    if shape == "list":
        return some
    suite = draw(fields(SUITE_FIELDS, old=old))
    assume(not names_a_file(suite))
    container = draw(st.sampled_from(["cases", *ALIASES["cases"]])) if old else "cases"
    return {**suite, container: some}


# Texts.


def as_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def as_yaml(value: Any) -> str:
    return "".join(write_yaml(value))


def as_flow(value: Any) -> str:
    """JSON that is YAML: what YAML has no raw form of is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(
        "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda m: f"\\u{ord(m[0]):04x}", text
    )


@st.composite
def layouts(draw: Draw, value: Any) -> str:
    """The value as YAML in one of many layouts. It need not mean the same in YAML 1.2."""
    kind = draw(st.sampled_from(["own", "flow", "dump", "dump", "dump"]))
    if kind == "own":
        return as_yaml(value)
    if kind == "flow":
        return as_flow(value)
    text: str = yaml.dump(
        value,
        Dumper=yaml.CSafeDumper,
        sort_keys=False,
        allow_unicode=draw(st.booleans()),
        default_flow_style=draw(st.sampled_from([True, False, None])),
        default_style=draw(st.sampled_from([None, None, '"', "'"])),
        indent=draw(st.integers(2, 6)),
        width=draw(st.sampled_from([20, 80, 1000])),
        explicit_start=draw(st.booleans()),
        line_break=draw(st.sampled_from(["\n", "\r\n", "\r"])),
    )
    return text


def loaded(text: str, format: Format) -> Any:
    return evalcase.loads(text, format).to_dict()


def offsets(text: str, span: Span) -> tuple[int, int]:
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
    return starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1


@st.composite
def damaged(draw: Draw, value: Any) -> Any:
    """The same, or with old names beside new ones, nulls and unknown fields in it."""
    if not draw(st.booleans()):
        return value
    mappings = [value] if isinstance(value, dict) else []
    for each in value if isinstance(value, list) else []:
        mappings.append(each)
    for name in ("cases", *ALIASES["cases"]):
        mappings += value.get(name, []) if isinstance(value, dict) else []
    target = draw(st.sampled_from(mappings))
    key = draw(st.sampled_from([*ALIASES, *OLD_NAMES, "oops", "execution"]))
    target.setdefault(key, draw(st.one_of(st.none(), inputs, st.just({"target": "t"}))))
    assume(not names_a_file(value))
    return value


def at(value: Any, path: Path_) -> Any:
    for step in path:
        value = value[step]
    return value
