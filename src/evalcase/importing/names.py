"""Which formats can be imported: the one table that the command, its guess and `check` share."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import NamedTuple

from evalcase.importing.draft import Chosen, SuiteDraft
from evalcase.importing.source import ForeignFile


class Importer(NamedTuple):
    """Whose files are read, and by which function."""

    tool: str
    function: str
    """`module:function`, below this package; it is imported when it is needed."""
    has_columns: bool = True
    """Whether its files have columns that `--map` and the like could speak of."""

    def __call__(self, source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
        place = f"evalcase.importing.{self.function}"
        import_cases: Callable[[ForeignFile, Chosen, SuiteDraft], None] = resolve_name(place)
        import_cases(source, chosen, suite)


IMPORTERS: dict[str, Importer] = {
    "skills": Importer("Agent Skills", "formats.skills:import_skills"),
    "promptfoo": Importer("promptfoo", "promptfoo.config:import_promptfoo", False),
    "agentv": Importer("AgentV", "agentv.suite:import_agentv", False),
    "inspect": Importer("Inspect", "formats.inspect:import_inspect"),
    "pydantic-evals": Importer("pydantic-evals", "formats.pydantic_evals:import_pydantic_evals"),
    "openai-evals": Importer("OpenAI evals", "formats.openai_evals:import_openai_evals"),
    "deepeval": Importer("DeepEval", "formats.deepeval:import_deepeval"),
    "tau-bench": Importer("tau-bench", "formats.tau_bench:import_tau_bench", False),
    "langsmith": Importer("LangSmith", "formats.langsmith:import_langsmith"),
    "braintrust": Importer("Braintrust", "formats.braintrust:import_braintrust"),
    "rows": Importer("rows", "rows:import_rows"),
}
