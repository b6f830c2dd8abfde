"""A configuration of promptfoo to a suite: a case for each prompt, test and choice of variables."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from evalcase.importers.draft import (
    CaseDraft,
    Choices,
    NoCounterpartError,
    SuiteDraft,
    asks_judge,
    number_id,
    slug_of,
    split_history,
    write_grader,
)
from evalcase.importers.javascript import UnrenderableError, Variables, javascript_text
from evalcase.importers.promptfoo_checks import (
    JUDGED,
    TOOL_USE,
    Assertion,
    Grader,
    Mapper,
    is_trim,
    to_seconds,
)
from evalcase.importers.promptfoo_providers import Provider, Providers
from evalcase.importers.promptfoo_tests import (
    MAX_CASES,
    PromptfooTest,
    PromptTemplate,
    TestReader,
    read_prompts,
    vary_variables,
)
from evalcase.importers.rows import parse_cell, shape_input, shape_messages
from evalcase.importers.source import Folder, ForeignFile, Item
from evalcase.types.value import JSON
from evalcase.util.project import project_root

_READ = frozenset({
    "description", "prompts", "providers", "targets", "tests", "defaultTest", "scenarios",
    "evaluateOptions", "commandLineOptions", "metadata", "tags", "$schema", "assertionTemplates",
})  # fmt: skip
_MAX_TURNS = 10
"""promptfoo's default for the turns of a simulated user."""
_TRANSFORMS = ("transform", "postprocess")
_USED_OPTIONS = (
    "prefix", "suffix", "repeat", "disableVarExpansion", "disableDefaultAsserts", *_TRANSFORMS,
)  # fmt: skip


