"""A configuration of promptfoo to a suite: a case for each prompt, test and choice of variables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalcase.config.catalogue import Catalogue
from evalcase.format.document import Findings
from evalcase.format.suite import resolve_suite
from evalcase.importers.draft import (
    CaseDraft,
    Choices,
    NoCounterpartError,
    SuiteDraft,
    asks_judge,
    split_history,
)
from evalcase.importers.javascript import UnrenderableError, Variables, javascript_text, read_path
from evalcase.importers.promptfoo_checks import (
    JUDGED,
    SET,
    TOOL_USE,
    Assertion,
    Mapper,
    to_seconds,
)
from evalcase.importers.promptfoo_providers import Provider, Providers, read_providers
from evalcase.importers.promptfoo_tests import (
    MAX_CASES,
    ConfigReader,
    PromptfooTest,
    PromptTemplate,
    read_prompts,
    vary_variables,
)
from evalcase.importers.rows import shape_input, shape_messages
from evalcase.importers.source import FILE, Folder, ForeignFile, Item
from evalcase.types.value import JSON, copy_value
from evalcase.util.json import parse_json
from evalcase.util.project import project_root

_READ = frozenset({
    "description", "prompts", "providers", "targets", "tests", "defaultTest", "scenarios",
    "evaluateOptions", "commandLineOptions", "metadata", "tags", "$schema", "assertionTemplates",
})  # fmt: skip
_NO_WORD = re.compile(r"[\W_]+")
_MAX_ID = 40
_MAX_TURNS = 10
"""promptfoo's default for the turns of a simulated user."""
_OPTION_HINTS = {
    "runSerially": "how many run at once, --concurrency says",
    "storeOutputAs": "a case can't use the answer of another",
    "provider": "[judge] of the configuration says who judges",
    "rubricPrompt": "evalcase asks a judge in words of its own",
}
_SHARED_OPTIONS = ("prefix", "suffix", "repeat", "provider", "disableVarExpansion")
_TRANSFORMS = ("transform", "postprocess")
_USED_OPTIONS = (
    "prefix", "suffix", "repeat", "disableVarExpansion", "disableDefaultAsserts", *_TRANSFORMS,
)  # fmt: skip


