"""How the work of `check`, `show` and `migrate` grows with what they are given, shape by shape.

A shape is a way to write a file of any size: all well, or wrong in every place in the same way.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.figures import Figure
from evalcase.config.catalogue import Catalogue
from evalcase.format.load import load_text
from evalcase.format.migrate import migrate_bytes
from evalcase.format.positions import Format
from evalcase.format.writer import write_yaml
from evalcase.report.json import json_line
from evalcase.report.problems import Checked, as_text

SIZES = (1_500, 6_000)
ROUNDS = 2
BAR = 1.5
"""How much more than its share the larger file may cost: sorting, caches and noise."""


class Shape(NamedTuple):
    """A file as the text before, between and after what it has many of."""

    format: Format
    item: str
    """`%d` in it is the number of the item; a second one, too."""
    before: str = ""
    after: str = ""

    def text(self, count: int) -> str:
        items = (self.item.replace("%d", str(number)) for number in range(count))
        return self.before + "".join(items) + self.after.replace("%d", str(count))


_CASE = "input: q\nexpected_output: x\n"
_CONTENT = "expected_output: x\ninput:\n- role: user\n  content:\n"
SHAPES: dict[str, Shape] = {
    "cases": Shape("yaml", "- {id: c%d, input: q, expected_output: x}\n"),
    "cases without ids": Shape("yaml", "- {input: q%d}\n"),
    "the same case again": Shape("yaml", "- {input: q}\n"),
    "block text": Shape("yaml", "- input: |\n    a\n    b\n\n"),
    "old names": Shape("yaml", "- {id: c%d, input_messages: q, expected_messages: x}\n"),
    "old names beside new ones": Shape("yaml", "- {input: q, input_messages: q}\n"),
    "old names in anchors, used as data": Shape(
        "yaml", "- &c%d {input_messages: q}\n- {input: q, metadata: *c%d}\n"
    ),
    "old names in merges": Shape("yaml", "- &c%d {input_messages: q}\n- {<<: *c%d, id: i%d}\n"),
    "aliases": Shape("yaml", "  - *a\n", "x-a: &a {b: [1]}\n" + _CASE + "metadata:\n  list:\n"),
    "one id": Shape("yaml", "- {id: a, input: q}\n"),
    "unknown fields": Shape("yaml", "- {id: c%d, imput: q}\n"),
    "unknown fields in one case": Shape("yaml", "field_%d: 1\n", _CASE),
    "texts where messages belong": Shape("yaml", "- text\n", "expected_output: x\ninput:\n"),
    "texts beside a message": Shape(
        "yaml", "- text\n", "input: q\nexpected_output:\n", "- {role: user, content: x}\n"
    ),
    "unknown roles": Shape("yaml", "- {role: r%d, content: x}\n", "expected_output: x\ninput:\n"),
    "odd parts": Shape("yaml", "  - {type: text}\n", _CONTENT),
    "tags that are numbers": Shape("yaml", "- %d\n", _CASE + "tags:\n"),
    "wrong graders": Shape("yaml", "- {name: a, value: %d}\n", "input: q\ngraders:\n"),
    "unknown graders": Shape("yaml", "- g%d\n", "input: q\ngraders:\n"),
    "graders under other names": Shape(
        "yaml", "- {input: q%d, assert: [{type: icontains, value: x}, is-json]}\n"
    ),
    "graders under other names, in one case": Shape(
        "yaml", "- type: icontains-any\n  value: [x%d]\n", "input: q\ngraders:\n"
    ),
    "rubrics": Shape("yaml", "- {id: r%d, text: a}\n", "input: q\nrubrics:\n"),
    "wrong rubrics": Shape("yaml", "- {txt: %d}\n", "input: q\nrubrics:\n"),
    "one key again": Shape("yaml", "a: 1\n", _CASE),
    "missing files": Shape("yaml", "  - {type: file, path: f%d}\n", _CONTENT),
    "JSON lines": Shape("jsonl", '{"id": "c%d", "input": "q", "expected_output": "x"}\n'),
    "JSON lines with old names": Shape("jsonl", '{"input_messages": "q", "outcome": "x"}\n'),
    "JSON lines with unknown fields": Shape("jsonl", '{"input": "q", "field_%d": "x"}\n'),
    "JSON lines with one id": Shape("jsonl", '{"id": "a", "input": "q"}\n'),
    "JSON lines that are broken": Shape("jsonl", '{"input": "q",}\n'),
    "one JSON line": Shape("json", '{"input": "q%d", "imput": "x"},', "[", '{"input": "q"}]'),
    "JSON, one key again": Shape("json", '"a": 1,\n', "{", '"input": "q"}'),
}  # fmt: skip


def check(text: str, format: Format) -> None:
    """What `evalcase check` does with a file that was read."""
    found = load_text(text, format, Catalogue())
    for _ in as_text([found.problems], Checked(1, found.cases)):
        pass


def show(text: str, format: Format) -> None:
    """What `evalcase show` does."""
    suite = load_text(text, format, Catalogue()).suite
    if suite is not None:
        for case in suite:
            json_line(case.to_dict())
        for _ in write_yaml(suite.to_dict()):
            pass


def migrate(text: str, format: Format) -> None:
    """What `evalcase migrate` does, but for the writing."""
    migrate_bytes(text.encode(), format, f"growth.{format}", Catalogue())


Command = Callable[[str, Format], None]
COMMANDS: dict[str, Command] = {"check": check, "show": show, "migrate": migrate}


def growth_figures(_: Path) -> Iterator[Figure]:
    """For each command the shape with which its work grows most, beside growth with its input."""
    for name, command in COMMANDS.items():
        grown = {shape: _growth(command, each) for shape, each in SHAPES.items()}
        worst = max(grown, key=lambda shape: grown[shape])
        label = f"`{name}`: growth ÷ that of its input, the worst of {len(SHAPES)} shapes"
        yield Figure(label, grown[worst], "×", BAR, worst)


def _growth(command: Command, shape: Shape) -> float:
    texts = [shape.text(count) for count in SIZES]
    small, large = (min(_cpu(command, text, shape.format) for _ in range(ROUNDS)) for text in texts)
    return (large / small) / (len(texts[1]) / len(texts[0]))


def _cpu(command: Command, text: str, format: Format) -> float:
    gc.collect()
    start = time.process_time()
    command(text, format)
    return time.process_time() - start
