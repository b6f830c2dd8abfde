"""A property: whatever targets and graders return, every trial has a result, the record can be read
again, and nothing is well that is not."""

import json
import tempfile
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import force_setattr, replace

import evalcase
from evalcase import Answer, Grade, Score, Target, Usage
from evalcase.testing import ScriptedTarget
from evalcase.types.message import take_message
from evalcase.types.target import Question, TrialKey
from tests.store.rows import read_results

# Code that comes late may leave a coroutine that nobody waits for: the interpreter says so when it
# finds the time, and that is not for evalcase to change.
pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

COLOUR = Enum("COLOUR", ["RED"])


class Text(str):
    """Text, and something else."""

    __slots__ = ()


def unchecked(right: Any) -> Any:
    """Makes what is like an object that is right, and was then changed behind its back: what is
    returned is looked at, whatever a constructor has seen."""

    def make(*values: Any) -> Any:
        made = replace(right)
        for name, value in zip(type(right).__match_args__, values, strict=False):
            force_setattr(made, name, value)
        return made

    return make


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5),
    st.sampled_from(
        [Text("ok"), COLOUR.RED, Decimal(1), datetime.now(UTC), object(), int, {1}, b"x", 10**400,
         float("nan"), 1e308, "\ud800", "\x00", unchecked(Usage())(-1), Grade("g", 1.0, True, "")]
    ),
)  # fmt: skip
KEYS = st.one_of(st.text(max_size=3), st.sampled_from(["role", "content", "tool_calls", 1, None]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
    ),
    max_leaves=6,
)
FIELDS = st.dictionaries(
    st.sampled_from(["role", "content", "tool_calls", "name", "tool_call_id", "x"]), VALUES,
    max_size=4,
)  # fmt: skip
MESSAGES = st.one_of(
    FIELDS.map(lambda fields: take_message({"role": "assistant", **fields})), FIELDS, VALUES
)
USAGES = st.one_of(st.none(), VALUES, st.builds(unchecked(Usage()), SCALARS, SCALARS, SCALARS))
ANSWERS = st.builds(
    unchecked(Answer(())), st.one_of(st.lists(MESSAGES, max_size=2).map(tuple), VALUES), USAGES,
    SCALARS, SCALARS, SCALARS, SCALARS,
)  # fmt: skip
SCORES = st.builds(
    unchecked(Score(None)), st.one_of(st.just(1.0), SCALARS), st.one_of(st.just(""), SCALARS),
    st.one_of(st.just({}), VALUES), st.one_of(st.none(), SCALARS),
)  # fmt: skip


class Returning(Target):
    def __init__(self, value: Any) -> None:
        self.value = value

    async def answer(self, question: Question) -> Answer:
        del question
        value: Answer = self.value
        return value


SUITE = evalcase.loads(
    json.dumps({"cases": [{"id": "one", "input": "x", "expected_output": "ok"}]})
)


def run(target: Any, *graders: Any) -> dict[TrialKey, str]:
    """Evaluate, and compare what is told with what the record says."""
    with tempfile.TemporaryDirectory() as folder:
        evaluated = evalcase.evaluate(
            SUITE, target, graders=graders, root=folder, runs_dir=folder, on_warning=lambda _: None
        )
        journal = str(Path(evaluated.run.path) / "journal.jsonl")
        kept = {result.key: result.verdict for result in read_results(journal)}
        assert evaluated.status == "completed"
        assert len(kept) == evaluated.totals.trials.total
        assert evaluated.ok == all(verdict == "passed" for verdict in kept.values())
        return dict(kept)


anyhow = settings(suppress_health_check=list(HealthCheck))


@anyhow
@given(values=st.lists(st.one_of(VALUES, ANSWERS), min_size=1, max_size=8))
def test_fault_34_whatever_targets_return_the_record_can_be_read(values: list[Any]) -> None:
    targets = [Returning(value) for value in values]

    def function(value: Any) -> Any:
        return lambda question: value if question else None

    kept = run([*targets, *map(function, values)])
    assert len(kept) == 2 * len(values)


@anyhow
@given(values=st.lists(st.one_of(VALUES, SCORES), min_size=1, max_size=8))
@example(values=[unchecked(Score(None))(-1, "", {}, None)])
def test_fault_34_whatever_graders_return_the_record_can_be_read(values: list[Any]) -> None:
    def grader(value: Any) -> Any:
        async def grade(text: str) -> Any:
            return value if text else None

        return grade

    assert len(run(ScriptedTarget(["ok"]), *map(grader, values))) == 1
