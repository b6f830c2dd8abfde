"""Whatever a file holds, each importer ends, with a suite that loads or with a problem."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.config.catalogue import Catalogue
from evalcase.format.load import load_text
from evalcase.importers.convert import IMPORTERS, import_suite
from evalcase.importers.draft import Choices
from evalcase.importers.source import UnusableError
from tests.for_each import for_each
from tests.importers.test_golden import FILES

NOTHING_CHOSEN = Choices({})


def import_safely(path: Path, name: str | None, chosen: Choices = NOTHING_CHOSEN) -> None:
    """Import a file; what comes of it has to be a suite without errors."""
    try:
        imported = import_suite(str(path), name, chosen, str(path.parent))
    except UnusableError as error:
        if not error.problems:
            pytest.fail("no word about what is wrong")
        return
    loaded = load_text(imported.text, "yaml", Catalogue(), str(path.parent / "out.eval.yaml"))
    assert loaded.suite is not None, (imported.text, loaded.problems)
    assert all(problem.span is not None for problem in imported.problems)


@for_each("name", IMPORTERS)
@for_each("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_file_of_another_tool_is_no_danger(name: str, path: Path) -> None:
    import_safely(path, name)


NAMES = st.sampled_from(sorted({
    "id", "name", "input", "inputs", "prompt", "expected_output", "expected", "ideal", "target",
    "outputs", "metadata", "tags", "evals", "cases", "assertions", "files", "choices", "role",
    "content", "messages", "evaluators", "expected_tools", "class", "args", "samples_jsonl",
    "graders", "rubrics", "vars", "assert", "tests", "prompts", "type", "value", "providers",
    "tool_calls", "split", "threshold", "repeat", "scenario", "turns", "skip", "defaultTest",
    "weight", "metric", "raw", "label", "prefix", "scenarios", "assert-set", "regex", "is-json",
    "llm-rubric", "python", "Contains", "LLMJudge", "MaxDuration", "equals", "config", "transform",
    "options", "function",
}))  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.just(0.5), NAMES,
    st.sampled_from([
        "", " ", "user", "file://a.txt", "{{input}}", "{{", "a\nb", "not-equals", "openai:x",
        "exec:", "{% if a %}", "{{a.b}}", "file://../x.txt", "http",
    ]),
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=5)),
    max_leaves=25,
)


@pytest.mark.parametrize("name", IMPORTERS)
@given(value=VALUES)
def test_no_value_is_too_odd(
    name: str, value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("odd") / "a.json"
    path.write_text(json.dumps(value))
    import_safely(path, name)


@pytest.mark.parametrize("name", IMPORTERS)
@given(
    rows=st.lists(st.dictionaries(NAMES, VALUES, min_size=1, max_size=6), min_size=1, max_size=3)
)
def test_no_row_is_too_odd(
    name: str, rows: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("odd") / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    chosen = Choices({"input": next(iter(rows[0]))}, keeps_rest=True, expected="criteria")
    import_safely(path, name, chosen)
