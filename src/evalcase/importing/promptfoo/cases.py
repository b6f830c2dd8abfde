"""Prompts and tests to cases: one for each prompt, each test, and each choice of its variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalcase.importing.draft import CaseDraft, SuiteDraft
from evalcase.importing.promptfoo.assertions import Assertion
from evalcase.importing.promptfoo.drafted import TRANSFORMS, DraftedTest, find_transform
from evalcase.importing.promptfoo.folder import Folder
from evalcase.importing.promptfoo.judging import asks_judge, plain_statement
from evalcase.importing.promptfoo.mapping import Mapper
from evalcase.importing.promptfoo.matrices import (
    KeptTags,
    find_matrix,
    put_matrix,
    says_the_same,
)
from evalcase.importing.promptfoo.prompts import PromptTemplate
from evalcase.importing.promptfoo.providers import Providers
from evalcase.importing.promptfoo.simulated import put_user, reads_transcript
from evalcase.importing.promptfoo.tests import MOST_WAYS, vary_variables
from evalcase.importing.promptfoo.unmapped import NoCounterpartError
from evalcase.importing.shapes import shape_input
from evalcase.importing.source import Item
from evalcase.importing.templates import UnrenderableError, Variables, javascript_text
from evalcase.types.value import JSON

_NO_WORD = re.compile(r"[\W_]+")
_LONGEST_ID = 40
_OF_RUNS = {
    "runSerially": "how many run at once, --concurrency says",
    "storeOutputAs": "a case can't use the answer of another",
    "provider": "[judge] of the configuration says who judges",
    "rubricPrompt": "evalcase asks a judge in words of its own",
}
_HANDLED = ("prefix", "suffix", "repeat", "disableVarExpansion", "disableDefaultAsserts")


class _Made(NamedTuple):
    """What became of an assertion: a grader, or the reason why there is none."""

    grader: JSON
    assertion: Assertion
    error: NoCounterpartError | UnrenderableError | None = None

    def told(self) -> str:
        is_template = isinstance(self.error, UnrenderableError)
        return f"`{self.assertion.name}` with {self.error}" if is_template else str(self.error)

    @property
    def hint(self) -> str | None:
        return self.error.hint if isinstance(self.error, NoCounterpartError) else None


class CaseMaker:
    """Makes cases of tests."""

    def __init__(
        self, suite: SuiteDraft, folder: Folder, root: str, prompts: Sequence[PromptTemplate],
        providers: Providers, default: DraftedTest,
    ) -> None:  # fmt: skip
        self.suite = suite
        self.folder = folder
        self.root = root
        self.prompts = prompts
        self.providers = providers
        self.default = default
        self.has_judges = False
        """Whether a judge of the suite takes the place of what is expected."""
        self.shares_checks = True
        """Whether what is asserted of all tests stands in the suite, but for what has variables."""
        self.lost_shared = False
        """Whether something that holds for all tests could not be imported."""
        self._ids: dict[str, int] = {}

    def make(self, test: DraftedTest) -> None:
        """All cases of a test; what can't be made is told."""
        whole = test.over(self.default)
        made = len(self.suite.cases)
        if made > MOST_WAYS:
            self._drop(test.item, f"this test: there are over {MOST_WAYS:,} cases already")
            return
        try:
            if "transformVars" in whole.options:
                raise ValueError("code makes its variables")
            expands = not _is_true(whole, "disableVarExpansion")
            prompts, ways = list(self._prompts_for(whole)), 0
            for values in vary_variables(whole.variables, self.folder, expands=expands):
                ways += 1
                for prompt in prompts:
                    self._make_case(whole, prompt, Variables(values))
            if ways > 1 and prompts:
                self._fold(whole, prompts, values, made)
        except ValueError as error:
            del self.suite.cases[made:]
            self._drop(test.item, f"this test: {error}")

    def _fold(
        self, test: DraftedTest, prompts: Sequence[PromptTemplate], values: dict[str, JSON],
        made: int,
    ) -> None:  # fmt: skip
        """A case with a matrix for each prompt, in place of one for each way to choose, if that is
        the same. `values` are those of the last of them."""
        written = self.suite.cases[made:]
        matrix = find_matrix(test.variables, values)
        ids = [str(case.fields["id"]) for case in written if "id" in case.fields]
        for id in ids:
            self._ids.pop(id, None)
        for number, prompt in enumerate(prompts):
            self._make_case(test, prompt, KeptTags(values, list(matrix)))
            draft = self.suite.cases[-1]
            put_matrix(draft, matrix)
            if not says_the_same(draft, written[number :: len(prompts)]):
                del self.suite.cases[made + len(written) :]
                self._ids.update(dict.fromkeys(ids, 1))
                return
        del self.suite.cases[made : made + len(written)]

    def _drop(self, item: Item, why: str) -> None:
        self.suite.new_case(item).drop(item, why)

    def _prompts_for(self, test: DraftedTest) -> Iterator[PromptTemplate]:
        wanted = test.fields["prompts"].value if "prompts" in test.fields else None
        names = wanted if isinstance(wanted, list) else None if wanted is None else [wanted]
        for prompt in self.prompts:
            if names is None or any(_is_meant_by(prompt.label, str(each)) for each in names):
                yield prompt

    def _make_case(self, test: DraftedTest, prompt: PromptTemplate, variables: Variables) -> None:
        case = self.suite.new_case(test.item)
        unset: list[str] = []
        options = test.options
        before, after = (_text_of_item(options.get(name)) for name in ("prefix", "suffix"))
        try:
            asked = prompt.fill(variables, (before, after), unset)
            description = variables.render(_text_of_item(test.fields.get("description")), unset)
        except UnrenderableError as error:
            case.drop(test.item, f"this case, whose prompt has {error}")
            return
        for name in dict.fromkeys(unset):
            case.remark(
                f"nothing sets the variable `{name}`: it is empty, as it was there", "input"
            )
        case.fields["id"] = self._identify(description, test, variables, prompt)
        if description and description != case.fields["id"]:
            case.fields["description"] = description
        if len(self.prompts) > 1:
            case.fields["tags"] = [prompt.label]
        case.fields["input"] = shape_input(asked)
        if test.metadata:
            case.fields["metadata"] = dict(test.metadata)
        user = self.providers.simulated_user(test.fields.get("provider"))
        if user is not None:
            put_user(case, user, asked, variables, self.folder, self.suite)
        self._ask(case, test, prompt)
        self._tell_options(case, test)
        self._check(case, test, variables, is_simulated=user is not None)

    def _identify(
        self, description: str, test: DraftedTest, variables: Variables, prompt: PromptTemplate
    ) -> str:
        """By what it is called, or by what only this test says."""
        shared = self.default.variables
        own = [name for name, item in test.variables.items() if shared.get(name) is not item]
        values = (variables.values[name] for name in own or test.variables)
        texts = [javascript_text(each) for each in values if isinstance(each, str | int | float)]
        named = description or " ".join(each[: _LONGEST_ID * 2] for each in texts)
        slug = _NO_WORD.sub("-", named[: _LONGEST_ID * 4].lower()).strip("-")[:_LONGEST_ID]
        id = slug.strip("-") or "case"
        if len(self.prompts) > 1:
            id = f"{id}:{_NO_WORD.sub('-', prompt.label.lower()).strip('-')[:_LONGEST_ID]}"
        return self._number(id)

    def _number(self, id: str) -> str:
        """An id that nobody has yet."""
        if id not in self._ids:
            self._ids[id] = 1
            return id
        while True:
            self._ids[id] += 1
            numbered = f"{id}-{self._ids[id]}"
            if numbered not in self._ids:
                self._ids[numbered] = 1
                return numbered

    def _ask(self, case: CaseDraft, test: DraftedTest, prompt: PromptTemplate) -> None:
        """Who is asked, where it isn't everybody."""
        targets = self.providers.targets_for(test.fields, prompt.label, case)
        if targets is not None:
            case.fields["targets"] = targets
        if "repeat" in test.options:
            case.fields["repeat"] = test.options["repeat"].value

    def _tell_options(self, case: CaseDraft, test: DraftedTest) -> None:
        own = {name: item for name, item in test.options.items()
               if self.default.options.get(name) is not item}  # fmt: skip
        for name, item in own.items():
            if name not in _HANDLED and name not in TRANSFORMS:
                hint = _OF_RUNS.get(name)
                case.lose(item, f"`{name}` of the options of a test", hint, at="key")
        for name in ("providerOutput", "assertScoringFunction"):
            if name in test.fields:
                case.lose(test.fields[name], f"`{name}`", at="key")

    def _check(
        self, case: CaseDraft, test: DraftedTest, variables: Variables, *, is_simulated: bool
    ) -> None:
        """Graders of what is asserted."""
        threshold = test.fields["threshold"].value if "threshold" in test.fields else None
        counts = isinstance(threshold, int | float)
        transform = find_transform(test)
        leaves_shared = _is_true(test, "disableDefaultAsserts")
        # Where what is checked of all is of no output that is changed, a test leaves it so.
        changes = transform is not None and find_transform(self.default) is None
        is_changed = is_simulated or changes
        shared = () if leaves_shared else self._shared_assertions(is_changed=is_changed)
        mapper = Mapper(self.folder, self.root, counts_scores=counts)
        made: list[_Made] = []
        for assertion in (*shared, *test.assertions):
            try:
                if transform is not None and assertion.is_of_output:
                    raise NoCounterpartError(f"`{assertion.name}` of what `transform` makes")
                if is_simulated and reads_transcript(assertion):
                    raise NoCounterpartError(f"`{assertion.name}` of a conversation as one text")
                rendered = assertion.render(variables)
                made += [_Made(each, assertion) for each in mapper.map(rendered)]
            except (NoCounterpartError, UnrenderableError) as error:
                made.append(_Made(None, assertion, error))
        lost = self.lost_shared or any(each.error is not None for each in made)
        self._put(case, made, counts)
        if (leaves_shared or is_changed) and "graders" in self.suite.fields:
            case.fields["suite_graders"] = False
        for item, why in mapper.notes:
            case.lose(item, why, where=case.grader_place())
        self._count(case, test, threshold, lost=lost)

    def _count(self, case: CaseDraft, test: DraftedTest, threshold: JSON, *, lost: bool) -> None:
        """What decides: a weighted mean, if a test says so and all that it counts is there."""
        shared = self.suite.fields.get("threshold")
        if threshold is None:
            return
        item = test.fields["threshold"]
        if not isinstance(threshold, int | float):
            case.lose(item, "`threshold`, which is not a number")
        elif lost:
            why = "`threshold`, as not all that it counts could be imported; the rest must pass"
            case.lose(item, why, where=("threshold",))
            if shared is not None:
                case.fields["threshold"] = 1
        elif threshold != shared:
            case.fields["threshold"] = threshold
            case.fields_from["threshold"] = item

    def _shared_assertions(self, *, is_changed: bool) -> tuple[Assertion, ...]:
        """Those of all tests that are others in this one: they have variables, or grade something
        else than the answer."""
        takes_all = is_changed or not self.shares_checks
        return tuple(each for each in self.default.assertions if takes_all or each.has_tags)

    def _put(self, case: CaseDraft, made: list[_Made], counts: bool) -> None:
        """In the shortest form: an answer that is expected, and statements as rubrics."""
        texts = [each for each in made if _equals_text(each.grader) is not None]
        is_judged = self.has_judges or any(asks_judge(each.grader) for each in made)
        for each in made:
            statement = None if counts else plain_statement(each.grader)
            if each.error is not None:
                case.lose_grader(each.assertion.item, each.told(), each.hint)
            elif statement is not None:
                case.add_rubric(statement)
            elif texts == [each] and not is_judged:
                case.fields["expected_output"] = _equals_text(each.grader)
            else:
                case.add_grader(each.grader, each.assertion.item)


def _is_true(test: DraftedTest, option: str) -> bool:
    return option in test.options and test.options[option].value is True


def _equals_text(grader: JSON) -> str | None:
    """The text that an answer has to be, if that is all that is said."""
    held = grader.get("equals") if isinstance(grader, dict) and len(grader) == 1 else None
    return held if isinstance(held, str) else None


def _is_meant_by(label: str, wanted: str) -> bool:
    """Whether a label is meant by a name, which may be that of a group of them."""
    bare = wanted.removesuffix("*").removesuffix(":")
    return label == wanted or label.startswith(f"{bare}:")


def _text_of_item(item: Item | None) -> str:
    return "" if item is None or item.value is None else javascript_text(item.value)
