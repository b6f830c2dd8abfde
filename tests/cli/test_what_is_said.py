"""What a person sees of an answer, whatever its shape, in every place that shows it: it is called
empty only where there was nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest

from evalcase import explain
from tests.report.page.opened import open_page
from tests.run.project import Project
from tests.store.rows import read_results


class Shape(NamedTuple):
    messages: list[dict[str, Any]]
    note: str
    """What is seen of it."""
    fact: str = ""
    """The same where each message is shown with all that it has, if that is other words."""


def said(content: Any, **others: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **others}


CALL = {"tool": "look", "input": {"a": 1}}
SHAPES = {
    "text": Shape([said("a plain word")], "a plain word"),
    "nothing": Shape([said("")], "(empty)"),
    "stopped": Shape([said("", finish_reason="stop")], "(empty)", "(no text)"),
    "white": Shape([said(" \n ")], "(only white space)"),
    "refusal": Shape([said(None, refusal="I can't help")], "but a refusal: I can't help",
                     "I can't help"),
    "white-refusal": Shape([said(" ", refusal="I won't")], "only white space, but a refusal",
                           "I won't"),
    "refused-part": Shape([said([{"type": "refusal", "refusal": "I may not"}])],
                          "[refusal: I may not]"),
    "reasoning": Shape([said("", reasoning_content="hard thoughts")],
                       "but reasoning_content: hard thoughts", "hard thoughts"),
    "cut": Shape([said("", finish_reason="length")], "but finish_reason: length", "length"),
    "before": Shape([said("first thought"), said("")], "but text before it: first thought",
                    "first thought"),
    "only-tool": Shape([{"role": "tool", "content": "its output"}],
                       "but a tool message: its output", "its output"),
    "calls": Shape([said(None, tool_calls=[CALL])], "look(a=1)"),
    "empty-calls": Shape([said("", tool_calls=[CALL])], "look(a=1)"),
    "calls-then": Shape([said(None, tool_calls=[CALL]), {"role": "tool", "content": "x"}, said("")],
                        "look(a=1)"),
    "text-calls": Shape([said("I will look", tool_calls=[CALL])], "I will look"),
    "image": Shape([said([{"type": "image", "path": "cat.png"}])], "[image: cat.png]"),
    "text-image": Shape([said([{"type": "text", "text": "See"},
                               {"type": "image", "path": "cat.png"}])], "See [image: cat.png]"),
    "data": Shape([said({"risk": 0})], '"risk": 0'),
    "zero": Shape([said(0)], "0"),
    "no-items": Shape([said([])], "[]"),
}  # fmt: skip
EMPTY = ("nothing", "stopped")
GRADED: dict[str, dict[str, Any]] = {
    "compared": {"expected_output": "something else"},
    "own": {"graders": ["python:agent:never"]},
    "contains": {"graders": [{"contains": "something else"}]},
}
"""How it is graded: beside what is expected, by a function, by a grader that quotes the answer."""


@pytest.fixture
def done(project: Project, request: pytest.FixtureRequest) -> Project:
    project.add_to_agent(
        f"import json\nSHAPES = json.loads({json.dumps(json.dumps(SHAPES))})\n"
        "def shaped(text):\n    return SHAPES[text][0]\n"
        "def never(answer):\n    return False\n"
    )
    cases = [{"id": name, "input": name, **GRADED[request.param]} for name in SHAPES]
    project.suite(*cases, target="python:agent:shaped")
    return project


def split_blocks(text: str) -> dict[str, str]:
    """The lines of every case, by its id."""
    blocks = re.finditer(r"^failed \S+: (\S+)\n(?:  .*\n)+", text, re.MULTILINE)
    return {found[1]: found[0] for found in blocks}


def see_summary(project: Project) -> dict[str, str]:
    return split_blocks(project.run("run").out)


def see_report(project: Project) -> dict[str, str]:
    project.run("run")
    return split_blocks(project.run("report").out)


def see_case(project: Project) -> dict[str, str]:
    project.run("run")
    told = {name: project.run("report", "--case", name).out for name in SHAPES}
    return {name: text[text.index("failed at") :] for name, text in told.items()}


def see_explained(project: Project) -> dict[str, str]:
    project.run("run")
    journal = str(project.runs()[-1] / "journal.jsonl")
    return {result.key.case: explain(result) for result in read_results(journal)}


def see_markdown(project: Project) -> dict[str, str]:
    project.run("run")
    text = project.run("report", "--format", "markdown").out
    blocks = re.findall(r"<details>.*?</details>", text, re.DOTALL)
    named = ((re.search(r"yaml: (\S+)", block), block) for block in blocks)
    return {found[1]: block for found, block in named if found is not None}


def see_junit(project: Project) -> dict[str, str]:
    project.run("run")
    tree = ET.fromstring(project.run("report", "--format", "junit").out)
    return {
        str(test.get("name")).split(" ")[0]: "".join(test.itertext())
        for test in tree.iter("testcase")
    }


def see_page(project: Project) -> dict[str, str]:
    """What the page is given to show: in the place of a text, its messages and its grades."""
    project.run("run")
    project.run("report", "--format", "html", "-o", "page.html")
    page = open_page((project.path / "page.html").read_bytes())
    return {name: "\n".join(_texts_in(page.detail(name)["trials"])) for name in SHAPES}


def _texts_in(told: Any) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    for each in told.values() if isinstance(told, dict) else told if isinstance(told, list) else ():
        yield from _texts_in(each)


PLACES = [
    see_summary, see_report, see_case, see_explained, see_markdown, see_junit, see_page
]  # fmt: skip


@pytest.mark.parametrize("done", GRADED, indirect=True)
@pytest.mark.parametrize("see", PLACES)
def test_an_answer_is_called_empty_only_where_there_was_nothing(
    done: Project, see: Callable[[Project], dict[str, str]]
) -> None:
    seen = see(done)
    assert seen.keys() == SHAPES.keys()
    wrong = [seen[name] for name in SHAPES if not _is_fair(name, seen[name])]
    assert not wrong, "\n".join(wrong)


def _is_fair(name: str, text: str) -> bool:
    """Whether what there was is shown, in whatever rows; a call may be told by its parts."""
    shape, is_listed = SHAPES[name], text.startswith("failed at ")
    if is_listed and len(shape.messages) > 1:
        # Message by message, one of several may well be empty.
        text = re.sub(r"^ +assistant \(empty\)$", "", text, flags=re.MULTILINE)
    if name not in EMPTY and ("(empty)" in text or "empty text" in text):
        return False
    flat = " ".join(text.split()).replace("&quot;", '"')
    note = shape.fact if is_listed and shape.fact else shape.note
    return note in flat or ("calls" in name and "look" in flat)
