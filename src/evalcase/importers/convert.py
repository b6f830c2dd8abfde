"""A file of another tool to the text of a suite, with everything that could not be mapped.

path →read→ documents →import→ draft →make valid→ suite →write→ text
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import starmap
from typing import NamedTuple

from evalcase.config.catalogue import Catalogue
from evalcase.format.document import Findings
from evalcase.format.fields import GRADED
from evalcase.format.suite import name_foreign, name_foreign_cases, resolve_suite
from evalcase.format.tables import SuiteFiles
from evalcase.format.toml import write_key, write_setting
from evalcase.format.writer import keep_literal
from evalcase.importers.agentv import import_agentv
from evalcase.importers.conversations import import_deepeval, import_tau_bench
from evalcase.importers.datasets import (
    BRAINTRUST,
    import_inspect,
    import_langsmith,
    import_openai_evals,
    import_skills,
)
from evalcase.importers.draft import SIMULATOR, CaseDraft, Choices, SuiteDraft, number_id
from evalcase.importers.promptfoo import import_promptfoo
from evalcase.importers.pydantic_evals import import_pydantic_evals
from evalcase.importers.rows import import_rows
from evalcase.importers.source import FileShape, ForeignFile, Item, UnusableError, read_foreign
from evalcase.types.problem import CODES, Finding, KeyPath, Problem
from evalcase.types.value import JSON, copy_value

_MAX_ROUNDS = 10
"""One mistake may hide another, but no case has so many that hide each other."""
_ROWS_READ = 20
_JANUARY_NAMES = frozenset({"input_messages", "expected_outcome"})
_AGENTV_NAMES = frozenset({"assertions", "assert", "criteria", "expected_outcome", "evaluators"})
_AGENTV_KEYS = frozenset({"name", "default_test", "evaluate_options", "assert", "assertions"})
"""Keys of a whole file that promptfoo doesn't have."""
_DEEPEVAL_NAMES = frozenset({
    "scenario", "expected_tools", "expectedTools", "retrieval_context", "retrievalContext",
})  # fmt: skip
_OUR_NAMES = frozenset({"expected_output", "criteria", "rubrics", "graders", "expected_messages"})


class Importer(NamedTuple):
    tool: str
    function: Callable[[ForeignFile, Choices, SuiteDraft], None]
    has_columns: bool = True
    """Whether its files have columns, for `--map` and the like."""


IMPORTERS: dict[str, Importer] = {
    "skills": Importer("Agent Skills", import_skills),
    "promptfoo": Importer("promptfoo", import_promptfoo, False),
    "agentv": Importer("AgentV", import_agentv, False),
    "inspect": Importer("Inspect", import_inspect),
    "pydantic-evals": Importer("pydantic-evals", import_pydantic_evals),
    "openai-evals": Importer("OpenAI evals", import_openai_evals),
    "deepeval": Importer("DeepEval", import_deepeval),
    "tau-bench": Importer("tau-bench", import_tau_bench, False),
    "langsmith": Importer("LangSmith", import_langsmith),
    "braintrust": Importer("Braintrust", partial(import_rows, preset=BRAINTRUST)),
    "rows": Importer("rows", import_rows),
}


class Imported(NamedTuple):
    name: str
    """The name of the format, as given or detected."""
    text: str
    cases: int
    problems: list[Problem]
    """What could not be mapped."""
    targets: str
    """TOML for the configuration; empty if the file names no targets."""
    ungraded: tuple[str, ...] = ()
    """The ids of cases that have nothing to grade."""


def import_suite(
    path: str, name: str | None, choices: Choices, folder: str, shape: FileShape | None = None
) -> Imported:
    """Import a file for a suite in a folder. Raise UnusableError with all problems if the file
    can't be read, or has no case."""
    source = read_foreign(path, shape)
    if not source.documents:
        raise UnusableError([Problem("no-cases", "the file has no cases", path)])
    name = name or detect_format(source)
    importer = IMPORTERS[name]
    given = {"--map": choices.columns, "--rest": choices.keeps_rest, "--expected": choices.expected}
    for option in filter(given.get, given if not importer.has_columns else ()):
        message = f"{option} is about columns, and a file for {importer.tool} has none"
        raise UnusableError([Problem("unknown-option", message, path, hint="leave it out")])
    suite = SuiteDraft(path, folder, origin=Item(None, source.documents[0]))
    importer.function(source, choices, suite)
    make_valid(suite)
    suite.require_all()
    if suite.kept:
        suite.share()
    problems = suite.problems()
    if not suite.kept:
        nothing = Problem("no-cases", "there is no case in this file that could be imported", path)
        raise UnusableError([nothing, *problems])
    ungraded = tuple(dict.fromkeys(suite.ungraded))
    text = suite.write(importer.tool)
    return Imported(name, text, len(suite.kept), problems, _write_targets(suite), ungraded)


def _write_targets(suite: SuiteDraft) -> str:
    """A table for each target. A simulated user needs a model, which no file names: it is that of
    the first target, for the user to change."""
    targets = dict(suite.targets)
    model = next((each for each in targets.values() if "model" in each), None)
    if model is not None and any("user" in case.fields for case in suite.kept):
        targets.setdefault(SIMULATOR, model)
    tables = {f"targets.{write_key(name)}": each for name, each in targets.items()}
    tables |= {f"repos.{write_key(name)}": each for name, each in suite.repos.items()}
    tables |= {"judge": {"target": suite.judge}} if suite.judge is not None else {}
    return "\n".join(
        "\n".join([f"[{name}]", *starmap(write_setting, options.items()), ""])
        for name, options in tables.items()
    )


