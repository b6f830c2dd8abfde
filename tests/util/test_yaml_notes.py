"""Comments and blank lines in a suite: where they stand, and that they never change its value."""

from textwrap import dedent
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalcase.format.writer import Inline, suite_lines, write_yaml
from tests.util.test_yaml_writer import STRINGS, VALUES, exact, read_yaml


def test_comments_stand_above_their_case_or_at_the_top() -> None:
    value = {"name": "sums", "cases": [{"id": "a", "input": "text\n\n"}, {"id": "b"}]}
    top = ["the whole", "one\r\ntwo\u2028x\x1b[31m\n\n- c: 2"]
    assert "".join(suite_lines(value, {1: ["b"], 2: ["left"]}, top)) == dedent("""\
        # the whole
        # one<U+000D>
        # two<U+2028>x<U+001B>[31m
        #
        # - c: 2

        name: sums

        cases:
          - id: a
            input: |+
              text

          # b
          - id: b
          # left
        """)


def inlined(value: Any) -> Any:
    """The same with every mapping to be written on one line."""
    if isinstance(value, dict):
        return Inline({key: inlined(item) for key, item in value.items()})
    return [*map(inlined, value)] if isinstance(value, list) else value


TEXTS = st.lists(STRINGS, max_size=3)


@given(VALUES, st.lists(VALUES, max_size=3), st.dictionaries(st.integers(0, 3), TEXTS), TEXTS)
def test_comments_and_blank_lines_never_change_the_value(
    metadata: Any, inputs: list[Any], comments: dict[int, list[str]], top: list[str]
) -> None:
    suite = {"metadata": metadata, "cases": [{"input": each} for each in inputs]}
    texts = {"".join(suite_lines(suite, comments, top)): suite}
    texts["".join(write_yaml(inlined(metadata)))] = metadata
    for text, value in texts.items():
        for read in (read_yaml, lambda text: yaml.load(text, yaml.CSafeLoader)):
            assert exact(read(text)) == exact(value), text
