"""A test of promptfoo, wherever it was written."""

from __future__ import annotations

from collections.abc import Mapping

from evalcase.importing.promptfoo.assertions import Assertion
from evalcase.importing.source import Item
from evalcase.model.json_value import JSON
from evalcase.model.quick_tuple import NamedTuple


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
