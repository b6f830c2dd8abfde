"""A test of promptfoo, wherever it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evalcase.importing.promptfoo.assertions import Assertion
from evalcase.importing.promptfoo.judging import judges_of, without_judge
from evalcase.importing.source import Item
from evalcase.types.value import JSON


class DraftedTest(NamedTuple):
    """A test, as it is written."""

    item: Item
    variables: Mapping[str, Item]
    assertions: tuple[Assertion, ...]
    fields: Mapping[str, Item]
    """All else that is said of it."""
    options: Mapping[str, Item]
    metadata: Mapping[str, JSON]

    def over(self, default: DraftedTest) -> DraftedTest:
        """The same with what holds for all tests; assertions aside, which are added later."""
        return self._replace(
            variables={**default.variables, **self.variables},
            fields={**default.fields, **self.fields},
            options={**default.options, **self.options},
            metadata={**default.metadata, **self.metadata},
        )

    def judges(self) -> Iterator[Item]:
        """Those who are named to judge it, or something in it."""
        if "provider" in self.options:
            yield self.options["provider"]
        for assertion in self.assertions:
            yield from judges_of(assertion)

    def without_judge(self, judge: JSON) -> DraftedTest:
        """The same, but for what names the one who judges everything."""
        options = {
            name: item
            for name, item in self.options.items()
            if name != "provider" or item.value != judge
        }
        assertions = tuple(without_judge(each, judge) for each in self.assertions)
        return self._replace(options=options, assertions=assertions)


TRANSFORMS = ("transform", "postprocess")


def find_transform(test: DraftedTest) -> Item | None:
    """What makes another text of answers before they are checked, which can't be mapped."""
    return next((test.options[name] for name in TRANSFORMS if name in test.options), None)
