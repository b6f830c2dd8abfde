"""`evals.json` of Agent Skills: a prompt, prose about a good result, and statements to be judged.

Its fields vary from author to author, so everything else that is found is told.
"""

from __future__ import annotations

from evalcase.importing.draft import CaseDraft, Chosen, SuiteDraft
from evalcase.importing.rows import Preset, import_rows
from evalcase.importing.source import ForeignFile, Item
from evalcase.types.problem import Unfit
from evalcase.types.value import JSON
from evalcase.util.project import attachments_in

_TEXTS = ("text", "description", "assertion", "expectation", "check", "criterion", "statement")
_WITH_TEXT = frozenset({"id", "name", "weight", "required", *_TEXTS})


def import_skills(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case of each eval."""
    root = source.root
    if isinstance(root.value, dict):
        skill = root.at("skill_name")
        if isinstance(skill.value, str):
            suite.fields["name"] = skill.value
            rest = {name: item for name, item in root.value.items() if name != "skill_name"}
            source.documents[0].value = rest
    import_rows(source, chosen, suite, PRESET)
    for case in suite.kept:
        _attach_files(case, suite)


def _add_rubrics(case: CaseDraft, item: Item) -> None:
    statements = list(item.items()) if isinstance(item.value, list) else [item]
    for each in statements:
        rubric = _read_rubric(each.value)
        if rubric is None:
            place = ("rubrics", len(_read_list(case.fields.get("rubrics"))))
            why = f"this one of `{item.path[-1]}`, which is not a statement"
            case.lose(each, why, where=place)
        elif rubric != "":
            case.add_rubric(rubric)


def _read_list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []


def _read_rubric(value: JSON) -> JSON:
    """A statement that a judge can say yes or no to; None if it is something else."""
    if isinstance(value, str):
        return value.strip() and value
    if not isinstance(value, dict) or not _WITH_TEXT.issuperset(value):
        return None
    text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
    name = value.get("id", value.get("name"))
    if text is None:
        return name if isinstance(name, str) else None
    rubric: dict[str, JSON] = {"text": text}
    if isinstance(name, str | int):
        rubric = {"id": str(name), "text": text}
    rest: dict[str, JSON] = {key: value[key] for key in ("weight", "required") if key in value}
    return {**rubric, **rest} if len(rubric) > 1 or rest else text


def _attach_files(case: CaseDraft, suite: SuiteDraft) -> None:
    """Files become parts of the one message, if evalcase would find them."""
    files, prompt = case.origin.at("files"), case.fields.get("input")
    parts: list[JSON] = []
    for each in files.items() if isinstance(files.value, list) else ():
        why = _object_to(each.value, suite.folder)
        if why is not None:
            case.lose(each, why, where=("input",))
        else:
            parts.append({"type": "file", "path": each.value})
    if parts and isinstance(prompt, str):
        content: list[JSON] = [{"type": "text", "text": prompt}, *parts]
        case.fields["input"] = [{"role": "user", "content": content}]


def _object_to(name: JSON, folder: str) -> str | None:
    if not isinstance(name, str):
        return "this one of `files`, which is not a path"
    found = attachments_in(folder).find(name)
    return f"this one of `files`: {found.message}" if isinstance(found, Unfit) else None


def _keep_number(case: CaseDraft, item: Item) -> None:
    """An eval that has a name, too, is called by that."""
    metadata = case.fields.setdefault("metadata", {})
    assert isinstance(metadata, dict)
    metadata.setdefault("id", item.value)


def _take_files(case: CaseDraft, item: Item) -> None:
    """They are attached once the input is known."""
    if item.value and not isinstance(item.value, list):
        case.lose(item, "`files`, which is not a list")


PRESET = Preset(
    "Agent Skills",
    {
        "id": "name|id", "input": "prompt|input|query", "expected_output":
        "expected_output|expected_behavior|expected", "description": "description", "tags": "tags",
        "metadata": "metadata",
    },
    expected="criteria",
    handlers={
        "assertions": _add_rubrics, "expectations": _add_rubrics, "files": _take_files,
        "id": _keep_number,
    },
    containers=("evals",),
)  # fmt: skip