def detect_format(source: ForeignFile) -> str:
    """The name of a format, by names that only one tool has; `rows` if there are none.

    `check` looks for the same names. A user who imports a file says that it is another tool's, so
    more names count here.
    """
    rows = _first_rows(source)
    whole = {} if source.is_table else source.root.mapping()
    if not _AGENTV_KEYS.isdisjoint(whole) and ("tests" in whole or "scenarios" in whole):
        return "agentv"
    foreign = None if source.is_table else name_foreign(source.root.value, ())
    foreign = foreign or (name_foreign_cases(rows, ()) if rows else None)
    if foreign is not None and foreign.format in IMPORTERS:
        return foreign.format
    names = {name for row in rows for name in row}
    turns = rows[0].get("turns") if rows and "input" not in names else None
    # Turns of ours have an `input` each, and no role.
    first = turns[0] if isinstance(turns, list) and turns else None
    is_chat = isinstance(first, dict) and "role" in first
    classes = [each.get("class") for each in whole.values() if isinstance(each, dict)]
    found = {
        "agentv": _is_agentv(whole, names),
        "openai-evals": any(isinstance(each, str) for each in classes),
        "deepeval": "goldens" in whole or not _DEEPEVAL_NAMES.isdisjoint(names) or is_chat,
        "rows": "input" not in names or not _OUR_NAMES.isdisjoint(names),
        "inspect": "target" in names,
        "braintrust": "expected" in names,
    }
    return next((name for name, is_it in found.items() if is_it), "rows")


def _first_rows(source: ForeignFile) -> list[dict[str, JSON]]:
    if source.header is not None:
        values: list[JSON] = [source.header.value]
    elif source.is_table:
        values = [each.value for each in source.documents[:_ROWS_READ]]
    else:
        value = source.root.value
        lists = value.values() if isinstance(value, dict) else (value,)
        values = next((each[:_ROWS_READ] for each in lists if isinstance(each, list)), [value])
    return [each for each in values if isinstance(each, dict)]


def _is_agentv(value: dict[str, JSON], names: set[str]) -> bool:
    tests = value.get("tests")
    if "evalcases" in value or "eval_cases" in value:
        return True
    if isinstance(tests, str):
        return "prompts" not in value
    has_names = isinstance(tests, list) and not _AGENTV_NAMES.isdisjoint(names)
    return names >= _JANUARY_NAMES or (has_names and not names.isdisjoint(("input", "turns")))


def make_valid(suite: SuiteDraft) -> None:
    """Leave out what `check` would call an error, so that every written suite loads. Texts that
    `check` would warn of are written as literal texts."""
    _number_ids(suite)
    for _ in range(_MAX_ROUNDS if suite.kept else 0):
        findings = Findings(Catalogue(needs_graders=True), unusual=True)
        resolve_suite(copy_value(suite.value()), "imported", findings)
        SuiteFiles(suite.folder).check(findings)
        found = [each for each in findings.found if each.path]
        errors = [each for each in found if CODES[each.code].severity == "error"]
        kept = suite.kept
        if not errors:
            _heed_warnings(suite, kept, found)
            return
        seen: set[KeyPath] = set()
        for error in reversed(errors):  # from the end, so that earlier positions stay true
            _leave_out(suite, kept, error, seen)
    for case in suite.kept:
        case.drop(case.origin, "this case, which can't be put into our format")


def _heed_warnings(suite: SuiteDraft, kept: list[CaseDraft], found: list[Finding]) -> None:
    for each in found:
        if each.path[0] != "cases" or len(each.path) < 2:
            continue
        fields = kept[int(each.path[1])].fields
        if len(each.path) > 2:
            keep_literal(fields, each, str(each.path[2]))
        elif each.code == "nothing-to-grade" and all(name not in fields for name in GRADED):
            suite.ungraded.append(str(fields.get("id", each.case)))


def _leave_out(
    suite: SuiteDraft, kept: list[CaseDraft], error: Finding, seen: set[KeyPath]
) -> None:
    """Leave out the smallest thing around an error: a grader, a field, a case."""
    case = kept[int(error.path[1])] if error.path[0] == "cases" and len(error.path) > 1 else None
    place = error.path[: 2 if case is None else 4]
    if place in seen:
        return
    seen.add(place)
    draft, path, of_all = (case, place[2:], "") if case else (suite, place, " for all cases")
    field = str(path[0]) if path else "input"
    held = draft.fields.get(field)
    if field in ("graders", "rubrics") and len(path) > 1 and isinstance(held, list):
        number = int(path[1])
        origin = draft.where_from(field, number)
        del held[number]
        if field == "graders":
            del draft.graders_from[number : number + 1]
        if not held:
            del draft.fields[field]
        draft.lose_grader(origin, f"one of the {field}{of_all}: {error.message}", error.hint)
    elif case is not None and (field in ("id", "input") or field not in case.fields):
        case.drop(case.origin, f"this case: {error.message}", error.hint)
    else:
        draft.fields.pop(field, None)
        draft.lose(draft.where_from(field), f"`{field}`{of_all}: {error.message}", error.hint)


def _number_ids(suite: SuiteDraft) -> None:
    """An id that another case has gets a number."""
    taken: dict[str, int] = {}
    for case in suite.kept:
        id = case.fields.get("id")
        if isinstance(id, str) and (numbered := number_id(id, taken)) != id:
            case.fields["id"] = numbered
            case.lose(case.where_from("id"), f"the id `{id}`, which another case has")
