from __future__ import annotations

from evalcase.types.value import JSON
from evalcase.util.secrets import PERSONAL, Finder, Replacing


def test_a_number_is_looked_at_as_it_is_written() -> None:
    replacing = Replacing([*PERSONAL, Finder("customer", r"\b70[0-9]{4}\b")])
    given: JSON = {"card": 4111111111111111, "of": [701234, 5, 2.5, True, None]}
    assert replacing.data(given) == {"card": "[card 1]", "of": ["[customer 1]", 5, 2.5, True, None]}
    assert replacing.counts == {"card": 1, "customer": 1}