def import_promptfoo(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    del choices
    is_config = not source.is_table and isinstance(source.root.value, dict)
    root = source.root if is_config else Item({}, source.documents[0])
    folder = Folder(source.folder)
    reader = ConfigReader(root, folder, suite)
    default = reader.read_default()
    _describe_suite(root, default, suite)
    providers = Providers(suite, folder)
    for name in ("providers", "targets"):
        if root.at(name).value is not None:
            providers.add_all(root.at(name))
    prompts = read_prompts(root.at("prompts"), folder, suite)
    tests = list(reader.read_all() if is_config else reader.read_file(source))
    if "provider" in default.options:
        embedding = default.options["provider"].at("embedding")
        providers.default_embedding = embedding.at("id").value or embedding.value
    judge = _name_judge(root, default, tests, providers)
    if judge is not None:
        default, *tests = (test.without_judge(judge) for test in (default, *tests))
    maker = _CaseMaker(suite, folder, prompts, providers, default)
    maker.check_all(tests)
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
        if name == "repeat" and option.value != 1:
            suite.fields["repeat"] = option.value
        elif name == "timeoutMs" and isinstance(option.value, int | float) and option.value > 0:
            suite.fields["timeout_s"] = to_seconds(option.value)
        elif name in ("promptPrefix", "promptSuffix", "var", "vars", "prompts", "tests"):
            suite.lose(option, f"`{name}` of the command line", at="key")
        elif name != "grader":
            left.append(name)
    if left:
        suite.remark_left_out(left)


def _name_judge(
    root: Item, default: PromptfooTest, tests: list[PromptfooTest], providers: Providers
) -> JSON:
    """The judge of all tests, or the only one that any of them names, becomes the judge of the
    configuration. Return how the file names it; None if there is none that can be mapped."""
    item = default.options.get("provider") or root.at("commandLineOptions", "grader")
    named = [each for test in (default, *tests) for each in test.judges()]
    if item.value is None and all(each.value == named[0].value for each in named[1:]):
        item = named[0] if named else item
    if item.value is None:
        return None
    text = item.at("text") if isinstance(item.at("text").value, str | dict) else item
    try:
        found = next(read_providers(text, providers.folder), None)
    except ValueError:
        found = None
    providers.suite.judge = None if found is None else providers.map(found)
    return None if providers.suite.judge is None else item.value


class _Mapped(NamedTuple):
    """A grader of an assertion, or the reason why there is none."""

    grader: JSON
    assertion: Assertion
    error: NoCounterpartError | UnrenderableError | None = None

    def lose_in(self, case: CaseDraft) -> None:
        why, hint = str(self.error), getattr(self.error, "hint", None)
        if isinstance(self.error, UnrenderableError):
            why = f"`{self.assertion.name}` with {why}"
        case.lose_grader(self.assertion.item, why, hint)


class _CaseMaker:
    def __init__(
        self, suite: SuiteDraft, folder: Folder, prompts: Sequence[PromptTemplate],
        providers: Providers, default: PromptfooTest,
    ) -> None:  # fmt: skip
        self.suite = suite
        self.folder = folder
        self.root = project_root(suite.folder)
        self.prompts = prompts
        self.providers = providers
        self.default = default
        self.has_judge = False
        """Whether a judge of the suite replaces the expected output."""
        self.shares_graders = providers.simulated_user(default.fields.get("provider")) is None
        """Whether assertions of all tests are graders of the suite, if they have no variables."""
        self.lost_shared = False
        """Whether an assertion of all tests could not be imported."""
        self._ids: dict[str, int] = {}

    def check_all(self, tests: list[PromptfooTest]) -> None:
        """Make graders of the suite from the assertions of all tests."""
        suite, default = self.suite, self.default
        counts = any("threshold" in test.fields for test in (default, *tests))
        mapper = Mapper(self.folder, self.root, self.providers.embeddings, counts_scores=counts)
        for assertion in default.assertions if self.shares_graders else ():
            if assertion.has_tags:
                continue  # each case has its own
            try:
                for grader in mapper.map(assertion, default.transform):
                    suite.add_grader(grader, assertion.item)
            except NoCounterpartError as error:
                suite.lose(assertion.item, str(error), error.hint)
                self.lost_shared = True
        for item, why in mapper.notes:
            suite.lose(item, why)
        self.has_judge = asks_judge(suite.fields.get("graders"))
        for name, item in default.options.items():
            is_path = name in _TRANSFORMS and read_path(str(item.value)) is not None
            if name not in _SHARED_OPTIONS and not is_path:
                suite.lose(item, f"`{name}` of the options of all tests", at="key")

    def make(self, test: PromptfooTest) -> None:
        """Make all cases of a test."""
        whole = test.over(self.default)
        made = len(self.suite.cases)
        try:
            if made > MAX_CASES:
                raise ValueError(f"there are over {MAX_CASES:,} cases already")
            if "transformVars" in whole.options:
                raise ValueError("code makes its variables")
            expands = not whole.is_set("disableVarExpansion")
            prompts, ways = self._prompts_for(whole), 0
            for values in vary_variables(whole.variables, self.folder, expands=expands):
                ways += 1
                for prompt in prompts:
                    self._make_case(whole, prompt, Variables(values))
            if ways > 1 and prompts:
                self._fold(whole, prompts, values, made)
        except ValueError as error:
            del self.suite.cases[made:]
            self.suite.new_case(test.item).drop(test.item, f"this test: {error}")

    def _fold(
        self, test: PromptfooTest, prompts: Sequence[PromptTemplate], values: dict[str, JSON],
        made: int,
    ) -> None:  # fmt: skip
        """Replace the cases of all combinations by one case with a `matrix` for each prompt, if
        that means the same. `values` are those of the last combination."""
        written = self.suite.cases[made:]
        matrix: dict[str, JSON] = {
            name: item.value
            for name, item in test.variables.items()
            if isinstance(item.value, list) and values.get(name) != item.value
        }
        ids = [str(case.fields["id"]) for case in written if "id" in case.fields]
        for id in ids:
            self._ids.pop(id, None)
        for number, prompt in enumerate(prompts):
            self._make_case(test, prompt, _KeptTags(values, matrix))
            draft = self.suite.cases[-1]
            fields, draft.fields = draft.fields, {}
            for name, value in fields.items():  # the matrix stands before the input
                draft.fields |= (
                    {"matrix": matrix, name: value} if name == "input" else {name: value}
                )
            if not _means_the_same(draft, written[number :: len(prompts)]):
                del self.suite.cases[made + len(written) :]
                self._ids.update(dict.fromkeys(ids, 1))
                return
        del self.suite.cases[made : made + len(written)]

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
            case.remarks.append((what, "input"))
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
        named = description or " ".join(each[: _MAX_ID * 2] for each in texts)
        id = _slug(named[: _MAX_ID * 4]) or "case"
        if len(self.prompts) > 1:
            id = f"{id}:{_NO_WORD.sub('-', prompt.label.lower()).strip('-')[:_MAX_ID]}"
        numbered = id
        while numbered in self._ids:
            self._ids[id] += 1
            numbered = f"{id}-{self._ids[id]}"
        self._ids[numbered] = 1
        return numbered

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
        if isinstance(said, str) and said.startswith(FILE):
            said = self.folder.value(said)
        if isinstance(said, str) and said.strip():
            said = parse_json(said)
        messages = shape_messages(variables.render_all(said)) if said else []
        if messages is None:
            raise ValueError("`initialMessages` has other things than messages in it")
        history, first = split_history(messages)
        most = config.at("maxTurns").value
        case.fields["user"] = self.suite.user(
            goal, _MAX_TURNS if most is None else most, first=first
        )
        system: list[JSON] = (
            [{"role": "system", "content": asked}] if isinstance(asked, str) else []
        )
        case.fields["input"] = [*(shape_messages(asked) or system), *history]
        for name, item in config.fields():
            if name not in ("instructions", "maxTurns", "initialMessages") and item.value:
                case.lose(item, f"`{name}` of a simulated user", at="key")

    def _read_options(self, case: CaseDraft, test: PromptfooTest) -> None:
        if "repeat" in test.options:
            case.fields["repeat"] = test.options["repeat"].value
        for name, item in test.options.items():
            if self.default.options.get(name) is not item and name not in _USED_OPTIONS:
                hint = _OPTION_HINTS.get(name)
                case.lose(item, f"`{name}` of the options of a test", hint, at="key")
        for name in ("providerOutput", "assertScoringFunction"):
            if name in test.fields:
                case.lose(test.fields[name], f"`{name}`", at="key")

    def _check(
        self, case: CaseDraft, test: PromptfooTest, variables: Variables, *, is_simulated: bool
    ) -> None:
        """Graders of the assertions of a test."""
        threshold = test.fields["threshold"].value if "threshold" in test.fields else None
        counts = isinstance(threshold, int | float)
        leaves_shared = test.is_set("disableDefaultAsserts")
        # Shared graders read the answer as it is: a test that changes it has graders of its own.
        is_changed = is_simulated or test.transform != self.default.transform
        takes_all = is_changed or not self.shares_graders
        shared = [] if leaves_shared else [
            each for each in self.default.assertions if takes_all or each.has_tags
        ]  # fmt: skip
        mapper = Mapper(self.folder, self.root, self.providers.embeddings, counts_scores=counts)
        made: list[_Mapped] = []
        for assertion in (*shared, *test.assertions):
            try:
                if is_simulated and _reads_transcript(assertion):
                    raise NoCounterpartError(f"`{assertion.name}` of a conversation as one text")
                rendered = assertion.render(variables)
                graders = mapper.map(rendered, test.transform)
                made += [_Mapped(each, assertion) for each in graders]
            except (NoCounterpartError, UnrenderableError) as error:
                made.append(_Mapped(None, assertion, error))
        self._put(case, made, counts=counts)
        if (leaves_shared or is_changed) and "graders" in self.suite.fields:
            case.fields["suite_graders"] = False
        for item, why in mapper.notes:
            case.lose_grader(item, why)
        if threshold is not None:
            lost = self.lost_shared or any(each.error is not None for each in made)
            self._count(case, test.fields["threshold"], lost=lost)

    def _put(self, case: CaseDraft, made: list[_Mapped], *, counts: bool) -> None:
        """In the shortest form: an expected output, statements as rubrics, graders."""
        texts = [each for each in made if _only(each.grader, "equals") is not None]
        is_judged = self.has_judge or any(asks_judge(each.grader) for each in made)
        for each in made:
            statement = None if counts else _only(each.grader, "judge")
            if each.error is not None:
                each.lose_in(case)
            elif statement is not None:
                case.add_rubric(statement)
            elif texts == [each] and not is_judged:
                case.fields["expected_output"] = _only(each.grader, "equals")
            elif counts or each.grader not in case.graders:
                case.add_grader(each.grader, each.assertion.item)

    def _count(self, case: CaseDraft, threshold: Item, *, lost: bool) -> None:
        """A weighted mean decides, if all that it counts is there."""
        shared = self.suite.fields.get("threshold")
        if not isinstance(threshold.value, int | float):
            case.lose(threshold, "`threshold`, which is not a number")
        elif lost:
            case.require_all(threshold)
            if shared is None:
                del case.fields["threshold"]  # all graders must pass anyway
        elif threshold.value != shared:
            case.fields["threshold"] = threshold.value
            case.fields_from["threshold"] = threshold


class _KeptTags(Variables):
    """Variables for a matrix: some of them stay tags."""

    def __init__(self, values: Mapping[str, JSON], kept: Mapping[str, JSON]) -> None:
        super().__init__({**values, **{name: name for name in kept}})
        self._kept = frozenset(kept)

    def _text(self, path: str, unset: list[str] | None, depth: int) -> str:
        if path not in self._kept:
            return super()._text(path, unset, depth)
        self.used.add(path)
        return f"{{{{{path}}}}}"


def _means_the_same(draft: CaseDraft, written: Sequence[CaseDraft]) -> bool:
    """Whether a case with a matrix makes exactly the cases that are written out."""
    if any(case.lost or case.is_dropped for case in (draft, *written)):
        return False
    made, out = _resolve([draft]), _resolve(written)
    return made is not None and made == out


def _resolve(drafts: Sequence[CaseDraft]) -> list[dict[str, JSON]] | None:
    """The meaning of cases; None if one of them has a problem."""
    findings = Findings(Catalogue(needs_graders=True))
    value: JSON = {"cases": [copy_value(draft.fields) for draft in drafts]}
    _, cases, _ = resolve_suite(value, "imported", findings)
    if findings.errors or any("variable" in each.code for each in findings.found):
        return None
    return [
        {name: value for name, value in case.to_dict().items()
         if name not in ("id", "vars", "rendered")}
        for case in cases if case is not None
    ]  # fmt: skip


def _reads_transcript(assertion: Assertion) -> bool:
    """Whether it reads a conversation as one text, which no grader does."""
    if assertion.type == SET:
        return any(map(_reads_transcript, assertion.inner))
    return assertion.type not in (*JUDGED, *TOOL_USE, "latency", "cost")


def _only(grader: JSON, name: str) -> str | None:
    """The text of a grader that has this name and nothing but a text."""
    held = grader.get(name) if isinstance(grader, dict) and len(grader) == 1 else None
    return held if isinstance(held, str) else None


def _slug(text: str) -> str:
    return _NO_WORD.sub("-", text.lower()).strip("-")[:_MAX_ID].strip("-")


def _text_of(item: Item | None) -> str:
    return "" if item is None or item.value is None else javascript_text(item.value)
