"""Datasets of Inspect: rows with `input` and `target`, perhaps with choices to pick from."""

from __future__ import annotations

from string import ascii_uppercase

from evalcase.importing.draft import CaseDraft, Chosen, SuiteDraft
from evalcase.importing.rows import Preset, import_rows
from evalcase.importing.source import ForeignFile, Item
from evalcase.types.value import JSON

_CHOICES = "choices"


def import_inspect(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case of each sample."""
    import_rows(source, chosen, suite, PRESET)
    for case in suite.kept:
        choices = case.origin.at(_CHOICES)
        has_choices = isinstance(choices.value, list) and bool(choices.value)
        if isinstance(case.fields.get("expected_output"), list):
            _expect_any(case, has_choices)
        if has_choices:
            _list_choices(case, choices)


def _expect_any(case: CaseDraft, has_choices: bool) -> None:
    """A list of targets is met by any of them; but for choices, all that are right."""
    target = case.origin.at("target")
    if not isinstance(target.value, list):
        return
    del case.fields["expected_output"]
    if has_choices or not all(isinstance(each, str) for each in target.value):
        why = "`target`: several choices are right, and an answer may name them in any order"
        case.lose(target, why if has_choices else "`target`: a list of other things than texts")
    elif target.value:
        case.add_grader({"one_of": target.value}, target)


def _list_choices(case: CaseDraft, choices: Item) -> None:
    """Choices are listed below the question, each with its letter."""
    several = choices.value if isinstance(choices.value, list) else []
    if len(several) > len(ascii_uppercase):
        case.lose(choices, f"`choices`: there are more than {len(ascii_uppercase)}")
        return
    lines = [f"{letter}) {each}" for letter, each in zip(ascii_uppercase, several, strict=False)]
    listed = "\n\n" + "\n".join(lines)
    given = case.fields["input"]
    last = given[-1] if isinstance(given, list) else None
    if isinstance(given, str):
        case.fields["input"] = given + listed
    elif isinstance(last, dict) and isinstance(last.get("content"), str):
        text = f"{last['content']}{listed}"
        case.fields["input"] = [*_all_but_last(given), {**last, "content": text}]
    else:
        case.lose(choices, "`choices`: the input has no text that they could be listed below")


def _all_but_last(value: JSON) -> list[JSON]:
    return value[:-1] if isinstance(value, list) else []


def _take_choices(case: CaseDraft, item: Item) -> None:
    """They are listed once the input is known."""
    if isinstance(item.value, str):
        case.lose(item, "`choices`: a text, and not a list")


def _lose_item(case: CaseDraft, item: Item) -> None:
    if item.value not in ("", [], {}):
        hint = "where an agent works is up to its target"
        case.lose(item, f"`{item.path[-1]}`: evalcase has no sandboxes", hint, at="key")


PRESET = Preset(
    "Inspect",
    {"id": "id", "input": "input", "expected_output": "target", "metadata": "metadata"},
    handlers={
        _CHOICES: _take_choices, "sandbox": _lose_item, "files": _lose_item, "setup": _lose_item,
    },
    containers=("samples",),
    cells_are_json=True,
)  # fmt: skip
