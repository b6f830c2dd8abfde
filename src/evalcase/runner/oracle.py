"""`run --oracle`: cases are checked themselves. The solution of a case has to pass the graders of
its workspace, and a workspace that nothing was changed in has to fail one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from evalcase.config.catalogue import Catalogue
from evalcase.config.options import ORACLE, UNTOUCHED
from evalcase.errors import ConfigError
from evalcase.graders.base import NamedGrader
from evalcase.graders.combine import CombinedGrader
from evalcase.targets.answers import content_message
from evalcase.types.answer import Answer
from evalcase.types.case import Case, canonical_case
from evalcase.types.grade import Grade, Score
from evalcase.types.target import Question, Target, Traits
from evalcase.types.workspace import Space
from evalcase.util.text import list_some, write_count

_DROPPED = frozenset({
    "expected_output", "criteria", "criteria_judge", "rubrics", "threshold", "repeat", "turns",
    "stop_on_failure", "user", "targets",
})  # fmt: skip
"""Fields of a case that say nothing of its workspace, or how an agent is asked."""
_MOST_NAMED = 20


class Oracle:
    """What a run does otherwise with `--oracle`."""

    def __init__(self) -> None:
        self._catalogue = Catalogue()
        self._solver = OracleTarget()
        self.targets: dict[str, Target] = {ORACLE: self._solver, UNTOUCHED: OracleTarget()}

    def solve_by(self, solve: Callable[[Space], Awaitable[None]]) -> None:
        """Say how a solution is applied, once the run has workspaces."""
        self._solver.solve = solve

    def keep_part(self, case: Case) -> Case:
        """A case with its workspace and the graders that may look at it, and nothing else that
        decides."""
        data = {name: each for name, each in case._data.items() if name not in _DROPPED}
        graders = [spec for spec in data.pop("graders", ()) if self._may_look(spec)]
        if "solution" not in data.get("workspace", ()):
            data.setdefault("skip", "it has no `solution`")
        elif not graders:
            data.setdefault("skip", "no grader looks at its workspace")
        return canonical_case({**data, "graders": graders} if graders else data)

    def _may_look(self, spec: Mapping[str, Any]) -> bool:
        declared = self._catalogue.grader(str(spec["type"]))
        if declared is None or spec.get("indicator"):
            return False
        inner = [each for name in declared.naming("graders") for each in spec.get(name, ())]
        return all(map(self._may_look, inner)) if inner else declared.kind.workspace != "none"

    def graders_at(self, target: str, graders: Sequence[NamedGrader]) -> Sequence[NamedGrader]:
        looking = tuple(filter(_looks, graders))
        if target != UNTOUCHED or not looking:
            return looking
        return (NamedGrader("untouched", UntouchedGrader(looking)),)

    def name_unchecked(self, cases: Iterable[tuple[str, Case]]) -> str:
        """A sentence on cases that have no solution; empty if all have one. Raise ConfigError if
        none has."""
        unchecked, checked = list[str](), 0
        for _, case in cases:
            if case.skip:
                unchecked.append(case.id if case.skip is True else f"{case.id} ({case.skip})")
            else:
                checked += 1
        if not checked:
            what = "no case has a `workspace` with a `solution`"
            raise ConfigError(f"{what}: add one, such as `solution: fix.patch`")
        if not unchecked:
            return ""
        return f"not checked: {list_some(unchecked[:_MOST_NAMED], len(unchecked))}"


def _looks(named: NamedGrader) -> bool:
    inner = named.grader.inner()
    return all(map(_looks, inner)) if inner else named.grader.sees_workspace()


class OracleTarget(Target):
    """Applies the solution of a case, or does nothing."""

    traits = Traits(workspace=True)
    solve: Callable[[Space], Awaitable[None]] | None = None

    async def answer(self, question: Question) -> Answer:
        if self.solve is None:
            return Answer((content_message("Nothing was changed."),))
        assert question.workspace is not None
        await self.solve(question.workspace)
        return Answer((content_message("The solution was applied."),))


class UntouchedGrader(CombinedGrader):
    """Passes where one of several graders fails."""

    value: tuple[NamedGrader, ...]

    def inner(self) -> tuple[NamedGrader, ...]:
        return self.value

    def decide(self, grades: Sequence[Grade]) -> Score:
        failed = [grade for grade in grades if not grade.passed]
        if failed:
            return Score(1.0, f"`{failed[0].grader}` fails, as it should: {failed[0].reason}")
        one = f"`{grades[0].grader}` passes"
        every = one if len(grades) == 1 else f"all {write_count(len(grades), 'grader')} pass"
        return Score(0.0, f"{every}, although nothing was changed in the workspace")