def import_promptfoo(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    del choices
    is_config = not source.is_table and isinstance(source.root.value, dict)
    root = source.root if is_config else Item({}, source.documents[0])
    folder = Folder(source.folder)
    item = root.at("defaultTest")
    if isinstance(item.value, str):
        try:
            item = folder.parse(item.value).root
        except ValueError as error:
            suite.lose(item, f"`defaultTest`: {error}")
    default = PromptfooTest.of(item, root, suite)
    _describe_suite(root, default, suite)
    providers = Providers(suite, folder)
    for name in ("providers", "targets"):
        providers.add_all(root.at(name))
    prompts = read_prompts(root.at("prompts"), folder, suite)
    found = TestReader(folder, suite, ("tests",)).read_file(source)
    if is_config and root.at("tests").value is None and root.at("scenarios").value is None:
        found = iter([root._replace(value={})])
    tests = [PromptfooTest.of(each, root, suite) for each in found]
    if "provider" in default.options:
        embedding = default.options["provider"].at("embedding")
        providers.default_embedding = embedding.at("id").value or embedding.value
    for name, item in default.options.items():
        known = is_trim(item.value) if name in _TRANSFORMS else name in _USED_OPTIONS
        if not known and name != "provider":
            suite.lose(item, f"`{name}` of the options of all tests", at="key")
    judge = _name_judge(root, [default, *tests], providers)
    maker = _CaseMaker(suite, folder, prompts, providers, default, judge)
    for test in tests:
        maker.make(test)


def _describe_suite(root: Item, default: PromptfooTest, suite: SuiteDraft) -> None:
    for name, item in root.fields():
        if name == "description" and isinstance(item.value, str):
            suite.fields[name] = item.value
        elif name in ("tags", "metadata") and isinstance(item.value, dict):
            held = suite.fields.setdefault("metadata", {})
            assert isinstance(held, dict)
            held.update(item.value)
        elif name in ("evaluateOptions", "commandLineOptions"):
            _read_options(item, suite)
        elif name in ("outputPath", "sharing", "writeLatestResults"):
            suite.remark_left_out([name])
        elif name not in _READ and item.value is not None:
            suite.lose(item.without_value(), f"`{name}`", at="key")
    if "threshold" in default.fields:
        suite.fields["threshold"] = default.fields["threshold"].value


def _read_options(item: Item, suite: SuiteDraft) -> None:
    left = []
    for name, option in item.fields():
        value = option.value
        if name == "repeat" and value != 1:
            suite.fields["repeat"] = value
        elif name == "timeoutMs" and isinstance(value, int | float) and value > 0:
            suite.fields["timeout_s"] = to_seconds(value)
        elif name in ("promptPrefix", "promptSuffix", "var", "vars", "prompts", "tests"):
            suite.lose(option, f"`{name}` of the command line", at="key")
        elif name != "grader":
            left.append(name)
    if left:
        suite.remark_left_out(left)


def _name_judge(root: Item, tests: list[PromptfooTest], providers: Providers) -> JSON:
    """The judge of all tests, or the only one that any of them names, becomes the judge of the
    configuration. Return how the file names it; None if there is none that can be mapped."""
    item = tests[0].options.get("provider") or root.at("commandLineOptions", "grader")
    own = [each.options["provider"] for each in tests if "provider" in each.options]
    own += [judge for test in tests for each in test.assertions for judge in each.judges()]
    if item.value is None and own and all(each.value == own[0].value for each in own):
        item = own[0]
    return item.value if item.value is not None and providers.name_judge(item) else None


class _CaseMaker(Struct):
    suite: SuiteDraft
    folder: Folder
    prompts: Sequence[PromptTemplate]
    providers: Providers
    default: PromptfooTest
    judge: JSON
    ids: dict[str, int] = {}

    def make(self, test: PromptfooTest) -> None:
        """Make all cases of a test: one for each prompt and for each combination of values."""
        whole = test.over(self.default)
        made = len(self.suite.cases)
        try:
            if made > MAX_CASES:
                raise ValueError(f"there are over {MAX_CASES:,} cases already")
            if "transformVars" in whole.options:
                raise ValueError("code makes its variables")
            expands = not whole.is_set("disableVarExpansion")
            prompts = self._prompts_for(whole)
            for values in vary_variables(whole.variables, self.folder, expands=expands):
                for prompt in prompts:
                    self._make_case(whole, prompt, Variables(values))
        except ValueError as error:
            del self.suite.cases[made:]
            self.suite.new_case(test.item).drop(test.item, f"this test: {error}")

    def _prompts_for(self, test: PromptfooTest) -> list[PromptTemplate]:
        wanted = test.fields.get("prompts")
        if wanted is None:
            return list(self.prompts)
        names = [str(each.value) for each in wanted.several()]
        found = [each for each in self.prompts if any(map(each.is_meant_by, names))]
        if not found and self.prompts:
            raise ValueError(f"no prompt is called {' or '.join(f'`{name}`' for name in names)}")
        return found

    def _make_case(self, test: PromptfooTest, prompt: PromptTemplate, variables: Variables) -> None:
        case = self.suite.new_case(test.item)
        unset: list[str] = []
        around = _text_of(test.options.get("prefix")), _text_of(test.options.get("suffix"))
        try:
            asked = prompt.fill(variables, around, unset)
            description = variables.render(_text_of(test.fields.get("description")), unset)
        except UnrenderableError as error:
            case.drop(test.item, f"this case, whose prompt has {error}")
            return
        for name in dict.fromkeys(unset):
            what = f"nothing sets the variable `{name}`: it is empty, as it was there"
            case.remarks.append(what)
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
            self._put_user(case, user, asked, variables)
        targets = self.providers.targets_for(test.fields, prompt, case)
        if targets is not None:
            case.fields["targets"] = targets
        self._read_options(case, test)
        self._check(case, test, variables, is_simulated=user is not None)
        unused = [name for name in test.variables if name not in variables.used]
        for name in unused:  # a provider or code may have read it
            case.keep(name, test.variables[name]._replace(value=variables.values[name]))

    def _identify(
        self, description: str, test: PromptfooTest, variables: Variables, prompt: PromptTemplate
    ) -> str:
        """An id from the description, or from the values that only this test has."""
        shared = self.default.variables
        own = [name for name, item in test.variables.items() if shared.get(name) is not item]
        values = (variables.values[name] for name in own or test.variables)
        texts = [javascript_text(each) for each in values if isinstance(each, str | int | float)]
        id = slug_of(description or " ".join(each[:80] for each in texts)) or "case"
        if len(self.prompts) > 1:
            id = f"{id}:{slug_of(prompt.label)}"
        return number_id(id, self.ids)

    def _put_user(
        self, case: CaseDraft, provider: Provider, asked: JSON, variables: Variables
    ) -> None:
        """A simulated user; the prompt is the system message of the agent. Raise ValueError."""
        config = provider.config
        instructions = config.at("instructions").value
        goal = variables.render(
            instructions if isinstance(instructions, str) else "{{instructions}}"
        )
        if not goal.strip():
            raise ValueError("its simulated user has no instructions")
        said = variables.values.get("initialMessages", config.at("initialMessages").value)
        messages = shape_messages(variables.render_all(parse_cell(said))) if said else []
        if messages is None:
            raise ValueError("`initialMessages` has other things than messages in it")
        history, first = split_history(messages)
        most = config.at("maxTurns").value
        turns: JSON = _MAX_TURNS if most is None else most
        case.fields["user"] = self.suite.user(goal, turns, first=first)
        before = shape_messages(asked) or []
        if isinstance(asked, str):
            before = [{"role": "system", "content": asked}]
        case.fields["input"] = [*before, *history]
        known = ("instructions", "maxTurns", "initialMessages")
        case.lose_rest(config, known, " of a simulated user")

    def _read_options(self, case: CaseDraft, test: PromptfooTest) -> None:
        if "repeat" in test.options:
            case.fields["repeat"] = test.options["repeat"].value
        for name, item in test.options.items():
            is_known = name in _USED_OPTIONS or (name == "provider" and item.value == self.judge)
            if self.default.options.get(name) is not item and not is_known:
                case.lose(item, f"`{name}` of the options of a test", at="key")
        for name in ("providerOutput", "assertScoringFunction"):
            if name in test.fields:
                case.lose(test.fields[name], f"`{name}`", at="key")

    def _check(
        self, case: CaseDraft, test: PromptfooTest, variables: Variables, *, is_simulated: bool
    ) -> None:
        threshold = test.fields.get("threshold")
        counts = threshold is not None and isinstance(threshold.value, int | float)
        shared = () if test.is_set("disableDefaultAsserts") else self.default.assertions
        root, embed = project_root(self.suite.folder), self.providers.embeddings
        mapper = Mapper(self.folder, root, embed, self.judge, counts_scores=counts)
        made: list[tuple[Assertion, Grader]] = []
        for assertion in (*shared, *test.assertions):
            try:
                # No grader reads a conversation as one text.
                if is_simulated and assertion.is_beyond(*JUDGED, *TOOL_USE, "latency", "cost"):
                    raise NoCounterpartError(f"`{assertion.name}` of a conversation as one text")
                graders = mapper.map(assertion.render(variables), test.transform)
                made += [(assertion, each) for each in graders]
            except UnrenderableError as error:
                case.lose_grader(assertion.item, f"`{assertion.name}` with {error}")
            except NoCounterpartError as error:
                case.lose_grader(assertion.item, str(error), error.hint)
        self._put(case, made, test.assertions, counts=counts)
        for item, why in mapper.notes:
            case.lose(item, why)
        if threshold is not None and threshold.value != self.suite.fields.get("threshold"):
            case.fields["threshold"] = threshold.value
            case.fields_from["threshold"] = threshold

    def _put(
        self, case: CaseDraft, made: list[tuple[Assertion, Grader]], own: Sequence[Assertion],
        *, counts: bool,
    ) -> None:  # fmt: skip
        """In the shortest form: an expected output, statements of its own as rubrics, graders."""
        texts = [each for _, each in made if _only(each, "equals") is not None]
        is_judged = any(asks_judge(each) for _, each in made)
        for assertion, grader in made:
            statement = _only(grader, "judge") if not counts and assertion in own else None
            if statement is not None:
                case.add_rubric(statement)
            elif texts == [grader] and not is_judged:
                case.fields["expected_output"] = _only(grader, "equals")
            elif counts or grader not in case.graders:
                case.add_grader(grader, assertion.item)


def _only(grader: Grader, name: str) -> str | None:
    """The text of a grader of this type that has nothing but a text."""
    held = grader.get("value")
    return held if isinstance(held, str) and grader == write_grader(name, held) else None


def _text_of(item: Item | None) -> str:
    return "" if item is None or item.value is None else javascript_text(item.value)
