"""A configuration of promptfoo to a suite: what is said of all tests, and then each of them."""

from __future__ import annotations

from evalcase.importing.draft import Chosen, SuiteDraft
from evalcase.importing.promptfoo.cases import CaseMaker
from evalcase.importing.promptfoo.drafted import DraftedTest, find_transform
from evalcase.importing.promptfoo.folder import Folder
from evalcase.importing.promptfoo.judging import asks_judge
from evalcase.importing.promptfoo.mapping import Mapper, to_seconds
from evalcase.importing.promptfoo.prompts import read_prompts
from evalcase.importing.promptfoo.providers import Providers, read_providers
from evalcase.importing.promptfoo.tests import ReaderOfTests
from evalcase.importing.promptfoo.unmapped import NoCounterpartError
from evalcase.importing.source import ForeignFile, Item
from evalcase.types.value import JSON
from evalcase.util.project import project_root

_READ = frozenset({
    "description", "prompts", "providers", "targets", "tests", "defaultTest", "scenarios",
    "evaluateOptions", "commandLineOptions", "metadata", "tags", "$schema", "assertionTemplates",
})  # fmt: skip
_OF_RUNS = frozenset({"outputPath", "sharing", "writeLatestResults"})
_OPTIONS = ("evaluateOptions", "commandLineOptions")


def import_promptfoo(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case for each prompt and test, and a target of each provider."""
    del chosen
    is_config = not source.is_table and isinstance(source.root.value, dict)
    root = source.root if is_config else Item({}, source.documents[0])
    folder = Folder(source.folder)
    reader = ReaderOfTests(root, folder, suite)
    default = reader.read_default()
    _describe_suite(root, default, suite)
    providers = Providers(suite, folder)
    for name in ("providers", "targets"):
        if root.at(name).value is not None:
            providers.add_all(root.at(name))
    prompts = read_prompts(root.at("prompts"), folder, suite)
    tests = list(reader.read_all() if is_config else reader.read_file(source))
    judge = _name_judge(root, default, tests, providers)
    if judge is not None:
        default, *tests = (test.without_judge(judge) for test in (default, *tests))
    maker = CaseMaker(suite, folder, project_root(suite.folder), prompts, providers, default)
    _check_all(maker, default, tests)
    for test in tests:
        maker.make(test)


def _describe_suite(root: Item, default: DraftedTest, suite: SuiteDraft) -> None:
    for name, item in root.fields():
        if name == "description" and isinstance(item.value, str):
            suite.fields[name] = item.value
        elif name in ("tags", "metadata") and isinstance(item.value, dict):
            held = suite.fields.setdefault("metadata", {})
            assert isinstance(held, dict)
            held.update(item.value)
        elif name in _OPTIONS:
            _read_options(item, suite)
        elif name in _OF_RUNS:
            suite.remarks.append(f"left out, as it says nothing about a case: `{name}`")
        elif name not in _READ and item.value is not None:
            suite.lose(item._replace(value=None), f"`{name}`", at="key")
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
            left.append(f"`{name}`")
    if left:
        suite.remarks.append(f"left out, as it says nothing about a case: {', '.join(left)}")


def _name_judge(
    root: Item, default: DraftedTest, tests: list[DraftedTest], providers: Providers
) -> JSON:
    """Who judges, for the configuration: whoever judges all tests; else the only one that any of
    them names. None, if nobody does, or it can't be mapped."""
    item = root.at("commandLineOptions", "grader")
    if "provider" in default.options:
        item = default.options["provider"]
    named = [each for test in (default, *tests) for each in test.judges()]
    if item.value is None and all(each.value == named[0].value for each in named[1:]):
        item = named[0] if named else item
    if item.value is None:
        return None
    said = item.value
    if isinstance(item.value, dict) and isinstance(item.value.get("text"), str | dict):
        item = item.at("text")
    try:
        found = next(read_providers(item, providers.folder), None)
    except ValueError:
        found = None
    name = None if found is None else providers.map(found)
    providers.suite.judge = name
    return None if name is None else said


def _check_all(maker: CaseMaker, default: DraftedTest, tests: list[DraftedTest]) -> None:
    """Graders of what is asserted of all tests, and the same of each."""
    counts = any("threshold" in test.fields for test in (default, *tests))
    mapper = Mapper(maker.folder, maker.root, counts_scores=counts)
    suite = maker.suite
    is_transformed = find_transform(default) is not None
    user = maker.providers.simulated_user(default.fields.get("provider"))
    maker.shares_checks = user is None
    for assertion in default.assertions:
        if assertion.has_tags or not maker.shares_checks:
            continue  # each case has its own
        try:
            if is_transformed and assertion.is_of_output:
                raise NoCounterpartError(f"`{assertion.name}` of what `transform` makes")
            for grader in mapper.map(assertion):
                suite.add_grader(grader, assertion.item)
        except NoCounterpartError as error:
            suite.lose(assertion.item, str(error), error.hint)
            maker.lost_shared = True
    for item, why in mapper.notes:
        suite.lose(item, why)
    maker.has_judges = asks_judge(suite.fields.get("graders"))
    for name, item in default.options.items():
        if name not in ("prefix", "suffix", "repeat", "provider", "disableVarExpansion"):
            suite.lose(item, f"`{name}` of the options of all tests", at="key")
