"""One test of AgentV to a case, or to one for each prompt."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.importing.agentv.checks import CheckMapper, Statement
from evalcase.importing.draft import CaseDraft, SuiteDraft
from evalcase.importing.promptfoo.judging import asks_judge
from evalcase.importing.promptfoo.prompts import PromptTemplate
from evalcase.importing.promptfoo.unmapped import NoCounterpartError
from evalcase.importing.rows import put_field
from evalcase.importing.shapes import shape_expected, shape_id, shape_input
from evalcase.importing.source import Item
from evalcase.importing.templates import UnrenderableError, Variables
from evalcase.types.value import JSON

_CHECKS = ("assert", "assertions", "evaluators")
_INPUTS = ("input", "input_messages")
_EXPECTED = ("expected_output", "expected_messages")
_CRITERIA = ("criteria", "expected_outcome", "outcome")
_COPIED = ("description", "tags", "metadata", "conversation_id")
_READ = frozenset({
    *_CHECKS, *_INPUTS, *_EXPECTED, *_CRITERIA, *_COPIED, "id", "vars", "rubrics", "execution",
    "turns", "mode", "on_turn_failure", "target", "threshold", "repeat", "skip", "$schema",
})  # fmt: skip


class AgentvCases:
    """Makes cases of tests."""

    def __init__(
        self, suite: SuiteDraft, checks: CheckMapper, prompts: Sequence[PromptTemplate] | None,
        default: Item,
    ) -> None:  # fmt: skip
        self.suite = suite
        self.checks = checks
        self.prompts = prompts
        self.default = default

    def make(self, item: Item, shared: list[Item]) -> None:
        """The cases of a test; what can't be made is told."""
        if not isinstance(item.value, dict):
            self.suite.new_case(item).drop(item, "this test, which is not a mapping")
            return
        given = {**_read_mapping(self.default.at("vars")), **_read_mapping(item.at("vars"))}
        variables = Variables(given)
        is_asked = any(item.at(name).value is not None for name in (*_INPUTS, "turns"))
        if self.prompts is None and not is_asked:
            self.suite.new_case(item).drop(item, "this test, which has no input")
            return
        for prompt in (None,) if self.prompts is None else self.prompts:
            case = self.suite.new_case(item)
            try:
                self._fill(case, item, prompt, variables)
                self._check(case, item, shared, variables)
            except UnrenderableError as error:
                case.drop(item, f"this test, which has {error}")

    def _fill(
        self, case: CaseDraft, item: Item, prompt: PromptTemplate | None, variables: Variables
    ) -> None:
        id = shape_id(item.at("id").value)
        if id is not None:
            several = self.prompts is not None and len(self.prompts) > 1
            case.fields["id"] = f"{id}:{prompt.label}" if several and prompt is not None else id
        for name in _COPIED:
            if item.at(name).value is not None:
                put_field(case, name, item.at(name))
        asked = _find_first(item, _INPUTS)
        if prompt is not None and asked.value is None:
            unset: list[str] = []
            case.fields["input"] = shape_input(
                _find_rooted(prompt.fill(variables, ("", ""), unset))
            )
            for name in dict.fromkeys(unset):
                case.lose(prompt.item, f"the variable `{name}`, which nothing sets")
        elif asked.value is not None:
            case.fields["input"] = shape_input(_find_rooted(asked.value))
        self._expect(case, item, variables)
        for name, held in item.fields():
            if name not in _READ and held.value is not None:
                case.lose(held, f"`{name}`", at="key")
        self._execute(case, item)

    def _expect(self, case: CaseDraft, item: Item, variables: Variables) -> None:
        expected = _find_first(item, _EXPECTED)
        if expected.value is None and "expected_output" in variables.values:
            expected = item.at("vars", "expected_output")
            expected = expected._replace(value=variables.values["expected_output"])
        if expected.value is not None:
            value: JSON = expected.value
            value = variables.render_value(value) if isinstance(value, str) else value
            case.fields["expected_output"] = shape_expected(_find_rooted(value))
            case.fields_from["expected_output"] = expected
        criteria = _find_first(item, _CRITERIA)
        if isinstance(criteria.value, str) and criteria.value.strip():
            case.fields["criteria"] = variables.render(criteria.value)

    def _execute(self, case: CaseDraft, item: Item) -> None:
        for held in (item, item.at("execution")):
            target = held.at("target").value
            if isinstance(target, str):
                case.fields["targets"] = [target]
            for name in ("threshold", "repeat", "skip"):
                if held.at(name).value is not None:
                    case.fields[name] = held.at(name).value
        for name, held in item.at("execution").fields():
            if name not in ("target", "threshold", "repeat", "skip_defaults", *_CHECKS):
                case.lose(held, f"`{name}` of `execution`", at="key")

    def _check(self, case: CaseDraft, item: Item, shared: list[Item], variables: Variables) -> None:
        own = [each for held in (item, item.at("execution")) for name in _CHECKS
               for each in held.at(name).items()]  # fmt: skip
        for each in item.at("rubrics").items():
            own.append(Item({"type": "rubrics", "value": [each.value]}, each.document, each.path))
        threshold = case.fields.get("threshold", self.suite.fields.get("threshold"))
        self.checks.mapper.counts_scores = threshold is not None
        is_whole = [
            self._add(case, each, variables)
            for each in (*(() if _leaves_shared(item) else shared), *own)
        ]
        if threshold is not None and not all(is_whole):
            why = "`threshold`, as not all that it counts could be imported; the rest must pass"
            case.lose(item.at("threshold"), why, where=("threshold",))
            case.fields["threshold"] = 1
        self._converse(case, item, variables)
        is_judged = "criteria" in case.fields or "rubrics" in case.fields or asks_judge(
            case.fields.get("graders")
        )  # fmt: skip
        if "graders" in case.fields and "expected_output" in case.fields and not is_judged:
            # Beside assertions it is never compared there, and would be here.
            case.keep_reference()

    def _add(self, case: CaseDraft, item: Item, variables: Variables) -> bool:
        """Add what is asserted, or tell that it can't be; whether it could."""
        before = len(case.lost)
        try:
            for made in self.checks.map(item, variables):
                if isinstance(made, Statement):
                    case.add_rubric(made.rubric)
                else:
                    case.add_grader(made, item)
        except NoCounterpartError as error:
            case.lose_grader(item, str(error), error.hint)
        notes = self.checks.mapper.notes
        for place, why in notes:
            case.lose(place, why, where=case.grader_place())
        is_whole = len(case.lost) == before + len(notes)
        notes.clear()
        return is_whole

    def _converse(self, case: CaseDraft, item: Item, variables: Variables) -> None:
        """Turns, each with what is asserted of it."""
        turns: list[JSON] = []
        for number, each in enumerate(item.at("turns").items()):
            turn = CaseDraft(each)
            asked = each.at("input").value
            turn.fields["input"] = asked if asked is None else shape_input(_find_rooted(asked))
            self._expect(turn, each, Variables({}))
            for name in _CHECKS:
                for check in each.at(name).items():
                    self._add(turn, check, variables)
            for lost in turn.lost:
                case.lost.append(lost._replace(where=("turns", number, *lost.where)))
            turns.append(turn.fields)
        if turns:
            case.fields["turns"] = turns
        if item.at("on_turn_failure").value == "stop":
            case.fields["stop_on_failure"] = True


def _leaves_shared(item: Item) -> bool:
    """Whether what is asserted of all tests is not asserted of this one: it says so, or it is of
    the time when its own evaluators took the place of those."""
    execution = item.at("execution")
    is_old = any(held.at("evaluators").value for held in (item, execution))
    return is_old or execution.at("skip_defaults").value is True


def _find_first(item: Item, names: tuple[str, ...]) -> Item:
    return next((item.at(each) for each in names if item.at(each).value is not None), item.at("?"))


def _read_mapping(item: Item) -> dict[str, JSON]:
    return item.value if isinstance(item.value, dict) else {}


def _find_rooted(value: JSON) -> JSON:
    """Files of the repository's root, which evalcase finds without the `/`."""
    if isinstance(value, list):
        return [_find_rooted(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "file":
        return {name: _strip_root(name, each) for name, each in value.items()}
    return {name: _find_rooted(each) for name, each in value.items()}


def _strip_root(name: str, value: JSON) -> JSON:
    is_path = name in ("value", "path") and isinstance(value, str)
    return str(value).lstrip("/") if is_path else value
