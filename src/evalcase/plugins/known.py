"""What suites mention, looked up: graders that are installed, targets and judge of a project.

Nothing is imported or read before a suite mentions something, and nothing of the project's own
code is imported at all.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from evalcase.errors import ConfigError
from evalcase.model.finding import Unfit

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalcase.model.grader_options import DeclaredGrader
    from evalcase.model.known import What
    from evalcase.project.config import Config


class Installed:
    """The graders that are installed. It objects to nothing: a file may be read anywhere."""

    def __init__(self) -> None:
        self._graders: dict[str, DeclaredGrader | None] = {}
        self._broken: dict[str, str] = {}

    def grader(self, name: str) -> DeclaredGrader | None:
        if name not in self._graders:
            if ":" in name:
                return None  # it may be any of a million functions
            self._graders[name] = self._declared(name)
        return self._graders[name]

    def _declared(self, name: str) -> DeclaredGrader | None:
        from evalcase.model.grader_options import declared_grader
        from evalcase.plugins.registry import search

        try:
            made_by = search("graders", name)
            return None if made_by is None else declared_grader(made_by)
        except (ConfigError, AttributeError, TypeError) as error:
            self._broken[name] = str(error)
            return None

    def object_to(self, what: What, name: str) -> Unfit | None:
        del what, name
        return None


class Existing(Installed):
    """The same, and a grader that nobody knows is objected to."""

    def object_to(self, what: What, name: str) -> Unfit | None:
        if what != "grader":
            return None
        if name in self._broken:
            return Unfit("unknown-grader", f"the grader `{name}` has no use: {self._broken[name]}")
        return Unfit("unknown-grader", f"there is no grader `{name}`", _grader_hint(name))


class InProject(Existing):
    """The same for a project with its configuration: targets and a judge, too."""

    def __init__(self, read_config: Callable[[], Config]) -> None:
        super().__init__()
        self._read_config = read_config
        self._targets: dict[str, Unfit | None] = {}

    @cached_property
    def config(self) -> Config:
        return self._read_config()

    def object_to(self, what: What, name: str) -> Unfit | None:
        if what == "grader":
            return super().object_to(what, name)
        if what == "judge":
            return self._object_to_judge(name)
        if name not in self._targets:
            from evalcase.plugins.target_names import object_to_target

            self._targets[name] = object_to_target(name, self.config, of_suite=True)
        return self._targets[name]

    def _object_to_judge(self, field: str) -> Unfit | None:
        if self.config.judge is not None or not self.config.is_read:
            return None
        hint = 'add [judge] to evalcase.toml, with target = "NAME"'
        return Unfit("no-judge", f"`{field}` is graded by a judge, and none is configured", hint)


_ELSEWHERE = {
    "exact": "expected", "exact_match": "expected", "match": "expected", "javascript": "python",
    "code": "python", "function": "python", "callable": "python", "code_judge": "script",
    "code_grader": "script", "command": "script", "icontains": "contains", "includes": "contains",
    "contains_any": "contains", "contains_all": "contains", "not_contains": "contains",
    "pattern": "regex", "string_check": "equals", "choice": "one_of", "levenshtein": "similarity",
    "text_similarity": "similarity", "is_json": "json", "contains_json": "json",
    "is_valid_json": "json", "jsonschema": "json_schema", "json_match": "json_equals",
    "field_accuracy": "fields", "tool_trajectory": "trajectory", "tool_correctness": "trajectory",
    "trajectory_match": "trajectory", "max_tool_calls": "tool_calls", "max_duration": "latency",
    "token_usage": "tokens", "finish_reason": "finish", "assert_set": "all",
    "composite": "weighted", "length_limit": "length",
}  # fmt: skip
"""What other tools call graders that do the same."""
_JUDGES = ("llm", "judge", "rubric", "geval", "g_eval", "model_grade", "score_model")


def _grader_hint(name: str) -> str:
    from evalcase.model.nearest import hint_at, nearest_meaning
    from evalcase.plugins.registry import names

    known = names("graders")
    word, _, value = name.partition(":")
    if value and word in known:
        return f"write {{{word}: {value}}}"
    hint = hint_at(
        nearest_meaning(name.replace("-", "_"), {**_ELSEWHERE, **{each: each for each in known}})
    )
    if hint is not None:
        return hint
    if any(word in name.lower().replace("-", "_") for word in _JUDGES):
        return "did you mean `judge`? It asks a model; without options, by `criteria` and `rubrics`"
    return f"there are {', '.join(known)}"
