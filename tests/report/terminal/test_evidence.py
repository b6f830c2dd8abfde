"""Which line of a traceback a person is shown: the last that is their own."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.report.terminal.evidence import evidence_lines
from evalcase.report.terminal.style import PLAIN
from tests.for_each import for_each

OWN = ('  File "/p/evalcase/targets/agent.py", line 3, in asks', "    await context.ask('j', 'x')")
OURS = ('  File "/c/src/evalcase/model/grader.py", line 132, in _message_of', "    raise TypeError")
INSTALLED = ('  File "/v/lib/python3.11/site-packages/evalcase/model/grader.py", line 132, in f',)
PYTHON = ('  File "/usr/lib/python3.11/json/decoder.py", line 337, in decode',)
BUILT_IN = ('  File "<string>", line 1, in <module>',)


def place_in(*frames: Sequence[str]) -> list[str]:
    trace = ["Traceback (most recent call last):", *[line for each in frames for line in each]]
    return list(evidence_lines({"traceback": [*trace, "TypeError: no"]}, PLAIN, 100))


@for_each("beneath", [OURS, INSTALLED, PYTHON, BUILT_IN])
def test_the_last_line_of_ones_own_is_shown(beneath: Sequence[str]) -> None:
    shown = ["/p/evalcase/targets/agent.py:3, in asks", "    await context.ask('j', 'x')"]
    assert place_in(OURS, OWN, beneath) == shown


def test_where_none_is_the_last_of_all_is() -> None:
    assert place_in(INSTALLED, PYTHON) == ["/usr/lib/python3.11/json/decoder.py:337, in decode"]
    assert place_in() == []


def test_a_place_is_whole_however_long_its_path_is() -> None:
    path = f"/shared/{'agents/' * 20}agent.py"
    assert place_in((f'  File "{path}", line 3, in asks',)) == [f"{path}:3, in asks"]
