"""Datasets that are rows under other names: Agent Skills, Inspect, LangSmith, Braintrust, OpenAI
evals."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from string import ascii_uppercase

from evalcase.importers.draft import EMPTY, CaseDraft, Choices, SuiteDraft, combine, write_grader
from evalcase.importers.rows import Preset, import_rows, shape_messages, shape_tags, skip_column
from evalcase.importers.source import Folder, ForeignFile, Item
from evalcase.types.problem import Finding
from evalcase.types.value import JSON
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.project import attachments_in

_STATEMENTS = (
    "text", "description", "assertion", "expectation", "check", "criterion", "statement",
)  # fmt: skip
_STATEMENT_FIELDS = frozenset({"id", "name", "weight", "required", *_STATEMENTS})


def import_skills(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    """`evals.json`: a prompt, prose about a good result, and statements to judge. Its fields vary
    from author to author, so every other field is reported."""
    name = source.root.at("skill_name").value
    if isinstance(name, str):
        suite.fields["name"] = name
        source.leave_out("skill_name")
    import_rows(source, choices, suite, _SKILLS)
    for case in suite.kept:
        _attach_files(case, suite)


def _add_rubrics(case: CaseDraft, item: Item) -> None:
    for each in item.several():
        rubric = _read_statement(each.value)
        if rubric is None:
            case.lose(each, f"this one of `{item.path[-1]}`, which is not a statement")
        elif rubric != "":
            case.add_rubric(rubric)


def _read_statement(value: JSON) -> JSON:
    """A statement that a judge can answer with yes or no; None if it is something else."""
    if isinstance(value, str):
        return value.strip() and value
    if not isinstance(value, dict) or not _STATEMENT_FIELDS.issuperset(value):
        return None
    text = next((value[name] for name in _STATEMENTS if isinstance(value.get(name), str)), None)
    name = value.get("id", value.get("name"))
    if text is None:
        return name if isinstance(name, str) else None
    named: dict[str, JSON] = {"id": str(name)} if isinstance(name, str | int) else {}
    rest: dict[str, JSON] = {key: value[key] for key in ("weight", "required") if key in value}
    return {**named, "text": text, **rest} if named or rest else text


def _attach_files(case: CaseDraft, suite: SuiteDraft) -> None:
    """Files become parts of the one message, if evalcase finds them."""
    parts: list[JSON] = []
    for each in case.origin.at("files").several() if case.origin.at("files").value else ():
        path = each.value
        found = attachments_in(suite.folder).find(path) if isinstance(path, str) else None
        if found is None or isinstance(found, Finding):
            why = ", which is not a path" if found is None else f": {found.message}"
            case.lose(each, f"this one of `files`{why}")
        else:
            parts.append({"type": "file", "path": path})
    prompt = case.fields.get("input")
    if parts and isinstance(prompt, str):
        content: list[JSON] = [{"type": "text", "text": prompt}, *parts]
        case.fields["input"] = [{"role": "user", "content": content}]


_SKILLS = Preset(
    {
        "id": "name|id", "input": "prompt|input|query", "expected_output":
        "expected_output|expected_behavior|expected", "description": "description", "tags": "tags",
        "metadata": "metadata",
    },
    expected="criteria",
    handlers={
        "assertions": _add_rubrics, "expectations": _add_rubrics, "files": skip_column,
        "id": lambda case, item: case.keep("id", item),
    },
    containers=("evals",),
)  # fmt: skip


def import_inspect(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    import_rows(source, choices, suite, _INSPECT)
    for case in suite.kept:
        case.fields["input"] = _name_pictures(case.fields["input"])
        options = case.origin.at("choices")
        if isinstance(text := options.value, str):  # between commas, or else between spaces
            texts = text.split(",") if "," in text else text.split()
            options = options._replace(value=[each.strip() for each in texts if each.strip()])
        if isinstance(case.fields.get("expected_output"), list):
            _expect_any(case, has_choices=bool(options.items()))
        if options.items():
            _list_choices(case, options)


def _name_pictures(value: JSON) -> JSON:
    """`{type: image, image: cat.png}` with a path or an address, as evalcase names it."""
    if isinstance(value, list):
        return [_name_pictures(each) for each in value]
    if not isinstance(value, dict):
        return value
    picture = value.get("image")
    if value.get("type") == "image" and isinstance(picture, str):
        key = "url" if picture.startswith(("http://", "https://", "data:")) else "path"
        return {key if name == "image" else name: each for name, each in value.items()}
    return {**value, "content": _name_pictures(value["content"])} if "content" in value else value


def _expect_any(case: CaseDraft, *, has_choices: bool) -> None:
    """Any of several targets is right; but of choices, all that are named."""
    target = case.origin.at("target")
    if not isinstance(target.value, list):
        return
    del case.fields["expected_output"]
    if has_choices:
        why = "`target`: several choices are right, and an answer may name them in any order"
        case.lose(target, why)
    elif not all(isinstance(each, str) for each in target.value):
        case.lose(target, "`target`: a list of other things than texts")
    elif target.value:
        case.add_grader(write_grader("one_of", target.value), target)


def _list_choices(case: CaseDraft, choices: Item) -> None:
    """Choices are listed below the question, each with its letter."""
    several, given = [each.value for each in choices.items()], case.fields["input"]
    lines = [f"{letter}) {each}" for letter, each in zip(ascii_uppercase, several, strict=False)]
    listed = "\n\n" + "\n".join(lines)
    last = given[-1] if isinstance(given, list) else None
    if len(lines) < len(several):
        case.lose(choices, f"`choices`: there are more than {len(ascii_uppercase)}")
    elif isinstance(given, str):
        case.fields["input"] = given + listed
    elif (
        isinstance(given, list) and isinstance(last, dict) and isinstance(last.get("content"), str)
    ):
        case.fields["input"] = [*given[:-1], {**last, "content": f"{last['content']}{listed}"}]
    else:
        case.lose(choices, "`choices`: the input has no text that they could be listed below")


def _lose_filled(case: CaseDraft, item: Item, why: str) -> None:
    if item.value not in EMPTY:
        case.lose(item, f"`{item.path[-1]}`: {why}", at="key")


_NO_SANDBOX = partial(_lose_filled, why="evalcase has no sandboxes")
_INSPECT = Preset(
    {"id": "id", "input": "input", "expected_output": "target", "metadata": "metadata"},
    handlers={
        "choices": skip_column, "sandbox": _NO_SANDBOX, "files": _NO_SANDBOX, "setup": _NO_SANDBOX,
    },
    containers=("samples",),
    cells_are_json=True,
)  # fmt: skip


def import_langsmith(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    import_rows(source, choices, suite, _LANGSMITH)
    for case in suite.cases:
        for field in ("input", "expected_output"):
            held = case.fields.get(field)
            if isinstance(held, dict) and list(held) == ["messages"]:
                case.fields[field] = shape_messages(held["messages"]) or held
        metadata = case.fields.pop("metadata", None)
        if isinstance(metadata, dict):
            # LangSmith itself writes splits there.
            if tags := shape_tags(metadata.get("dataset_split")):
                case.fields["tags"] = tags
                metadata = {name: metadata[name] for name in metadata if name != "dataset_split"}
            case.fields |= {"metadata": metadata} if metadata else {}


_LANGSMITH = Preset(
    {
        "id": "id|example_id", "input": "inputs|input", "expected_output": "outputs|output",
        "metadata": "metadata", "tags": "split|splits",
    },
    bookkeeping=frozenset({
        "created_at", "modified_at", "dataset_id", "source_run_id", "attachment_urls", "runs",
        "name",
    }),
    handlers={"attachments": partial(_lose_filled, why="LangSmith keeps them, and not this file")},
    containers=("examples",),
    cells_are_json=True,
)  # fmt: skip


BRAINTRUST = Preset(
    {
        "id": "id", "input": "input", "expected_output": "expected|output", "metadata": "metadata",
        "tags": "tags",
    },
    bookkeeping=frozenset({
        "_xact_id", "_pagination_key", "_async_scoring_state", "audit_data", "classifications",
        "comments", "created", "dataset_id", "facets", "is_root", "log_id", "metrics", "org_id",
        "origin", "project_id", "root_span_id", "span_id", "span_parents",
    }),
    containers=("rows", "events", "data"),
    cells_are_json=True,
)  # fmt: skip


# OpenAI evals: samples, or a registry file that names their class, which says how they are compared

_Compare = Callable[[list[JSON]], dict[str, JSON]]
_OPENAI = Preset(
    {"id": "id", "input": "input|item.input", "expected_output": "ideal|item.ideal",
     "metadata": "metadata"},
)  # fmt: skip
_FUZZY = (
    "`FuzzyMatch` in part: punctuation and articles count here, and an answer that is a part of "
    "the ideal does not pass"
)


def import_openai_evals(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    """Make a case of each sample: of this file, or of those that a registry names."""
    entries = [] if source.is_table else source.root.fields()
    named = [entry for _, entry in entries if isinstance(entry.at("class").value, str)]
    if not named:
        import_rows(source, choices, suite, _OPENAI)
        for case in suite.kept:
            _put_comparison(case, None)
    for entry in named:
        _import_samples(entry, choices, suite)


def _import_samples(entry: Item, choices: Choices, suite: SuiteDraft) -> None:
    own, kind = entry.path[-1], str(entry.at("class").value)
    name = kind.rpartition(":")[2].rpartition(".")[2]
    samples, spec = entry.at("args", "samples_jsonl"), entry.at("args", "modelgraded_spec")
    if name not in _COMPARE:
        suite.lose(entry.at("class"), f"`{own}`: its class `{kind}` is code")
        return
    if name == "ModelBasedClassify" and spec.value not in ("fact", "closedqa", "best"):
        suite.lose(spec, f"`{own}`: it is judged by a prompt of its own")
        return
    # Samples lie in `data`, next to the folder of the registry file, or in its own folder.
    folder = os.path.dirname(os.path.abspath(suite.source))
    data, file = os.path.join(os.path.dirname(folder), "data"), str(samples.value)
    try:
        found = Folder(data if os.path.isfile(os.path.join(data, file)) else folder).parse(file)
    except ValueError as error:
        suite.lose(samples, f"the samples of `{own}`: {error}")
        return
    before = len(suite.cases)
    import_rows(found, choices, suite, _OPENAI)
    for case in suite.cases[before:]:
        _put_comparison(case, _COMPARE[name])
    if name == "FuzzyMatch":
        suite.lose(entry.at("class"), _FUZZY)
    known = ("samples_jsonl", "modelgraded_spec", "eval_type")
    suite.lose_rest(entry.at("args"), known, f" of `{own}`")


def _put_comparison(case: CaseDraft, compare: _Compare | None) -> None:
    """Replace the expected output by a grader, if several answers are right, or only a part."""
    held = case.origin if case.origin.at("ideal").value is not None else case.origin.at("item")
    ideal = held.at("ideal")
    texts = [each.value for each in ideal.several()]
    if "expected_output" not in case.fields or not all(isinstance(each, str) for each in texts):
        return
    if compare is not None or len(texts) > 1:
        del case.fields["expected_output"]
        case.add_grader((compare or partial(write_grader, "one_of"))(texts), ideal)


def _equals_json(ideals: list[JSON]) -> dict[str, JSON]:
    try:
        return combine(
            "any", [write_grader("json_equals", parse_json(str(each))) for each in ideals]
        )
    except BadJsonError:
        return write_grader("one_of", ideals)


def _includes(ideals: list[JSON]) -> dict[str, JSON]:
    several = len(ideals) > 1
    return write_grader("contains", any=ideals) if several else write_grader("contains", *ideals)


def _agrees(ideals: list[JSON]) -> dict[str, JSON]:
    told = " / ".join(map(str, ideals))
    return write_grader("judge", f"The answer agrees with this one: {told}")


_COMPARE: dict[str, _Compare] = {
    "Match": lambda ideals: combine("any", [write_grader("starts_with", each) for each in ideals]),
    "Includes": _includes,
    "FuzzyMatch": lambda ideals: write_grader(
        "contains", any=ideals, ignore_case=True, ignore_space=True
    ),
    "JsonMatch": _equals_json,
    "ModelBasedClassify": _agrees,
}
"""The graders of classes, by several right answers."""
